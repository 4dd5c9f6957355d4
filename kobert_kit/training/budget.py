"""How much of a run's budget is spent, in optimizer steps or in minutes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Budget:
    """A budget of ``steps`` or of ``minutes``, whichever is not None.

    ``spent_seconds`` is what earlier, interrupted runs of the same training took.
    """

    steps: int | None
    minutes: float | None
    spent_seconds: float = 0.0
    _started: float = field(default_factory=time.monotonic)

    def seconds(self) -> float:
        """Training time so far, over all runs."""
        return self.spent_seconds + time.monotonic() - self._started

    def progress(self, step: int, seconds: float) -> float:
        """Share in [0, 1] of the budget spent after ``step`` steps and ``seconds``."""
        if self.steps is not None:
            return min(1.0, step / self.steps)
        assert self.minutes is not None
        return min(1.0, seconds / (60.0 * self.minutes))


def parts_spent(share: float, parts: int) -> int:
    """How many of ``parts`` equal parts of a budget are spent once ``share`` of it is."""
    return int(share * parts + 1e-9)  # 15 / 22 * 22 is less than 15
