"""The learning rate as a function of the share of the budget that is spent."""

from __future__ import annotations


def linear_schedule(progress: float, warmup_share: float) -> float:
    """Factor of the peak learning rate at ``progress`` in [0, 1] of the budget.

    Rises linearly from 0 to 1 over the first ``warmup_share``, then falls linearly to 0 at the
    end (Devlin et al. 2019, section A.2).
    """
    if progress < warmup_share:
        return progress / warmup_share
    return max(0.0, (1.0 - progress) / (1.0 - warmup_share))
