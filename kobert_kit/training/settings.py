"""What one training run is told, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kobert_kit.errors import UsageError


@dataclass(frozen=True)
class TrainSettings:
    """Budget, schedule and optimizer of one run.

    Exactly one of ``steps`` (optimizer steps) and ``minutes`` (wall clock, evaluation included)
    is the budget. The learning rate rises linearly over the first ``warmup_share`` of the budget
    and falls linearly to 0 at its end. ``evaluations`` are spread evenly over the budget.
    ``data_workers`` threads make the batches ahead; 0 makes them in the training thread.
    ``sharded`` splits the model over the processes.
    """

    learning_rate: float
    steps: int | None = None
    minutes: float | None = None
    warmup_share: float = 0.1
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-6
    clip_norm: float = 1.0
    accumulation: int = 1
    evaluations: int = 10
    log_every: int = 50
    save_minutes: float = 5.0
    seed: int = 0
    threads: int | None = None
    mixed_precision: str = "no"
    data_workers: int = 1
    compile: bool = False
    sharded: bool = False

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            raise UsageError("name one budget: --steps or --minutes")
        if self.steps is not None and self.steps < 1:
            raise UsageError(f"--steps {self.steps}: at least 1 step")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise UsageError(f"--minutes {self.minutes}: a number of minutes above 0")
        if not 0 < self.learning_rate < math.inf:
            raise UsageError(f"--learning-rate {self.learning_rate}: a number above 0")
