"""YNAT: the topic of a news headline."""

from __future__ import annotations

from collections.abc import Sequence

from kobert_kit.tasks.metrics import ynat_macro_f1, ynat_macro_f1_all_7
from kobert_kit.tasks.sentence import SentenceTask

LABELS = ("정치", "경제", "사회", "생활문화", "세계", "IT과학", "스포츠")


def scores(gold: Sequence[str], pred: Sequence[str]) -> dict[str, float]:
    """The official metric, and the mean over all seven topics."""
    return {
        "ynat_macro_f1": ynat_macro_f1(gold, pred, LABELS),
        "ynat_macro_f1_all_7": ynat_macro_f1_all_7(gold, pred, LABELS),
    }


TASK = SentenceTask(
    name="ynat",
    folder="ynat-v1.1",
    texts=("title",),
    label=("label",),
    hub_label=("label",),
    labels=LABELS,
    headline="ynat_macro_f1",
    scores=scores,
)
