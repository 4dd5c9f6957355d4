"""Python's garbage collector, where it only costs time."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """For code that keeps millions of small objects, which a collection would go through in vain.

    What is no longer referred to is still freed at once, unless it lies in a cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
