"""NER: by hand, against scikit-learn and a second reading of IOB2, and what must always hold."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from kobert_kit.tasks import metrics
from kobert_kit.tasks.metrics.entities import entities

TYPES = ("PS", "LC", "OG", "DT", "TI", "QT")
TAGS = [*(f"{part}-{kind}" for kind in TYPES for part in "BI"), "O"]


def tags(text: str) -> list[str]:
    return text.split()


def tagged(text: str, tag_text: str) -> dict[str, list[str]]:
    return {"chars": list(text), "tags": tags(tag_text)}


def perturbed(seed: int, kinds: int = 6, spaces: bool = True):
    """Sentences with tags at random, and predictions that get some of them wrong."""
    rng = np.random.default_rng(seed)
    some = [*TAGS[: 2 * kinds], "O", "O"]
    gold, pred = [], []
    for length in rng.integers(1, 40, 30):
        chars = rng.choice(list("가나다 " if spaces else "가나다\u00a0"), length).tolist()
        tags = rng.choice(some, length).tolist()
        wrong = rng.random(length) < 0.3
        gold.append({"chars": chars, "tags": tags})
        pred.append(np.where(wrong, rng.choice(some, length), tags).tolist())
    return gold, pred


ALL = [
    metrics.klue_ner_entity_macro_f1,
    metrics.ner_entity_macro_f1_per_sentence,
    metrics.klue_ner_char_macro_f1,
    metrics.ner_char_macro_f1_without_o,
]


def test_strict_iob2():
    assert entities([]) == set()
    assert entities(tags("B-PS I-PS I-PS")) == {(0, 3, "PS")}
    assert entities(tags("B-PS B-PS O B-LC")) == {(0, 1, "PS"), (1, 2, "PS"), (3, 4, "LC")}
    # An I- after O, after another type, or after an I- that belongs to nothing is no entity.
    assert entities(tags("I-PS I-PS O I-PS")) == set()
    assert entities(tags("B-PS I-LC I-PS")) == {(0, 1, "PS")}


def test_by_hand():
    gold = [tagged("김 구는 서울", "B-PS O I-PS O O B-LC I-LC"), tagged("오늘", "B-DT I-DT")]
    pred = [tags("B-PS O I-PS O O B-LC O"), tags("B-DT I-DT")]
    # The space is dropped, so the person is one entity; the place ends too soon.
    assert metrics.klue_ner_entity_macro_f1(gold, pred) == pytest.approx(100 * 2 / 3)
    # With spaces the person is its first syllable, on both sides.
    assert metrics.ner_entity_macro_f1_per_sentence(gold, pred) == pytest.approx(100 * 2 / 3)
    # Tags: five right (B-PS I-PS B-LC B-DT I-DT), I-LC 0, O 2 * 5 / (5 + 6), six on neither side.
    # The O are that of 는 and the four around the sentences.
    expected = 100 * (5 + 0 + 10 / 11 + 6) / 13
    assert metrics.klue_ner_char_macro_f1(gold, pred, TAGS) == pytest.approx(expected)
    assert metrics.ner_char_macro_f1_without_o(gold, pred) == pytest.approx(100 * 5 / 6)


def test_a_space_tagged_B_is_dropped_with_its_entity():
    gold = [tagged("에 서울", "O B-LC I-LC I-LC")]
    pred = [["O", "O", "B-LC", "I-LC"]]
    assert metrics.klue_ner_entity_macro_f1(gold, pred) == 0.0
    assert math.isnan(metrics.klue_ner_entity_macro_f1(gold, [["O", "B-LC", "I-LC", "I-LC"]]))
    assert metrics.ner_entity_macro_f1_per_sentence(gold, [["O", "B-LC", "I-LC", "I-LC"]]) == 100.0


def test_truncated_predictions():
    gold = [tagged("김구 서울", "B-PS I-PS O B-LC I-LC")]
    assert metrics.klue_ner_entity_macro_f1(gold, [["B-PS", "I-PS"]]) == 100.0
    assert metrics.ner_entity_macro_f1_per_sentence(gold, [["B-PS", "I-PS"]]) == 50.0
    assert metrics.klue_ner_char_macro_f1(gold, [["B-PS", "I-PS"]], TAGS) == 100.0
    assert metrics.ner_char_macro_f1_without_o(gold, [["B-PS", "I-PS"]]) == 50.0
    assert math.isnan(metrics.klue_ner_entity_macro_f1(gold, [[]]))


def test_no_entity_anywhere():
    gold, pred = [tagged("구름", "O O")], [["O", "O"]]
    assert math.isnan(metrics.klue_ner_entity_macro_f1(gold, pred))
    assert math.isnan(metrics.ner_entity_macro_f1_per_sentence(gold, pred))
    assert metrics.klue_ner_char_macro_f1(gold, pred, TAGS) == 100.0
    assert math.isnan(metrics.ner_char_macro_f1_without_o(gold, pred))


def by_pattern(tags: list[str]) -> set[tuple[int, int, str]]:
    """Entities by one regular expression a type."""
    found = set()
    for kind in TYPES:
        line = "".join(tag[0] if tag[1:] == f"-{kind}" else "." for tag in tags)
        found |= {(*match.span(), kind) for match in re.finditer("BI*", line)}
    return found


@pytest.mark.parametrize("seed", range(6))
def test_against_a_second_reading(seed):
    gold, pred = perturbed(seed, kinds=1 + seed)
    flat = [], []
    for sentence, tags in zip(gold, pred, strict=True):
        for side, values in zip(flat, (sentence["tags"], tags), strict=True):
            dropped = [t for c, t in zip(sentence["chars"], values, strict=True) if c != " "]
            side.extend(["O", *dropped, "O"])
    assert entities(flat[0]) == by_pattern(flat[0])
    golds, preds = map(by_pattern, flat)
    scores = []
    for kind in TYPES:
        g, p = ({entity for entity in side if entity[2] == kind} for side in (golds, preds))
        if g or p:
            scores.append(2 * len(g & p) / (len(g) + len(p)))
    value = metrics.klue_ner_entity_macro_f1(gold, pred, label_order=TAGS)
    assert value == pytest.approx(100 * np.mean(scores))


@pytest.mark.parametrize("seed", range(6))
def test_characters_against_scikit_learn(seed):
    sklearn = pytest.importorskip("sklearn.metrics")
    gold, pred = perturbed(seed, kinds=1 + seed)
    pairs = [
        (g, p)
        for sentence, tags in zip(gold, pred, strict=True)
        for char, g, p in zip(sentence["chars"], sentence["tags"], tags, strict=True)
        if char != " "
    ]
    present = sorted({tag for pair in pairs for tag in pair} - {"O"})
    golds, preds = zip(*pairs, strict=True)
    plain = sklearn.f1_score(golds, preds, labels=present, average="macro")
    assert metrics.ner_char_macro_f1_without_o(gold, pred) == pytest.approx(100 * plain)
    extra = ("O",) * (2 * len(gold))
    official = sklearn.f1_score(
        golds + extra, preds + extra, labels=TAGS, average="macro", zero_division=1
    )
    value = metrics.klue_ner_char_macro_f1(gold, pred, label_order=TAGS)
    assert value == pytest.approx(100 * official)


@pytest.mark.parametrize("seed", range(4))
def test_what_always_holds(seed):
    gold, pred = perturbed(seed)
    order = np.random.default_rng(seed).permutation(len(gold))
    on_spaces = [
        [tag if char != " " else "B-TI" for char, tag in zip(s["chars"], tags, strict=True)]
        for s, tags in zip(gold, pred, strict=True)
    ]
    for metric in ALL:
        value = metric(gold, pred, TAGS)
        assert 0 <= value <= 100
        assert metric(gold, [sentence["tags"] for sentence in gold], TAGS) == 100.0
        shuffled = metric([gold[i] for i in order], [pred[i] for i in order], TAGS)
        assert shuffled == pytest.approx(value)
        if metric is not metrics.ner_entity_macro_f1_per_sentence:
            assert metric(gold, on_spaces, TAGS) == value
    # Without spaces and truncation the two entity scores are one; a no-break space is no space.
    gold, pred = perturbed(seed, spaces=False)
    official = metrics.klue_ner_entity_macro_f1(gold, pred)
    assert metrics.ner_entity_macro_f1_per_sentence(gold, pred) == pytest.approx(official)


@pytest.mark.parametrize("metric", ALL)
def test_what_cannot_be_scored(metric):
    gold = [tagged("서울", "B-LC I-LC"), tagged("부산", "B-LC I-LC")]
    with pytest.raises(ValueError, match="nothing to score"):
        metric([], [], TAGS)
    with pytest.raises(ValueError, match="2 gold values, but 1"):
        metric(gold, [["O", "O"]], TAGS)
    with pytest.raises(ValueError, match="sentence 1: 2 characters, but 3 predictions"):
        metric(gold, [["O", "O"], ["O", "O", "O"]], TAGS)
    with pytest.raises(ValueError, match="sentence 0: 3 characters, but 2 tags"):
        metric([tagged("서울시", "B-LC I-LC")], [["O", "O"]], TAGS)
    with pytest.raises(ValueError, match=r"not in label_order: \['B-XX'\]"):
        metric(gold, [["O", "O"], ["B-XX", "O"]], TAGS)
    with pytest.raises(ValueError, match=r"neither O nor B- or I-.*\['LC'\]"):
        metric(gold, [["O", "O"], ["LC", "O"]], TAGS)
    with pytest.raises(ValueError, match="sentence 0: no 'tags'"):
        metric([{"chars": ["가"]}], [["O"]], TAGS)
