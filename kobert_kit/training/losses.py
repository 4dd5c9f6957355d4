"""The losses of the last steps, left on the device until they are asked for."""

from __future__ import annotations

import math

import torch


class RecentLosses:
    """The losses of the steps since the last log; there is one every ``size`` steps.

    ``values`` has the loss of step n (from 0) at n modulo ``size``.
    """

    def __init__(self, size: int, device: torch.device) -> None:
        self.values = torch.zeros(size, device=device)

    def put(self, step: int, loss: torch.Tensor) -> None:
        self.values[step % len(self.values)] = loss

    def mean(self) -> float:
        return self.values.mean().item()

    def first_bad(self, steps: int) -> tuple[int, float] | None:
        """Of the losses since the last log, after ``steps``, the first that is no finite number.

        With its step (from 0); None where there is none.
        """
        if steps == 0:
            return None
        count = (steps - 1) % len(self.values) + 1
        losses = self.values[:count].tolist()
        bad = (i for i, loss in enumerate(losses) if not math.isfinite(loss))
        return next(((steps - count + i, losses[i]) for i in bad), None)
