"""Time and memory, read the same way on a CPU and on a GPU."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

STATUS = Path("/proc/self/status")


def now(device: torch.device) -> float:
    """Seconds on a clock that only goes on; what was asked of a GPU before is done by then."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def peak_memory(device: torch.device) -> int:
    """Bytes: of a GPU's tensors since `reset_peak_memory`; on a CPU of the process since it began.

    Linux' own high-water mark comes before `getrusage`, in which a process that another one
    started begins with what that one held.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if STATUS.exists():
        for line in STATUS.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    import resource  # not on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def reset_peak_memory(device: torch.device) -> None:
    """Forget a GPU's peak so far; a process' own cannot be forgotten."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
