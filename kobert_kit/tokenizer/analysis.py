"""From counted eojeols to the surface morphemes in them, by worker processes.

An eojeol is analysed once, however often it occurs: the analyser is the slow part, and an eojeol
alone gets the same boundaries as in its context nearly always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from math import ceil
from typing import NamedTuple

from kobert_kit.console import progress
from kobert_kit.morphology.workers import split_eojeols
from kobert_kit.processes import ahead
from kobert_kit.tokenizer.pieces import Cuts
from kobert_kit.tokenizer.relatives import Relatives

CHUNK_EOJEOLS = 2_000  # what a worker analyses at a time, a tenth of a second
CHUNKS_AHEAD = 64  # submitted before they are needed, so that no worker waits

# Of more distinct eojeols than ENOUGH, those that occur up to RARE times, 87 % in 75 MB,
# are cut as their relatives are.
ENOUGH_EOJEOLS = 200_000
RARE = 3

Guess = Callable[[str], Cuts | None]


def analyse_eojeols(
    pool: ProcessPoolExecutor, eojeols: Sequence[str]
) -> Iterator[tuple[str, Cuts]]:
    """Every eojeol with the cuts between its surface morphemes, by a pool of `splitting`.

    The order is another, but the same whatever the number of workers is.
    """
    for chunk in _analyse(pool, eojeols, "analyse", _ask):
        yield from chunk.asked()


class Analysis:
    """The analysis of counted eojeols, which begins while they are still being counted.

    Of many eojeols, rare ones are cut as their relatives are, if they have any. A rare one without
    relatives is analysed, and then others have it for one.
    """

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool
        self._begun: list[_Chunk] = []

    def begin(self, counts: Mapping[str, int]) -> None:
        """Have some of those analysed that are common already, while ``counts`` goes on growing."""
        begun = {eojeol for chunk in self._begun for eojeol in chunk.others}
        common = (one for one, count in counts.items() if count > RARE and one not in begun)
        while len(self._begun) < CHUNKS_AHEAD and (part := list(islice(common, CHUNK_EOJEOLS))):
            self._begun.append(_submit(self._pool, part, _ask))

    def finish(self, counts: Mapping[str, int]) -> Iterator[tuple[str, Cuts]]:
        """Every eojeol of ``counts`` with its cuts; the order does not depend on the workers."""
        begun = {eojeol for chunk in self._begun for eojeol in chunk.others}
        rest = [(eojeol, count) for eojeol, count in counts.items() if eojeol not in begun]
        rare = RARE if len(counts) > ENOUGH_EOJEOLS else 0
        relatives = Relatives()
        guess = relatives.cuts
        for chunk in chain(
            self._begun,
            _analyse(self._pool, [one for one, n in rest if n > rare], "analyse", _ask),
            _analyse(self._pool, [one for one, n in rest if n <= rare], "analyse rare", guess),
        ):
            for eojeol, cuts in chunk.asked():
                if eojeol in counts:  # not forgotten since
                    relatives.add(eojeol, cuts, counts[eojeol])
                    yield eojeol, cuts
            yield from chunk.guessed


def _ask(eojeol: str) -> None:
    """No guess: the analyser is asked."""


class _Chunk(NamedTuple):
    """Eojeols that need no analysis, and others, for which the analyser answers."""

    guessed: list[tuple[str, Cuts]]
    others: list[str]
    answers: Future[list[Cuts]]

    def __len__(self) -> int:
        return len(self.guessed) + len(self.others)

    def asked(self) -> Iterator[tuple[str, Cuts]]:
        return zip(self.others, self.answers.result(), strict=True)


def _analyse(
    pool: ProcessPoolExecutor, eojeols: Sequence[str], name: str, guess: Guess
) -> Iterator[_Chunk]:
    if not eojeols:
        return
    with progress(len(eojeols), name, "eojeol", unit_scale=True) as bar:
        # Each a sample of all, so that the time that one takes says how long the rest will take.
        count = ceil(len(eojeols) / CHUNK_EOJEOLS)
        parts = (eojeols[first::count] for first in range(count))
        for chunk in ahead((_submit(pool, part, guess) for part in parts), CHUNKS_AHEAD):
            yield chunk
            bar.update(len(chunk))


def _submit(pool: ProcessPoolExecutor, eojeols: Sequence[str], guess: Guess) -> _Chunk:
    guessed, others = [], []
    for eojeol in eojeols:
        cuts = guess(eojeol)
        if cuts is None:
            others.append(eojeol)
        else:
            guessed.append((eojeol, cuts))
    return _Chunk(guessed, others, pool.submit(split_eojeols, others))
