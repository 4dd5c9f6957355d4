"""What the loop asks of those who use it, and what it gives them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import nn


class Batch(Protocol):
    """``weight`` items (masked tokens, examples) share the loss; ``tokens`` counts real tokens."""

    weight: int
    tokens: int

    def to(self, device: torch.device) -> Batch: ...

    def pinned(self) -> Batch: ...


class Objective(Protocol):
    """What is trained: where its batches, its loss and its evaluation come from."""

    def batch(self, step: int, part: int, parts: int, spent: float) -> Any:
        """Slice ``part`` of ``parts`` of the global batch of optimizer step ``step`` (from 0).

        ``spent`` is the share of the budget that is spent before the step. Must depend on nothing
        else: this is what makes a resumed run exact. Called from several threads.
        """
        ...

    def loss(self, model: nn.Module, batch: Any) -> torch.Tensor:
        """Sum (not mean) of the losses of the batch's items."""
        ...

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        """Values for ``metrics.jsonl``; called in evaluation mode without gradients."""
        ...


class Watch(Protocol):
    """Whoever looks on at a run."""

    def evaluated(self, model: nn.Module, evaluations: Sequence[dict[str, float]]) -> bool:
        """Called after each evaluation, with all of the run so far; True ends the run."""
        ...


@dataclass
class TrainResult:
    """``evaluations`` holds what `Objective.evaluate` gave, in order, each with its step."""

    steps: int
    seconds: float
    tokens: int
    evaluations: list[dict[str, float]] = field(default_factory=list)
