"""From documents to counts: eojeols first, then the surface morphemes in them.

An eojeol is analysed once, however often it occurs: the analyser is the slow part, and an eojeol
alone gets the same boundaries as in its context nearly always.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from kobert_kit.console import progress
from kobert_kit.corpus.documents import Document, ReadReport, require_documents
from kobert_kit.corpus.files import total_bytes
from kobert_kit.corpus.holdout import is_held_out
from kobert_kit.corpus.reading import read_documents
from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.normalize import normalize_text
from kobert_kit.morphology.splitter import EOJEOL, Splitter
from kobert_kit.processes import worker_pool
from kobert_kit.tokenizer.pieces import Cuts

# About 1 GB of distinct eojeols; when there are more, the rarest are forgotten.
MAX_DISTINCT = 6_000_000
CHUNK_EOJEOLS = 2_000  # what a worker analyses at a time, a tenth of a second

# With more distinct ones than this, those that occur once are not analysed: most of the work, and a
# twentieth of the text.
ENOUGH_EOJEOLS = 200_000


@dataclass
class EojeolCounts:
    """How often each distinct eojeol (normalised) occurs, in the training and held-out text.

    ``forgotten`` says up to which count eojeols were dropped to bound the memory; 0 if none were.
    """

    train: Counter[str] = field(default_factory=Counter)
    held_out: Counter[str] = field(default_factory=Counter)
    forgotten: int = 0

    @property
    def left_out(self) -> int:
        """Up to which count eojeols of the training text are not analysed; 0 if all are."""
        return max(self.forgotten, int(len(self.train) > ENOUGH_EOJEOLS))

    def analysed(self) -> Mapping[str, int]:
        """The eojeols of the training text that are worth analysing."""
        if len(self.train) <= ENOUGH_EOJEOLS:
            return self.train
        return {eojeol: count for eojeol, count in self.train.items() if count > 1}


def describe_left_out(most: int) -> str:
    """A line for the terminal: eojeols that occur up to ``most`` times were not analysed."""
    often = "once" if most == 1 else f"at most {most} times"
    return f"eojeols that occur {often} were left out: much work for little of the text"


def read_counts(files: Sequence[Path], held_out_share: float) -> tuple[ReadReport, EojeolCounts]:
    """Read the corpus ``files`` (from ``find_files``) and count its eojeols.

    Raises:
        DataError: the corpus holds no text to train on, or a file is damaged.
    """
    reading = ReadReport()
    with progress(total_bytes(files), "read", "B", unit_scale=True) as bar:
        counts = count_eojeols(read_documents(files, reading, bar.update), held_out_share)
    require_documents(reading, files)
    if not counts.train:
        raise DataError(f"{files[0]}: all documents are held out; lower --held-out or add text")
    return reading, counts


def count_eojeols(
    documents: Iterable[Document], held_out_share: float, max_distinct: int = MAX_DISTINCT
) -> EojeolCounts:
    """Count the eojeols of ``documents``; both tables hold ``max_distinct`` together."""
    counts = EojeolCounts()
    for document in documents:
        table = counts.held_out if is_held_out(document, held_out_share) else counts.train
        table.update(EOJEOL.findall(normalize_text(document.text)))
        while len(counts.train) + len(counts.held_out) > max_distinct:
            counts.forgotten += 1
            counts.train = _more_frequent(counts.train, counts.forgotten)
            counts.held_out = _more_frequent(counts.held_out, counts.forgotten)
    return counts


def _more_frequent(table: Counter[str], floor: int) -> Counter[str]:
    return Counter({eojeol: count for eojeol, count in table.items() if count > floor})


def analyse_eojeols(
    eojeols: Sequence[str], settings: KiwiSettings, workers: int
) -> Iterator[tuple[str, Cuts]]:
    """Every eojeol with the cuts between its surface morphemes, in order, by worker processes.

    Raises:
        DataError: a worker process died, most likely because memory ran out.
    """
    chunks = list(_chunks(eojeols))
    # Forking is not safe on macOS, and not there on Windows.
    method = "fork" if sys.platform == "linux" else "spawn"
    with (
        worker_pool(workers, method, _start_worker, settings) as pool,
        progress(len(eojeols), "analyse", "eojeol", unit_scale=True) as bar,
    ):
        for chunk, cuts in zip(chunks, pool.map(_analyse_chunk, chunks), strict=True):
            yield from zip(chunk, cuts, strict=True)
            bar.update(len(chunk))


def _chunks(eojeols: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(eojeols)
    while chunk := list(islice(rest, CHUNK_EOJEOLS)):
        yield chunk


_split: Callable[[str], Cuts]


def _start_worker(settings: KiwiSettings) -> None:
    global _split
    _split = Splitter(settings).split_eojeol


def _analyse_chunk(eojeols: list[str]) -> list[Cuts]:
    return [_split(eojeol) for eojeol in eojeols]
