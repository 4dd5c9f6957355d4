"""What a measurement was made on."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """The name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def device() -> str:
    """The name of the GPU or the processor."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else processor()
