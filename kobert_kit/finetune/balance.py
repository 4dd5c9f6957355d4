"""A loss in which rare labels count as much as frequent ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from kobert_kit.errors import UsageError
from kobert_kit.tasks.heads.kinds import Classification, Head
from kobert_kit.tasks.task import Task


@dataclass(frozen=True)
class BalancedClassification(Classification):
    """The loss of an example is multiplied by the weight of its label.

    Over the training split the weights have mean 1. A step divides by its number of examples, not
    by the sum of their weights, so that it is an unbiased estimate of the whole split's loss.
    """

    weights: tuple[float, ...] = ()

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        weights = torch.tensor(self.weights, device=logits.device)
        return F.cross_entropy(logits, labels, weight=weights, reduction="sum")


def check_balanced(task: Task[Any]) -> None:
    """Raises UsageError where the task is no choice of one label for a text or a pair."""
    if not isinstance(task.head, Classification):
        raise UsageError(f"--class-balanced: {task.name} does not give each text one of few labels")


def balanced(head: Head, labels: np.ndarray) -> BalancedClassification:
    """``head`` with weights by inverse frequency: w = n / (k n_label).

    Of n examples, n_label have the label, and k labels occur (King and Zeng 2001, "Logistic
    regression in rare events data"; class_weight="balanced" in scikit-learn). ``labels`` (n,) are
    those of the training split, as numbers; a label that does not occur has weight 0.
    """
    counts = np.bincount(labels, minlength=len(head.labels))
    occurring = np.count_nonzero(counts)
    weights = np.divide(
        len(labels), occurring * counts, where=counts > 0, out=np.zeros(len(counts))
    )
    return BalancedClassification(head.labels, tuple(weights.tolist()))
