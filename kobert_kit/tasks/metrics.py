"""KLUE's metrics on plain values, times 100.

Functions named as the official baseline's metrics (KLUE-baseline, commit 8a03c94) reproduce them,
quirks included; a conventional metric stands beside its official one where the two differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

STS_THRESHOLD = 3.0


def ynat_macro_f1(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str] | None = None
) -> float:
    """Mean F1 over the topics that occur in ``gold`` or ``pred`` (KLUE, section 3.1).

    A topic that occurs on neither side is not averaged at all: that is the official quirk.

    Raises:
        ValueError: nothing to score, lists of unequal length, a topic not in ``label_order``.
    """
    _check_pairs(gold, pred)
    present = sorted(set(gold) | set(pred))
    if label_order is not None and not set(present) <= set(label_order):
        raise ValueError(f"not in label_order: {sorted(set(present) - set(label_order))}")
    return 100.0 * float(np.mean([_f1(gold, pred, label) for label in present]))


def ynat_macro_f1_all_7(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str]
) -> float:
    """Conventional: mean F1 over every topic in ``label_order``, 0 for one that never occurs."""
    _check_pairs(gold, pred)
    return 100.0 * float(np.mean([_f1(gold, pred, label) for label in label_order]))


def klue_nli_acc(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str] | None = None
) -> float:
    """Share of equal pairs; the order of the labels does not matter to it.

    Raises:
        ValueError: nothing to score, lists of unequal length, a label not in ``label_order``.
    """
    _check_pairs(gold, pred)
    if label_order is not None and not {*gold, *pred} <= set(label_order):
        raise ValueError(f"not in label_order: {sorted({*gold, *pred} - set(label_order))}")
    return 100.0 * sum(g == p for g, p in zip(gold, pred, strict=True)) / len(gold)


def klue_sts_pearsonr(gold: Sequence[float], pred: Sequence[float]) -> float:
    """Pearson correlation of the unrounded means (0 to 5) with raw outputs.

    NaN where either side is constant.

    Raises:
        ValueError: fewer than two pairs, or lists of unequal length.
    """
    _check_pairs(gold, pred)
    if len(gold) < 2:
        raise ValueError("a correlation needs at least two pairs")
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(pred, dtype=np.float64)
    if (x == x[0]).all() or (y == y[0]).all():
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return 100.0 * float(np.dot(x / np.linalg.norm(x), y / np.linalg.norm(y)))


def klue_sts_f1(gold: Sequence[float], pred: Sequence[float]) -> float:
    """F1 of "similar": values of at least 3 on either side; 0 where there is none.

    Raises:
        ValueError: nothing to score, or lists of unequal length.
    """
    _check_pairs(gold, pred)
    similar_gold, similar_pred = (
        [value >= STS_THRESHOLD for value in side] for side in (gold, pred)
    )
    return 100.0 * _f1(similar_gold, similar_pred, True)


def confusion_matrix(
    gold: Sequence[str], pred: Sequence[str], labels: Sequence[str]
) -> list[list[int]]:
    """Counts [gold][pred], both in the order of ``labels``."""
    place = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, ([place[g] for g in gold], [place[p] for p in pred]), 1)
    rows: list[list[int]] = counts.tolist()
    return rows


def _f1(gold: Sequence[object], pred: Sequence[object], label: object) -> float:
    """F1 of one class, in [0, 1]; 0 where it occurs on neither side."""
    is_gold = np.array([value == label for value in gold], dtype=bool)
    is_pred = np.array([value == label for value in pred], dtype=bool)
    total = int(is_gold.sum() + is_pred.sum())
    return 2.0 * int((is_gold & is_pred).sum()) / total if total else 0.0


def _check_pairs(gold: Sequence[object], pred: Sequence[object]) -> None:
    if len(gold) != len(pred):
        raise ValueError(f"{len(gold)} gold values, but {len(pred)} predictions")
    if not len(gold):
        raise ValueError("nothing to score")
