"""Large blocks of memory go back to the system as soon as a CPU does not need them any more."""

from __future__ import annotations

import ctypes

M_MMAP_THRESHOLD = -3  # glibc's malloc.h
LARGE = 16 << 20  # bytes


def give_back_large_blocks() -> None:
    """Let glibc map blocks of 16 MB and more, for this process; nothing where it is not glibc.

    It raises its own bound to 32 MB when it meets such blocks. The activations of a step, of which
    no two have one size, then share a heap with what outlives them, and the heap grows full of
    holes.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or none to be asked
        return
    mallopt(M_MMAP_THRESHOLD, LARGE)
