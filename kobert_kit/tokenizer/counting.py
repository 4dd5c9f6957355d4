"""From documents to counts of eojeols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kobert_kit.console import progress
from kobert_kit.corpus.documents import Document, ReadReport, require_documents
from kobert_kit.corpus.files import total_bytes
from kobert_kit.corpus.holdout import is_held_out
from kobert_kit.corpus.reading import read_documents
from kobert_kit.errors import DataError
from kobert_kit.morphology.splitter import EOJEOL
from kobert_kit.normalize import normalize_text

# About 1 GB of distinct eojeols; when there are more, the rarest are forgotten.
MAX_DISTINCT = 6_000_000
# Of distinct eojeols; each look is at half as many again as the last.
FIRST_LOOK = 100_000

Look = Callable[[Mapping[str, int]], object]


@dataclass
class EojeolCounts:
    """How often each distinct eojeol (normalised) occurs, in the training and held-out text.

    ``forgotten`` says up to which count eojeols were dropped to bound the memory; 0 if none were.
    """

    train: Counter[str] = field(default_factory=Counter)
    held_out: Counter[str] = field(default_factory=Counter)
    forgotten: int = 0


def describe_forgotten(most: int) -> str:
    """A line for the terminal: eojeols that occur up to ``most`` times did not fit into memory."""
    often = "once" if most == 1 else f"at most {most} times"
    return f"eojeols that occur {often} were left out: too many to keep in memory"


def read_counts(
    files: Sequence[Path],
    held_out_share: float,
    watch: Callable[[Iterable[Document]], Iterable[Document]] = iter,
    look: Look = lambda counts: None,
) -> tuple[ReadReport, EojeolCounts]:
    """Read the corpus ``files`` (from ``find_files``) and count its eojeols.

    Each document passes through ``watch``, too. ``look`` is shown the counts of the training text
    now and then, and at the end.

    Raises:
        DataError: the corpus holds no text to train on, or a file is damaged.
    """
    reading = ReadReport()
    with progress(total_bytes(files), "read", "B", unit_scale=True) as bar:
        documents = watch(read_documents(files, reading, bar.update))
        counts = count_eojeols(documents, held_out_share, look=look)
    require_documents(reading, files)
    if not counts.train:
        raise DataError(f"{files[0]}: all documents are held out; lower --held-out or add text")
    return reading, counts


def count_eojeols(
    documents: Iterable[Document],
    held_out_share: float,
    max_distinct: int = MAX_DISTINCT,
    look: Look = lambda counts: None,
) -> EojeolCounts:
    """Count the eojeols of ``documents``; both tables hold ``max_distinct`` together."""
    counts = EojeolCounts()
    next_look = FIRST_LOOK
    for document in documents:
        table = counts.held_out if is_held_out(document, held_out_share) else counts.train
        table.update(EOJEOL.findall(normalize_text(document.text)))
        if len(counts.train) >= next_look:
            look(counts.train)
            next_look = 3 * len(counts.train) // 2
        while len(counts.train) + len(counts.held_out) > max_distinct:
            counts.forgotten += 1
            counts.train = _more_frequent(counts.train, counts.forgotten)
            counts.held_out = _more_frequent(counts.held_out, counts.forgotten)
    look(counts.train)
    return counts


def _more_frequent(table: Counter[str], floor: int) -> Counter[str]:
    return Counter({eojeol: count for eojeol, count in table.items() if count > floor})
