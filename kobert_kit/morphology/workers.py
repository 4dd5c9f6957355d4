"""Worker processes that split, each with its own analyser."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.processes import START_METHOD, worker_pool


@contextlib.contextmanager
def splitting(settings: KiwiSettings, workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool for the functions below. Its workers load their analysers while the caller goes on.

    Raises:
        DataError: a worker process died, most likely because memory ran out.
    """
    with worker_pool(workers, START_METHOD, _start, settings) as pool:
        pool.submit(split_eojeols, ())
        yield pool


def split_eojeols(eojeols: Sequence[str]) -> list[tuple[int, ...]]:
    """In a worker: the cuts of normalised eojeols, each analysed alone."""
    return [_splitter.split_eojeol(eojeol) for eojeol in eojeols]


def split_text(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """In a worker: `Splitter.split_text`."""
    return _splitter.split_text(text)


_splitter: Splitter


def _start(settings: KiwiSettings) -> None:
    global _splitter
    if hasattr(os, "nice"):
        os.nice(5)  # the process that reads for them goes first
    _splitter = Splitter(settings)
    _splitter.split_eojeol("우리말")  # loads the analyser
