"""Signals that ask a run to stop."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Sequence

from kobert_kit.errors import Terminated

# Seconds in which a signal is the same one once more: a terminal's reaches every process of a
# group, and torchrun passes on its own.
REPEATED = 5.0


@contextlib.contextmanager
def signals_collected() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying in the middle of a step.

    One that comes when the first is some seconds old does not wait for the end of the step.
    """
    caught: list[int] = []
    first = 0.0

    def handle(number: int, _frame: object) -> None:
        nonlocal first
        now = time.monotonic()
        if not caught:
            first = now
        elif now - first > REPEATED:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
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
