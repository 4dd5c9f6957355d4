"""YNAT, NLI and STS: by hand, and against scikit-learn and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kobert_kit.tasks import metrics
from kobert_kit.tasks.ynat import LABELS


def test_by_hand():
    gold, pred = ["정치", "정치", "경제", "세계"], ["정치", "경제", "경제", "사회"]
    # F1: 정치 2/3, 경제 2/3, 세계 0, 사회 0; three topics occur nowhere.
    assert metrics.ynat_macro_f1(gold, pred) == pytest.approx(100 * (4 / 3) / 4)
    assert metrics.ynat_macro_f1_all_7(gold, pred, LABELS) == pytest.approx(100 * (4 / 3) / 7)
    assert metrics.klue_nli_acc(gold, pred) == 50.0
    assert metrics.klue_sts_f1([3.0, 3.0, 2.9], [3.0, 2.99, 4.0]) == pytest.approx(50.0)
    assert metrics.klue_sts_f1([1.0], [2.0]) == 0.0
    assert metrics.klue_sts_pearsonr([0, 1, 2], [5, 7, 9]) == pytest.approx(100.0)
    assert math.isnan(metrics.klue_sts_pearsonr([0.1, 0.1, 0.1], [1, 2, 3]))
    assert metrics.confusion_matrix(["b", "a", "a"], ["a", "a", "b"], "ab") == [[1, 1], [1, 0]]


@pytest.mark.parametrize("seed", range(5))
def test_against_scikit_learn_and_scipy(seed):
    sklearn = pytest.importorskip("sklearn.metrics")
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(seed)
    gold, pred = (rng.choice(LABELS[seed:], 60).tolist() for _ in range(2))
    macro = sklearn.f1_score(gold, pred, average="macro")
    assert metrics.ynat_macro_f1(gold, pred) == pytest.approx(100 * macro)
    all_7 = sklearn.f1_score(gold, pred, labels=LABELS, average="macro", zero_division=0)
    assert metrics.ynat_macro_f1_all_7(gold, pred, LABELS) == pytest.approx(100 * all_7)
    counts = metrics.confusion_matrix(gold, pred, LABELS)
    assert counts == sklearn.confusion_matrix(gold, pred, labels=LABELS).tolist()
    x, y = rng.uniform(0, 5, 40), rng.normal(2.5, 2, 40)
    assert metrics.klue_sts_pearsonr(x, y) == pytest.approx(100 * stats.pearsonr(x, y)[0])
    f1 = sklearn.f1_score(x >= 3, y >= 3)
    assert metrics.klue_sts_f1(x, y) == pytest.approx(100 * f1)


def test_what_cannot_be_scored():
    with pytest.raises(ValueError, match="2 gold values, but 1"):
        metrics.klue_nli_acc(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="nothing to score"):
        metrics.ynat_macro_f1([], [])
    with pytest.raises(ValueError, match="at least two"):
        metrics.klue_sts_pearsonr([1.0], [1.0])
    with pytest.raises(ValueError, match="날씨"):
        metrics.ynat_macro_f1(["날씨"], ["정치"], LABELS)
    with pytest.raises(ValueError, match="날씨"):
        metrics.ynat_macro_f1_all_7(["정치"], ["날씨"], LABELS)
    with pytest.raises(ValueError, match="twice"):
        metrics.ynat_macro_f1(["정치"], ["정치"], [*LABELS, "정치"])
    with pytest.raises(ValueError, match="maybe"):
        metrics.klue_nli_acc(["neutral"], ["maybe"], label_order=["neutral"])
    with pytest.raises(ValueError, match="c"):
        metrics.confusion_matrix(["a"], ["c"], "ab")
