"""Pools of worker processes that end with their parent."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from kobert_kit.errors import DataError, Terminated

Task = TypeVar("Task")

# For workers that need no torch. Forking is not safe on macOS, and not there on Windows.
START_METHOD = "fork" if sys.platform == "linux" else "spawn"


def ahead(tasks: Iterable[Task], count: int) -> Iterator[Task]:
    """Pass ``tasks`` on in order, begun ``count`` at a time: workers stay busy, memory flat."""
    waiting: deque[Task] = deque()
    for task in tasks:
        waiting.append(task)
        if len(waiting) > count:
            yield waiting.popleft()
    yield from waiting


@contextlib.contextmanager
def worker_pool(
    workers: int, start_method: str, start: Callable[..., None], *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes each call ``start(*arguments)`` first.

    Leaving the block drops the work that has not begun, and by a signal also what has.

    Raises:
        DataError: a worker died, most likely because memory ran out.
    """
    context = multiprocessing.get_context(start_method)
    pool = ProcessPoolExecutor(workers, context, _start, (start, arguments))
    try:
        yield pool
    except BrokenProcessPool:
        raise DataError(
            "a worker process died, most likely for lack of memory (each takes about 500 MB); "
            "run with fewer --workers"
        ) from None
    except (KeyboardInterrupt, Terminated):
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Leave Ctrl-C to the parent process, and end with it, also when it is killed.

    A worker of a pool whose parent was killed would wait for work for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked one has its parent's handler
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    start(*arguments)
