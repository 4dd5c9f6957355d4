"""Memory that a step has freed stays with the process for the next step.

By default the C library gives large blocks back to the system, which clears every page of them when
it is asked again: 20,000 pages a step of a small model, a tenth of its time.
"""

from __future__ import annotations

import ctypes
import platform

# Of malloc.h. Blocks then all come from the heap, whose free end stays as large as it was.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
KEPT = (1 << 31) - 1  # bytes


def keep_freed_memory() -> bool:
    """Ask for it, once or again; returns whether this system can (Linux with glibc)."""
    if platform.libc_ver()[0] != "glibc":
        return False
    set_option = ctypes.CDLL(None).mallopt
    return bool(set_option(_MMAP_MAX, 0) and set_option(_TRIM_THRESHOLD, KEPT))
