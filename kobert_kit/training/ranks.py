"""The processes of one run, as torchrun starts them."""

from __future__ import annotations

import os

import torch
from accelerate import PartialState


def join_ranks() -> PartialState:
    """Join the other processes of the run, if there are any.

    Without a GPU accelerate takes each process for a run of its own, unless it is told that the
    CPU is meant.
    """
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return PartialState(cpu=True) if several and not torch.cuda.is_available() else PartialState()
