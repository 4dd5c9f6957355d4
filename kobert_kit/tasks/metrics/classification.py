"""One label a text: YNAT's topics, KLUE-NLI's judgements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kobert_kit.tasks.metrics.checks import check_labels, check_pairs, label_ids
from kobert_kit.tasks.metrics.counting import f1_by_class, mean_of_all, mean_of_present


def ynat_macro_f1(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str] | None = None
) -> float:
    """Mean F1 over the topics that occur in ``gold`` or ``pred``, 0 to 100 (KLUE, section 3.1).

    A topic that occurs on neither side is not averaged at all: that is the official quirk.

    Raises:
        ValueError: nothing to score, lists of unequal length, a topic not in ``label_order``.
    """
    check_pairs(gold, pred)
    topics = sorted({*gold, *pred}) if label_order is None else label_order
    ids = label_ids(gold, topics), label_ids(pred, topics)
    return mean_of_present(f1_by_class(*ids, len(topics)))


def ynat_macro_f1_all_7(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str]
) -> float:
    """Conventional: mean F1 over every topic in ``label_order``, 0 for one that never occurs.

    Raises:
        ValueError: nothing to score, lists of unequal length, a topic not in ``label_order``.
    """
    check_pairs(gold, pred)
    ids = label_ids(gold, label_order), label_ids(pred, label_order)
    return mean_of_all(f1_by_class(*ids, len(label_order)), absent=0.0)


def klue_nli_acc(
    gold: Sequence[str], pred: Sequence[str], label_order: Sequence[str] | None = None
) -> float:
    """Share of equal pairs, 0 to 100; the order of the labels does not matter to it.

    Raises:
        ValueError: nothing to score, lists of unequal length, a label not in ``label_order``.
    """
    check_pairs(gold, pred)
    check_labels({*gold, *pred}, label_order)
    return 100.0 * sum(g == p for g, p in zip(gold, pred, strict=True)) / len(gold)


def confusion_matrix(
    gold: Sequence[str], pred: Sequence[str], labels: Sequence[str]
) -> list[list[int]]:
    """Counts [gold][pred], both in the order of ``labels``.

    Raises:
        ValueError: nothing to score, lists of unequal length, a label not in ``labels``.
    """
    check_pairs(gold, pred)
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (label_ids(gold, labels), label_ids(pred, labels)), 1)
    rows: list[list[int]] = counts.tolist()
    return rows
