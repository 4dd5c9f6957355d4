"""KLUE-NER: B-, I- and O tags, one a character.

``gold`` has for each sentence its ``chars`` and their ``tags``, spaces included; ``pred`` has for
each sentence the tags of its characters from the first on, fewer where the input was truncated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from kobert_kit.tasks.metrics.checks import check_labels, check_pairs, field, label_ids
from kobert_kit.tasks.metrics.counting import (
    f1_by_class,
    f1_of_counts,
    mean_of_all,
    mean_of_present,
)

Sentence = Mapping[str, Any]
Tags = Sequence[str]
Entity = tuple[int, int, str]

OUTSIDE = "O"
SPACE = " "  # only U+0020 counts as one: no-break and ideographic spaces keep their tags


def klue_ner_entity_macro_f1(
    gold: Sequence[Sentence], pred: Sequence[Tags], label_order: Sequence[str] | None = None
) -> float:
    """Mean F1 over the types that have an entity in ``gold`` or ``pred`` (KLUE, section 3.4).

    0 to 100; NaN without any entity. Entities are read as strict IOB2 (see ``entities``) and are
    right where start, end and type are. The official quirks: spaces are dropped before entities
    are read, so an entity goes on over a space that is tagged O, and one whose B- is on a space
    does not exist; gold beyond a truncated prediction is cut off, not missed.

    Raises:
        ValueError: nothing to score, a sentence too few or too many, a prediction longer than its
            sentence, what is no BIO tag, a tag not in ``label_order``.
    """
    _check(gold, pred, label_order)
    return _entity_macro_f1(*_as_the_baseline_reads(gold, pred))


def ner_entity_macro_f1_per_sentence(
    gold: Sequence[Sentence], pred: Sequence[Tags], label_order: Sequence[str] | None = None
) -> float:
    """Conventional: the same strict macro F1 with spaces kept and what was truncated missed.

    0 to 100; NaN without any entity. Missing predictions are O.

    Raises:
        ValueError: as ``klue_ner_entity_macro_f1``.
    """
    _check(gold, pred, label_order)
    gold_tags, pred_tags = list[str](), list[str]()
    for sentence, tags in zip(gold, pred, strict=True):
        # The O after each keeps an entity from running into the next sentence.
        gold_tags += [*sentence["tags"], OUTSIDE]
        pred_tags += [*_padded(tags, len(sentence["tags"])), OUTSIDE]
    return _entity_macro_f1(gold_tags, pred_tags)


def ner_entity_f1(
    gold: Sequence[Sentence], pred: Sequence[Tags], label_order: Sequence[str] | None = None
) -> float:
    """Conventional: F1 over the entities of all types together, as conlleval pools them.

    0 to 100; NaN without any entity. Missing predictions are O.

    Raises:
        ValueError: as ``klue_ner_entity_macro_f1``.
    """
    _check(gold, pred, label_order)
    both = total = 0
    for sentence, tags in zip(gold, pred, strict=True):
        there, found = entities(sentence["tags"]), entities(tags)
        both += len(there & found)
        total += len(there) + len(found)
    return 200.0 * both / total if total else float("nan")


def klue_ner_char_macro_f1(
    gold: Sequence[Sentence], pred: Sequence[Tags], label_order: Sequence[str]
) -> float:
    """Mean F1 over every tag in ``label_order``, O included, over all characters but spaces.

    0 to 100 (KLUE, section 3.4). The official quirks: O is averaged although it is said not to be;
    two more O, right ones, stand around each sentence; a tag on neither side has F1 1; gold beyond
    a truncated prediction is cut off, not missed.

    Raises:
        ValueError: as ``klue_ner_entity_macro_f1``.
    """
    _check(gold, pred, label_order)
    gold_tags, pred_tags = _as_the_baseline_reads(gold, pred)
    ids = label_ids(gold_tags, label_order), label_ids(pred_tags, label_order)
    return mean_of_all(f1_by_class(*ids, len(label_order)), absent=1.0)


def ner_char_macro_f1_without_o(
    gold: Sequence[Sentence], pred: Sequence[Tags], label_order: Sequence[str] | None = None
) -> float:
    """Conventional: mean F1 over the tags on either side but O, over all characters but spaces.

    0 to 100; NaN where all is O. Missing predictions are O.

    Raises:
        ValueError: as ``klue_ner_entity_macro_f1``.
    """
    _check(gold, pred, label_order)
    gold_tags, pred_tags = list[str](), list[str]()
    for sentence, tags in zip(gold, pred, strict=True):
        kept = _not_space(sentence)
        gold_tags += compress(sentence["tags"], kept)
        pred_tags += compress(_padded(tags, len(kept)), kept)
    order = [OUTSIDE, *sorted({*gold_tags, *pred_tags} - {OUTSIDE})]
    ids = label_ids(gold_tags, order), label_ids(pred_tags, order)
    return mean_of_present(f1_by_class(*ids, len(order))[1:])


def entities(tags: Iterable[str]) -> set[Entity]:
    """(start, end, type) of every entity of ``tags``, read as strict IOB2.

    An entity starts at a B- and goes on over the I- of its type that follow at once; an I- that
    goes on with no entity belongs to none. (The scheme: Tjong Kim Sang and Veenstra, 1999; so
    strict: the mode of that name of the seqeval package.)
    """
    found, start, kind = set(), 0, ""
    for place, tag in enumerate([*tags, OUTSIDE]):
        if kind and tag == f"I-{kind}":
            continue
        if kind:
            found.add((start, place, kind))
        start, kind = place, tag[2:] if tag.startswith("B-") else ""
    return found


def _entity_macro_f1(gold_tags: Tags, pred_tags: Tags) -> float:
    gold, pred = entities(gold_tags), entities(pred_tags)
    counts = [Counter(kind for _, _, kind in found) for found in (gold & pred, gold, pred)]
    kinds = sorted({*counts[1], *counts[2]})
    return mean_of_present(f1_of_counts(*(np.array([c[k] for k in kinds], int) for c in counts)))


def _as_the_baseline_reads(
    gold: Sequence[Sentence], pred: Sequence[Tags]
) -> tuple[list[str], list[str]]:
    """One sequence of tags a side: without spaces, cut to the prediction, O around each sentence.

    The O stand for the slots of [CLS] and of the end of the padded input, which it scores too.
    """
    gold_tags, pred_tags = list[str](), list[str]()
    for sentence, tags in zip(gold, pred, strict=True):
        kept = _not_space(sentence)[: len(tags)]
        gold_tags += [OUTSIDE, *compress(sentence["tags"], kept), OUTSIDE]
        pred_tags += [OUTSIDE, *compress(tags, kept), OUTSIDE]
    return gold_tags, pred_tags


def _not_space(sentence: Sentence) -> list[bool]:
    return [char != SPACE for char in sentence["chars"]]


def _padded(tags: Tags, length: int) -> list[str]:
    return [*tags, *[OUTSIDE] * (length - len(tags))]


def _check(
    gold: Sequence[Sentence], pred: Sequence[Tags], label_order: Sequence[str] | None
) -> None:
    check_pairs(gold, pred)
    used: set[str] = set()
    for number, (sentence, tags) in enumerate(zip(gold, pred, strict=True)):
        where = f"sentence {number}"
        chars, gold_tags = (field(sentence, name, where) for name in ("chars", "tags"))
        if len(chars) != len(gold_tags):
            raise ValueError(f"{where}: {len(chars)} characters, but {len(gold_tags)} tags")
        if len(tags) > len(chars):
            raise ValueError(f"{where}: {len(chars)} characters, but {len(tags)} predictions")
        used.update(gold_tags, tags)
    if strange := [tag for tag in used if tag != OUTSIDE and not _is_bio(tag)]:
        raise ValueError(f"neither O nor B- or I- and a type: {sorted(map(str, strange))}")
    check_labels(used, label_order)


def _is_bio(tag: object) -> bool:
    return isinstance(tag, str) and tag[:2] in ("B-", "I-") and len(tag) > 2
