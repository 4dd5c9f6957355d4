"""From counted eojeols to the surface morphemes in them, by worker processes.

An eojeol is analysed once, however often it occurs: the analyser is the slow part, and an eojeol
alone gets the same boundaries as in its context nearly always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from math import ceil
from typing import NamedTuple

from kobert_kit.console import progress
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.processes import START_METHOD, ahead, worker_pool
from kobert_kit.tokenizer.pieces import Cuts
from kobert_kit.tokenizer.relatives import Relatives

CHUNK_EOJEOLS = 2_000  # what a worker analyses at a time, a tenth of a second
CHUNKS_AHEAD = 64  # submitted before they are needed, so that no worker waits

Guess = Callable[[str], Cuts | None]


def analyse_eojeols(
    eojeols: Sequence[str], settings: KiwiSettings, workers: int
) -> Iterator[tuple[str, Cuts]]:
    """Every eojeol with the cuts between its surface morphemes, by worker processes.

    The order is another, but the same whatever ``workers`` is.

    Raises:
        DataError: a worker process died, most likely because memory ran out.
    """
    with _pool(settings, workers) as pool:
        yield from _analyse(pool, eojeols, "analyse", _ask)


def analyse_with_relatives(
    eojeols: Mapping[str, int], settings: KiwiSettings, workers: int
) -> Iterator[tuple[str, Cuts]]:
    """As `analyse_eojeols`, but what occurs once is cut as its relatives are, if it has any."""
    common = [eojeol for eojeol, count in eojeols.items() if count > 1]
    once = [eojeol for eojeol, count in eojeols.items() if count == 1]
    relatives = Relatives()
    with _pool(settings, workers) as pool:
        for eojeol, cuts in _analyse(pool, common, "analyse", _ask):
            relatives.add(eojeol, cuts, eojeols[eojeol])
            yield eojeol, cuts
        if once:
            yield from _analyse(pool, once, "analyse rare", relatives.cuts)


def _ask(eojeol: str) -> None:
    """No guess: the analyser is asked."""


class _Chunk(NamedTuple):
    """Eojeols with guesses; the analyser answers for those without."""

    eojeols: list[str]
    guesses: list[Cuts | None]
    answers: Future[list[Cuts]]

    def cuts(self) -> Iterator[tuple[str, Cuts]]:
        answers = iter(self.answers.result())
        for eojeol, guess in zip(self.eojeols, self.guesses, strict=True):
            yield eojeol, next(answers) if guess is None else guess


def _analyse(
    pool: ProcessPoolExecutor, eojeols: Sequence[str], name: str, guess: Guess
) -> Iterator[tuple[str, Cuts]]:
    with progress(len(eojeols), name, "eojeol", unit_scale=True) as bar:
        chunks = (_submit(pool, part, guess) for part in _parts(eojeols))
        for chunk in ahead(chunks, CHUNKS_AHEAD):
            yield from chunk.cuts()
            bar.update(len(chunk.eojeols))


def _parts(eojeols: Sequence[str]) -> Iterator[Sequence[str]]:
    """Each a sample of all, so that the time that one takes says how long the rest will take."""
    count = ceil(len(eojeols) / CHUNK_EOJEOLS)
    return (eojeols[first::count] for first in range(count))


def _submit(pool: ProcessPoolExecutor, eojeols: Sequence[str], guess: Guess) -> _Chunk:
    guesses = [guess(eojeol) for eojeol in eojeols]
    asked = [eojeol for eojeol, cuts in zip(eojeols, guesses, strict=True) if cuts is None]
    return _Chunk(list(eojeols), guesses, pool.submit(_analyse_chunk, asked))


def _pool(settings: KiwiSettings, workers: int) -> AbstractContextManager[ProcessPoolExecutor]:
    return worker_pool(workers, START_METHOD, _start_worker, settings)


_split: Callable[[str], Cuts]


def _start_worker(settings: KiwiSettings) -> None:
    global _split
    _split = Splitter(settings).split_eojeol


def _analyse_chunk(eojeols: list[str]) -> list[Cuts]:
    return [_split(eojeol) for eojeol in eojeols]
