"""Batches made off the training thread, a few steps ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar

Task = TypeVar("Task")
Made = TypeVar("Made")


class Prefetch(Generic[Task, Made]):
    """Iterates over ``make(task)`` for endless ``tasks``, in order, made before they are asked for.

    A task is drawn in the caller's thread, one more than there are ``workers`` (threads) ahead;
    with 0 workers each is made when it is asked for. ``make`` must depend on its task alone, so
    that the workers decide nothing but the time.
    """

    def __init__(self, make: Callable[[Task], Made], tasks: Iterator[Task], workers: int) -> None:
        self._make, self._tasks, self._workers = make, tasks, workers
        self._pool = ThreadPoolExecutor(workers, "batches") if workers else None
        self._ahead: deque[Future[Made]] = deque()

    def __iter__(self) -> Prefetch[Task, Made]:
        return self

    def __next__(self) -> Made:
        if self._pool is None:
            return self._make(next(self._tasks))
        while len(self._ahead) <= self._workers:
            self._ahead.append(self._pool.submit(self._make, next(self._tasks)))
        return self._ahead.popleft().result()

    def __enter__(self) -> Prefetch[Task, Made]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
