"""The processes of one run, as torchrun starts them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import torch
from accelerate import Accelerator, DistributedType, PartialState
from accelerate.utils import broadcast_object_list

from kobert_kit.errors import TrainingError, UsageError

# The others wait while rank 0 encodes a corpus; torchrun ends them when a process dies.
PATIENCE = timedelta(hours=12)

# How the back ends of torch.distributed say that a peer is gone; gloo raises a plain RuntimeError.
_PEER_LOST = (
    *("connection closed by peer", "connection reset by peer", "nccl", "broken pipe"),
    "connection was likely closed",  # of the store, while the processes find each other
)


def join_ranks() -> PartialState:
    """Join the other processes of the run, if there are any.

    Without a GPU accelerate takes each process for a run of its own, unless it is told that the
    CPU is meant.
    """
    if _started() == 1:
        return PartialState()
    return PartialState(cpu=not torch.cuda.is_available(), timeout=PATIENCE)


def require_own_placement(accelerator: Accelerator) -> None:
    """Check that how the model lies in the processes is left to `kobert_kit.training.placement`.

    Raises:
        UsageError: accelerate is configured to split it (FSDP, DeepSpeed).
    """
    kind = accelerator.distributed_type
    if kind in (DistributedType.FSDP, DistributedType.DEEPSPEED):
        raise UsageError(
            f"accelerate is configured for {kind.value}; start the run with torchrun instead, and "
            "with --fsdp to split the model over its processes"
        )


def require_same_step(accelerator: Accelerator, step: int, checkpoints: Path) -> None:
    """Check that all processes go on after the same ``step``, which they found in ``checkpoints``.

    Raises:
        TrainingError: this one does not go on where rank 0 does.
    """
    first = [step]
    if accelerator.num_processes > 1:
        broadcast_object_list(first)
    if first[0] != step:
        raise TrainingError(
            f"{checkpoints}: rank {accelerator.process_index} finds the state after step {step} "
            f"there, and rank 0 the one after step {first[0]}; name an --output on a file system "
            "that all machines share"
        )


def _started() -> int:
    """How many processes torchrun has started for the run."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextlib.contextmanager
def lost_ranks_explained(label: str) -> Iterator[None]:
    """Say it in one sentence when another process of the run has died.

    Raises:
        TrainingError: in place of what torch.distributed raises then.
    """
    try:
        yield
    except RuntimeError as error:
        if _started() == 1 or not any(words in str(error).lower() for words in _PEER_LOST):
            raise
        raise TrainingError(
            f"{label}: another process of the run has died; the same command, also with another "
            "number of processes, continues from the last checkpoint"
        ) from error
