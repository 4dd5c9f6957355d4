"""KLUE-RE: the relation of two entities, one of 30 with "no_relation"."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kobert_kit.tasks.metrics.checks import check_labels, check_pairs, label_ids
from kobert_kit.tasks.metrics.curves import average_precision, precision_recall, trapezoid_area

NO_RELATION = "no_relation"


def klue_re_micro_f1(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str] | None = None
) -> float:
    """Micro F1 over the relations without ``no_relation``, 0 to 100 (KLUE, section 3.5).

    The usual one of relation extraction (TACRED: Zhang et al., 2017): a wrong relation is a false
    positive and, where gold has one, a false negative. 0 where neither side has any.

    Raises:
        ValueError: nothing to score, lists of unequal length, a relation not in ``label_order``.
    """
    check_pairs(gold, pred)
    check_labels({*gold, *pred}, label_order)
    total = sum(label != NO_RELATION for side in (gold, pred) for label in side)
    right = sum(g == p != NO_RELATION for g, p in zip(gold, pred, strict=True))
    return 200.0 * right / total if total else 0.0


def re_accuracy(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str] | None = None
) -> float:
    """Share of equal pairs, ``no_relation`` among them, 0 to 100: lifted by its being frequent.

    Raises:
        ValueError: as ``klue_re_micro_f1``.
    """
    check_pairs(gold, pred)
    check_labels({*gold, *pred}, label_order)
    return 100.0 * sum(g == p for g, p in zip(gold, pred, strict=True)) / len(gold)


def klue_re_auprc(
    gold: Sequence[str], pred: Sequence[Sequence[float]], label_order: Sequence[str]
) -> float:
    """Mean area under the precision-recall curves of all relations, 0 to 100 (KLUE, section 3.5).

    ``pred`` has a row of probabilities, in ``label_order``, for each example. The official quirks:
    straight lines from (recall 0, precision 1), so that a constant output has about 50;
    ``no_relation`` counts like any other; a relation that gold never has adds 50.

    Raises:
        ValueError: nothing to score, lists of unequal length, a relation not in ``label_order``, a
            row that is not as long as it, a probability that is no finite number.
    """
    ids, scores = _ranked(gold, pred, label_order)
    areas = [
        trapezoid_area(precision_recall(ids == number, scores[:, number]))
        for number in range(len(label_order))
    ]
    return 100.0 * float(np.mean(areas))


def re_mean_average_precision(
    gold: Sequence[str], pred: Sequence[Sequence[float]], label_order: Sequence[str]
) -> float:
    """Conventional: mean average precision over gold's relations without ``no_relation``.

    0 to 100; NaN where gold has only ``no_relation``.

    Raises:
        ValueError: as ``klue_re_auprc``.
    """
    ids, scores = _ranked(gold, pred, label_order)
    values = [
        average_precision(precision_recall(ids == number, scores[:, number]))
        for number in np.unique(ids)
        if label_order[number] != NO_RELATION
    ]
    return 100.0 * float(np.mean(values)) if values else math.nan


def _ranked(
    gold: Sequence[str], pred: Sequence[Sequence[float]], label_order: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Gold as places in ``label_order``, and the matrix of probabilities."""
    check_pairs(gold, pred)
    for number, row in enumerate(pred):
        if len(row) != len(label_order):
            raise ValueError(
                f"example {number}: {len(row)} probabilities, but {len(label_order)} labels"
            )
    scores = np.asarray(pred, dtype=np.float64)
    if not (finite := np.isfinite(scores).all(axis=1)).all():
        raise ValueError(f"example {int(finite.argmin())}: a probability is not a finite number")
    return label_ids(gold, label_order), scores
