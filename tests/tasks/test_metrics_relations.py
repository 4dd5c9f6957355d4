"""RE: by hand, against scikit-learn, and what must always hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kobert_kit.tasks import metrics

LABELS = ["no_relation", "org:founded", "org:members", "per:title", "per:origin"]


def random_scores(seed: int, decimals: int | None = None):
    """Gold with every label, and probabilities that lean towards it; few decimals give ties."""
    rng = np.random.default_rng(seed)
    ids = np.append(
        np.arange(len(LABELS)), rng.choice(len(LABELS), 95, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    )
    scores = rng.dirichlet(np.ones(len(LABELS)), len(ids))
    scores[np.arange(len(ids)), ids] += rng.random(len(ids)) / 2
    if decimals is not None:
        scores = scores.round(decimals)
    return [LABELS[i] for i in ids], scores


def test_micro_f1_by_hand():
    none, founded, title = "no_relation", "org:founded", "per:title"
    gold = [none, founded, title, title, none]
    pred = [title, founded, none, founded, none]
    # One right of three predicted and three gold relations.
    assert metrics.klue_re_micro_f1(gold, pred) == pytest.approx(100 / 3)
    assert metrics.re_accuracy(gold, pred) == 40.0
    assert metrics.klue_re_micro_f1([none], [none]) == 0.0
    assert metrics.re_accuracy([none], [none]) == 100.0


def test_areas_by_hand():
    order = ["no_relation", "a"]
    gold = ["a", "no_relation", "a", "no_relation"]
    pred = [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]
    # a: (recall, precision) (0, 1) (.5, 1) (.5, .5) (1, 2/3) (1, .5); no_relation, from the other
    # end: (0, 1) (.5, 1) (.5, .5) (1, 2/3) (1, .5).
    area = 0.5 + 0.5 * (1 / 2 + 2 / 3) / 2
    assert metrics.klue_re_auprc(gold, pred, label_order=order) == pytest.approx(100 * area)
    precision = metrics.re_mean_average_precision(gold, pred, label_order=order)
    assert precision == pytest.approx(100 * (0.5 + 0.5 * 2 / 3))


def test_constant_scores_and_absent_classes():
    gold = ["a", "no_relation", "no_relation", "no_relation"]
    uniform = np.full((4, 2), 0.5)
    # (1 + k / n) / 2, for k = 1 and k = 3 of 4; average precision is k / n.
    value = metrics.klue_re_auprc(gold, uniform, ["no_relation", "a"])
    assert value == pytest.approx(100 * (1.75 / 2 + 1.25 / 2) / 2)
    assert metrics.re_mean_average_precision(gold, uniform, ["no_relation", "a"]) == 25.0
    perfect = [[0.0, 1.0, 0.0]] + [[1.0, 0.0, 0.0]] * 3
    value = metrics.klue_re_auprc(gold, perfect, ["no_relation", "a", "never"])
    assert value == pytest.approx((100 + 100 + 50) / 3)
    assert metrics.re_mean_average_precision(gold, perfect, ["no_relation", "a", "never"]) == 100.0
    assert math.isnan(metrics.re_mean_average_precision(["no_relation"], [[1.0]], ["no_relation"]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_against_scikit_learn(seed, decimals):
    sklearn = pytest.importorskip("sklearn.metrics")
    gold, scores = random_scores(seed, decimals)
    areas, precisions = [], []
    for number, label in enumerate(LABELS):
        positive = [g == label for g in gold]
        precision, recall, _ = sklearn.precision_recall_curve(positive, scores[:, number])
        areas.append(sklearn.auc(recall, precision))
        precisions.append(sklearn.average_precision_score(positive, scores[:, number]))
    assert metrics.klue_re_auprc(gold, scores, LABELS) == pytest.approx(100 * np.mean(areas))
    value = metrics.re_mean_average_precision(gold, scores.tolist(), LABELS)
    assert value == pytest.approx(100 * np.mean(precisions[1:]))
    pred = [LABELS[i] for i in scores.argmax(axis=1)]
    micro = sklearn.f1_score(gold, pred, labels=LABELS[1:], average="micro")
    assert metrics.klue_re_micro_f1(gold, pred, LABELS) == pytest.approx(100 * micro)
    accuracy = sklearn.accuracy_score(gold, pred)
    assert metrics.re_accuracy(gold, pred) == pytest.approx(100 * accuracy)


@pytest.mark.parametrize("seed", range(4))
def test_what_always_holds(seed):
    gold, scores = random_scores(seed, decimals=2)
    order = np.random.default_rng(seed).permutation(len(gold))
    one_hot = np.eye(len(LABELS))[[LABELS.index(g) for g in gold]]
    for metric in (metrics.klue_re_auprc, metrics.re_mean_average_precision):
        value = metric(gold, scores, LABELS)
        assert 0 <= value <= 100 and metric(gold, one_hot, LABELS) == pytest.approx(100)
        # Neither the order of the examples nor a rising function of the scores matters.
        assert metric([gold[i] for i in order], scores[order], LABELS) == pytest.approx(value)
        assert metric(gold, scores**3 / 2, LABELS) == pytest.approx(value)
    pred = [LABELS[i] for i in scores.argmax(axis=1)]
    related = [i for i, g in enumerate(gold) if "no_relation" not in (g, pred[i])]
    some = [gold[i] for i in related], [pred[i] for i in related]
    assert metrics.klue_re_micro_f1(*some) == pytest.approx(metrics.re_accuracy(*some))


@pytest.mark.parametrize("metric", [metrics.klue_re_micro_f1, metrics.re_accuracy])
def test_relations_that_cannot_be_scored(metric):
    with pytest.raises(ValueError, match="nothing to score"):
        metric([], [], LABELS)
    with pytest.raises(ValueError, match="1 gold values, but 2"):
        metric(["no_relation"], ["no_relation"] * 2, LABELS)
    with pytest.raises(ValueError, match="per:pet"):
        metric(["no_relation"], ["per:pet"], LABELS)


@pytest.mark.parametrize("metric", [metrics.klue_re_auprc, metrics.re_mean_average_precision])
def test_probabilities_that_cannot_be_scored(metric):
    gold, row = ["no_relation", "per:title"], [0.2] * 5
    with pytest.raises(ValueError, match="nothing to score"):
        metric([], [], LABELS)
    with pytest.raises(ValueError, match="2 gold values, but 1"):
        metric(gold, [row], LABELS)
    with pytest.raises(ValueError, match="example 1: 4 probabilities, but 5 labels"):
        metric(gold, [row, row[1:]], LABELS)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="example 1: a probability is not a finite number"):
            metric(gold, [row, [*row[1:], bad]], LABELS)
    with pytest.raises(ValueError, match="per:pet"):
        metric(["no_relation", "per:pet"], [row, row], LABELS)
