"""KLUE-NLI: does the hypothesis follow from the premise?"""

from __future__ import annotations

from collections.abc import Sequence

from kobert_kit.tasks.metrics import klue_nli_acc
from kobert_kit.tasks.sentence import SentenceTask

# The hub numbers neutral 1 and contradiction 2; labels are matched by name, never by number.
LABELS = ("entailment", "contradiction", "neutral")


def scores(gold: Sequence[str], pred: Sequence[str]) -> dict[str, float]:
    """The official metric."""
    return {"klue_nli_acc": klue_nli_acc(gold, pred)}


TASK = SentenceTask(
    name="nli",
    folder="klue-nli-v1.1",
    texts=("premise", "hypothesis"),
    label=("gold_label",),
    hub_label=("label",),
    labels=LABELS,
    headline="klue_nli_acc",
    scores=scores,
)
