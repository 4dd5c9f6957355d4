"""KLUE-DP: each word's head, and its relation to it.

A sentence has ``heads``, the 1-based place of each word's head (0 for the root), and for the
labelled scores ``deprels``, each word's label. Words of all sentences are pooled; none is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kobert_kit.tasks.metrics.checks import check_labels, check_pairs, field, label_ids
from kobert_kit.tasks.metrics.counting import f1_by_class, mean_of_present

Sentence = Mapping[str, Any]

FIRST_OTHER = 15  # the labels from this place in the official order on are one class


def klue_dp_uas_micro_f1(gold: Sequence[Sentence], pred: Sequence[Sentence]) -> float:
    """Share of words with the right head, 0 to 100: the usual UAS (KLUE, section 3.6).

    Raises:
        ValueError: nothing to score, a sentence or a word too few or too many, a head that is not
            a whole number of at least 0.
    """
    heads = _heads(gold, pred)
    return 100.0 * float(np.mean(heads[0] == heads[1]))


def klue_dp_uas_macro_f1(gold: Sequence[Sentence], pred: Sequence[Sentence]) -> float:
    """Mean F1 over the places that are a head in ``gold`` or ``pred``, 0 to 100.

    The official quirk (KLUE, section 3.6): the place is a class. Place 3 of one sentence and place
    3 of another are the same one, and a rare high place weighs as much as a frequent low one.

    Raises:
        ValueError: as ``klue_dp_uas_micro_f1``.
    """
    heads = _heads(gold, pred)
    present, ids = np.unique(np.stack(heads), return_inverse=True)
    ids = ids.reshape(2, -1)
    return mean_of_present(f1_by_class(ids[0], ids[1], len(present)))


def klue_dp_las_micro_f1(
    gold: Sequence[Sentence], pred: Sequence[Sentence], label_order: Sequence[str]
) -> float:
    """Share of words with the right head and label, 0 to 100 (KLUE, section 3.6).

    The official quirk: the labels from place 15 of ``label_order`` on are one class, so that
    confusing them is no error.

    Raises:
        ValueError: nothing to score, a sentence, word or label too few or too many, a head that is
            not a whole number of at least 0, a label not in ``label_order``.
    """
    gold_classes, pred_classes = _official_classes(gold, pred, label_order)
    return 100.0 * float(np.mean(gold_classes == pred_classes))


def klue_dp_las_macro_f1(
    gold: Sequence[Sentence], pred: Sequence[Sentence], label_order: Sequence[str]
) -> float:
    """Mean F1 over the labels in ``gold`` or ``pred``, 0 to 100 (KLUE, section 3.6).

    The official quirks: the labels from place 15 of ``label_order`` on are one class; what is
    predicted on a wrong head becomes a class of its own, whose F1 of 0 is averaged too, so that
    one wrong head among all labels leaves at most 94.1.

    Raises:
        ValueError: as ``klue_dp_las_micro_f1``.
    """
    return mean_of_present(_official_f1(gold, pred, label_order))


def dp_las_macro_f1_without_wrong_head(
    gold: Sequence[Sentence], pred: Sequence[Sentence], label_order: Sequence[str]
) -> float:
    """Conventional: the same mean without the class of wrong heads, 0 to 100.

    A wrong head still costs its gold label. Rare labels are merged as in the official one.

    Raises:
        ValueError: as ``klue_dp_las_micro_f1``.
    """
    return mean_of_present(_official_f1(gold, pred, label_order)[:-1])


def dp_las(
    gold: Sequence[Sentence], pred: Sequence[Sentence], label_order: Sequence[str] | None = None
) -> float:
    """Conventional: share of words with the right head and the very label, 0 to 100.

    Raises:
        ValueError: as ``klue_dp_las_micro_f1``.
    """
    heads = _heads(gold, pred)
    labels = [_pooled(side, "deprels") for side in (gold, pred)]
    check_labels({*labels[0], *labels[1]}, label_order)
    same = np.array([g == p for g, p in zip(*labels, strict=True)])
    return 100.0 * float(np.mean(same & (heads[0] == heads[1])))


def _official_f1(
    gold: Sequence[Sentence], pred: Sequence[Sentence], label_order: Sequence[str]
) -> NDArray[np.float64]:
    """F1 of each official class, that of wrong heads last."""
    return f1_by_class(*_official_classes(gold, pred, label_order), FIRST_OTHER + 2)


def _official_classes(
    gold: Sequence[Sentence], pred: Sequence[Sentence], label_order: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels by place, rare ones merged, and one class more where the predicted head is wrong."""
    heads = _heads(gold, pred)
    gold_ids, pred_ids = (
        np.minimum(label_ids(_pooled(side, "deprels"), label_order), FIRST_OTHER)
        for side in (gold, pred)
    )
    return gold_ids, np.where(heads[0] == heads[1], pred_ids, FIRST_OTHER + 1)


def _heads(
    gold: Sequence[Sentence], pred: Sequence[Sentence]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The heads of all words, of gold and predicted."""
    check_pairs(gold, pred)
    for number, (sentence, parse) in enumerate(zip(gold, pred, strict=True)):
        words, found = (len(field(s, "heads", f"sentence {number}")) for s in (sentence, parse))
        if words != found:
            raise ValueError(f"sentence {number}: {words} words, but {found} predicted heads")
    gold_heads, pred_heads = (np.array(_pooled(side, "heads")) for side in (gold, pred))
    check_pairs(gold_heads, pred_heads)
    for heads in (gold_heads, pred_heads):
        if heads.dtype.kind not in "iu" or heads.min() < 0:
            raise ValueError("a head is not a whole number of at least 0")
    return gold_heads.astype(np.int64), pred_heads.astype(np.int64)


def _pooled(sentences: Sequence[Sentence], name: str) -> list[Any]:
    """A field of all words; every sentence has one value a head."""
    pooled: list[Any] = []
    for number, sentence in enumerate(sentences):
        values = field(sentence, name, f"sentence {number}")
        if len(values) != len(sentence["heads"]):
            raise ValueError(
                f"sentence {number}: {len(sentence['heads'])} heads, but {len(values)} {name}"
            )
        pooled += values
    return pooled
