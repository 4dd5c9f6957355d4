"""DP: by hand, against scikit-learn, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest

from kobert_kit.tasks import metrics

LABELS = [f"L{number}" for number in range(38)]
UNLABELLED = [metrics.klue_dp_uas_macro_f1, metrics.klue_dp_uas_micro_f1]
LABELLED = [
    metrics.klue_dp_las_macro_f1,
    metrics.klue_dp_las_micro_f1,
    metrics.dp_las,
    metrics.dp_las_macro_f1_without_wrong_head,
]


def parse(heads: list[int], labels: str | None = None):
    return {"heads": heads} if labels is None else {"heads": heads, "deprels": labels.split()}


def perturbed(seed: int):
    """Random heads and labels, and predictions that get some of each wrong."""
    rng = np.random.default_rng(seed)
    gold, pred = [], []
    for words in rng.integers(1, 20, 25):
        sides = []
        for _ in range(2):
            heads, labels = rng.integers(0, words + 1, words), rng.choice(LABELS[:20], words)
            sides.append((heads, labels))
        wrong = rng.random((2, words)) < 0.3
        mixed = [np.where(w, new, old) for w, old, new in zip(wrong, *sides, strict=True)]
        for kept, (heads, labels) in ((gold, sides[0]), (pred, mixed)):
            kept.append({"heads": heads.tolist(), "deprels": labels.tolist()})
    return gold, pred


def test_heads_by_hand():
    gold, pred = [parse([2, 3, 0]), parse([0])], [parse([2, 0, 0]), parse([0])]
    assert metrics.klue_dp_uas_micro_f1(gold, pred) == 75.0
    # F1: place 0 is 4 / 5, place 2 is 1, place 3 is 0.
    assert metrics.klue_dp_uas_macro_f1(gold, pred) == pytest.approx(100 * (0.8 + 1 + 0) / 3)
    # A place beyond the sentence is a class more.
    assert metrics.klue_dp_uas_macro_f1([parse([0])] * 2, [parse([0]), parse([10**12])]) < 34


def test_labels_by_hand():
    gold = [parse([2, 3, 0], "L0 L1 L20"), parse([0], "L30")]
    pred = [parse([3, 3, 0], "L0 L0 L20"), parse([0], "L37")]
    # A wrong head, a wrong label, and one rare label for another.
    assert metrics.dp_las(gold, pred) == 25.0
    assert metrics.klue_dp_las_micro_f1(gold, pred, LABELS) == 50.0
    # F1: L0 and L1 are 0, the rare ones 1, and the wrong head's class 0.
    assert metrics.klue_dp_las_macro_f1(gold, pred, LABELS) == 25.0
    assert metrics.dp_las_macro_f1_without_wrong_head(gold, pred, LABELS) == pytest.approx(100 / 3)


@pytest.mark.parametrize("seed", range(5))
def test_against_scikit_learn(seed):
    sklearn = pytest.importorskip("sklearn.metrics")
    gold, pred = perturbed(seed)
    heads = [[head for s in side for head in s["heads"]] for side in (gold, pred)]
    macro = sklearn.f1_score(*heads, average="macro")
    assert metrics.klue_dp_uas_macro_f1(gold, pred) == pytest.approx(100 * macro)
    micro = sklearn.f1_score(*heads, average="micro")
    assert metrics.klue_dp_uas_micro_f1(gold, pred) == pytest.approx(100 * micro)
    rare = set(LABELS[15:])
    labels = [
        [d if d not in rare else "rare" for s in side for d in s["deprels"]]
        for side in (gold, pred)
    ]
    labels[1] = [d if g == p else "wrong" for d, g, p in zip(labels[1], *heads, strict=True)]
    for average, metric in zip(("macro", "micro"), LABELLED, strict=False):
        official = sklearn.f1_score(*labels, average=average)
        assert metric(gold, pred, label_order=LABELS) == pytest.approx(100 * official)
    present = sorted({*labels[0], *labels[1]} - {"wrong"})
    macro = sklearn.f1_score(*labels, labels=present, average="macro")
    value = metrics.dp_las_macro_f1_without_wrong_head(gold, pred, LABELS)
    assert value == pytest.approx(100 * macro)


@pytest.mark.parametrize("seed", range(4))
def test_what_always_holds(seed):
    gold, pred = perturbed(seed)
    uas = metrics.klue_dp_uas_micro_f1(gold, pred)
    official = metrics.klue_dp_las_micro_f1(gold, pred, LABELS)
    assert 0 <= metrics.dp_las(gold, pred, LABELS) <= official <= uas <= 100
    # The class of wrong heads adds a 0 to the mean over the sixteen others.
    without = metrics.dp_las_macro_f1_without_wrong_head(gold, pred, LABELS)
    assert metrics.klue_dp_las_macro_f1(gold, pred, LABELS) == pytest.approx(without * 16 / 17)
    order = np.random.default_rng(seed).permutation(len(gold))
    shuffled = [[side[i] for i in order] for side in (gold, pred)]
    for metric in LABELLED:
        assert metric(gold, gold, LABELS) == 100.0
        assert metric(*shuffled, LABELS) == pytest.approx(metric(gold, pred, LABELS))
    for metric in UNLABELLED:
        assert metric(gold, gold) == 100.0


def with_labels(metric, gold, pred):
    return metric(gold, pred, LABELS) if metric in LABELLED else metric(gold, pred)


@pytest.mark.parametrize("metric", [*UNLABELLED, *LABELLED])
def test_what_cannot_be_scored(metric):
    one, two = parse([0], "L0"), parse([2, 0], "L0 L1")
    with pytest.raises(ValueError, match="nothing to score"):
        with_labels(metric, [], [])
    with pytest.raises(ValueError, match="nothing to score"):
        with_labels(metric, [parse([], "")], [parse([], "")])
    with pytest.raises(ValueError, match="2 gold values, but 1"):
        with_labels(metric, [one, two], [one])
    with pytest.raises(ValueError, match="sentence 1: 2 words, but 1 predicted heads"):
        with_labels(metric, [one, two], [one, one])
    with pytest.raises(ValueError, match="sentence 0: no 'heads'"):
        with_labels(metric, [one], [{"deprels": ["L0"]}])
    for head in (-1, 0.5, float("nan"), "0", None):
        with pytest.raises(ValueError, match="a head is not a whole number of at least 0"):
            with_labels(metric, [one], [parse([head], "L0")])


@pytest.mark.parametrize("metric", LABELLED)
def test_labels_that_cannot_be_scored(metric):
    one = parse([0], "L0")
    with pytest.raises(ValueError, match="sentence 0: no 'deprels'"):
        metric([one], [parse([0])], LABELS)
    with pytest.raises(ValueError, match="sentence 0: 1 heads, but 2 deprels"):
        metric([one], [parse([0], "L0 L1")], LABELS)
    with pytest.raises(ValueError, match="L99"):
        metric([one], [parse([5], "L99")], LABELS)
