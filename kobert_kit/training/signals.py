"""Signals that ask a run to stop."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def signals_collected() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying in the middle of a step."""
    caught: list[int] = []

    def handle(number: int, _frame: object) -> None:
        if caught:  # asked twice: do not wait for the end of the step
            raise KeyboardInterrupt
        caught.append(number)

    try:
        before = {s: signal.signal(s, handle) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: signals are the caller's business
        yield caught
        return
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def first_of(caught: Sequence[int]) -> int:
    """The number of the signal that came first; 0 if none did."""
    return caught[0] if caught else 0
