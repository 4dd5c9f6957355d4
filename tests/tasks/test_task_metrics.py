"""The scores: against values of the official baseline, and against scikit-learn and SciPy."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from kobert_kit.tasks import metrics
from kobert_kit.tasks.ynat import LABELS

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "klue_metrics"


def official_cases(name: str) -> list[dict]:
    path = CASES / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no {path.name} beside the repository")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name", ["ynat_macro_f1", "klue_nli_acc", "klue_sts_pearsonr", "klue_sts_f1"]
)
def test_official_values(name):
    for case in official_cases(name):
        order = {"label_order": case["label_order"]} if "label_order" in case else {}
        value = getattr(metrics, name)(case["gold"], case["pred"], **order)
        expected = math.nan if case["official"] is None else case["official"]
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), case["name"]


def test_conventional_values():
    for case in official_cases("ynat_macro_f1"):
        value = metrics.ynat_macro_f1_all_7(case["gold"], case["pred"], case["label_order"])
        assert value == pytest.approx(case["conventional"]["macro_f1_all_7"], abs=1e-9)


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
