"""KLUE-STS: how similar are two sentences, from 0 to 5?

Training and Pearson's correlation use the annotators' unrounded mean (``real-label``).
"""

from __future__ import annotations

from collections.abc import Sequence

from kobert_kit.tasks.metrics import klue_sts_f1, klue_sts_pearsonr
from kobert_kit.tasks.sentence import SentenceTask


def scores(gold: Sequence[float], pred: Sequence[float]) -> dict[str, float]:
    """The two official metrics."""
    return {
        "klue_sts_pearsonr": klue_sts_pearsonr(gold, pred),
        "klue_sts_f1": klue_sts_f1(gold, pred),
    }


TASK = SentenceTask(
    name="sts",
    folder="klue-sts-v1.1",
    texts=("sentence1", "sentence2"),
    label=("labels", "real-label"),
    hub_label=("labels", "real-label"),
    labels=(),
    headline="klue_sts_pearsonr",
    scores=scores,
)
