"""WoS: by hand, against scikit-learn, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest

from kobert_kit.tasks import metrics

ALL = [metrics.wos_jga, metrics.wos_slot_micro_f1, metrics.wos_slot_micro_f1_pooled]
A, B, C = "숙소-지역-서울 중앙", "식당-가격대-저렴", "택시-종류-dontcare"


def perturbed(seed: int):
    rng = np.random.default_rng(seed)
    slots = np.array([f"관광-이름-{number}" for number in range(8)])
    states = rng.random((2, 60, 8)) < 0.3
    states[1, :30] = states[0, :30]
    return [[slots[turn].tolist() for turn in side] for side in states]


def test_by_hand():
    gold = [[A, B], [A, B], [], [], [A]]
    pred = [[B, A], [A, C], [], [A], []]
    assert metrics.wos_jga(gold, pred) == 40.0
    # Turns: 1, 1 of 2 and 2, both empty, gold empty, prediction empty.
    assert metrics.wos_slot_micro_f1(gold, pred) == pytest.approx(100 * (1 + 0.5 + 1 + 0 + 0) / 5)
    # Three right of five gold and five predicted.
    assert metrics.wos_slot_micro_f1_pooled(gold, pred) == pytest.approx(60.0)
    assert metrics.wos_slot_micro_f1_pooled([[]], [[]]) == 0.0


def test_a_repeated_string():
    assert metrics.wos_jga([[A, A]], [[A]]) == 100.0
    # Two of gold's three are found and one predicted string is wrong, twice: 4 / (4 + 1 + 2).
    assert metrics.wos_slot_micro_f1([[A, A, B]], [[A, C, C]]) == pytest.approx(100 * 4 / 7)
    assert metrics.wos_slot_micro_f1_pooled([[A, A, B]], [[A, C, C]]) == 50.0


@pytest.mark.parametrize("seed", range(5))
def test_against_scikit_learn(seed):
    sklearn = pytest.importorskip("sklearn.metrics")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    gold, pred = perturbed(seed)
    binary = preprocessing.MultiLabelBinarizer().fit([*gold, *pred])
    sides = binary.transform(gold), binary.transform(pred)
    assert metrics.wos_jga(gold, pred) == pytest.approx(100 * sklearn.accuracy_score(*sides))
    by_turn = sklearn.f1_score(*sides, average="samples", zero_division=1)
    assert metrics.wos_slot_micro_f1(gold, pred) == pytest.approx(100 * by_turn)
    micro = sklearn.f1_score(*sides, average="micro")
    assert metrics.wos_slot_micro_f1_pooled(gold, pred) == pytest.approx(100 * micro)


@pytest.mark.parametrize("seed", range(4))
def test_what_always_holds(seed):
    gold, pred = perturbed(seed)
    assert 0 <= metrics.wos_jga(gold, pred) <= metrics.wos_slot_micro_f1(gold, pred) <= 100
    order = np.random.default_rng(seed).permutation(len(gold))
    for metric in ALL:
        assert metric(gold, [state[::-1] for state in gold]) == 100.0
        value = metric([gold[i] for i in order], [pred[i] for i in order])
        assert value == pytest.approx(metric(gold, pred))


@pytest.mark.parametrize("metric", ALL)
def test_what_cannot_be_scored(metric):
    with pytest.raises(ValueError, match="nothing to score"):
        metric([], [])
    with pytest.raises(ValueError, match="2 gold values, but 1"):
        metric([[A], [B]], [[A]])
    with pytest.raises(ValueError, match="turn 1: a string, not a list of strings"):
        metric([[A], [B]], [[A], B])
