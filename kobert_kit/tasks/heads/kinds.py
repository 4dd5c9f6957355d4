"""What stands on the encoder: its transformers class, its loss, and what is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.nn import functional as F
from transformers import (
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from kobert_kit.tasks.heads.biaffine import BiaffineParser, TaggedBiaffineParser

IGNORED = -100  # a label that is not learnt


@dataclass(frozen=True)
class Head:
    """A head with ``labels``, trained by cross-entropy.

    Logits end in the classes, (..., classes); ``labels`` of a batch have the shape before it.
    """

    labels: tuple[str, ...] = ()
    auto: ClassVar[Any]

    def config(self) -> dict[str, Any]:
        """What the configuration of the saved model says of the head."""
        return {
            "num_labels": len(self.labels),
            "id2label": dict(enumerate(self.labels)),
            "label2id": {label: number for number, label in enumerate(self.labels)},
        }

    def logits(self, output: Any, mask: torch.Tensor | None) -> torch.Tensor:
        """Logits in float32 from what the model returned.

        ``mask`` (batch, length) is False at padding; None where nothing is padded.
        """
        logits: torch.Tensor = output.logits.float()
        return logits

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Sum over the labels that are not IGNORED."""
        return F.cross_entropy(
            logits.flatten(0, -2), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )

    def outputs(self, logits: torch.Tensor) -> torch.Tensor:
        """What a task decodes: probabilities, unless a head says otherwise."""
        return logits.softmax(-1)


class Classification(Head):
    """One label for a text or a pair: logits (batch, labels)."""

    auto = AutoModelForSequenceClassification

    def config(self) -> dict[str, Any]:
        return {**super().config(), "problem_type": "single_label_classification"}


class Choice(Head):
    """One of several choices, each scored as a pair with the question: logits (batch, choices).

    The softmax is over the choices (Zellers et al. 2018; Devlin et al. 2019, section 4.4).
    """

    auto = AutoModelForMultipleChoice

    def config(self) -> dict[str, Any]:
        """One score a pair; what the choices are called is the task's."""
        return {}


class Regression(Head):
    """One score for a text or a pair: logits (batch, 1), squared error."""

    auto = AutoModelForSequenceClassification

    def config(self) -> dict[str, Any]:
        names = {"id2label": {0: "score"}, "label2id": {"score": 0}}
        return {"num_labels": 1, **names, "problem_type": "regression"}

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(logits.squeeze(-1), labels, reduction="sum")

    def outputs(self, logits: torch.Tensor) -> torch.Tensor:
        return logits


class Tagging(Head):
    """A label for each token: logits (batch, length, labels); decoded from log-probabilities."""

    auto = AutoModelForTokenClassification

    def outputs(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.log_softmax(-1)


class Spans(Head):
    """Where an answer starts and where it ends: logits (batch, 2, length), -inf at padding."""

    auto = AutoModelForQuestionAnswering

    def config(self) -> dict[str, Any]:
        return {}

    def logits(self, output: Any, mask: torch.Tensor | None) -> torch.Tensor:
        both = torch.stack([output.start_logits, output.end_logits], dim=1).float()
        return both if mask is None else both.masked_fill(~mask[:, None], -torch.inf)

    def outputs(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.transpose(1, 2)


class Arcs(Head):
    """A head and a label for each word: logits (batch, words, words + 1, labels), the root first.

    They are log-probabilities. In ``labels`` of a batch a label is numbered
    head * len(self.labels) + label.
    """

    auto = BiaffineParser

    def logits(self, output: Any, mask: torch.Tensor | None) -> torch.Tensor:
        scores: torch.Tensor = output
        return scores

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The cross-entropy of the heads, and of the labels given the right head."""
        return F.nll_loss(
            logits.flatten(2).flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )

    def outputs(self, logits: torch.Tensor) -> torch.Tensor:
        """(batch, words, words + 1, 2): the log-probability of each arc, and its best label."""
        return torch.stack([logits.logsumexp(-1), logits.argmax(-1)], dim=-1)


class TaggedArcs(Arcs):
    """The same for words that come with tags."""

    auto = TaggedBiaffineParser
