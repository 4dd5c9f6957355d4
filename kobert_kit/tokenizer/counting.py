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

# With more distinct ones than this, not all that occur once are analysed: most of the work, and a
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
    def are_enough(self) -> bool:
        """Whether the training text has so many that those that occur once are worth less work."""
        return len(self.train) > ENOUGH_EOJEOLS

    @property
    def left_out(self) -> int:
        """Up to which count those of the training text are not in ``commoner``; 0 if all are."""
        return max(self.forgotten, int(self.are_enough))

    def commoner(self) -> Mapping[str, int]:
        """The eojeols of the training text, of many those that occur more than once."""
        if not self.are_enough:
            return self.train
        return {eojeol: count for eojeol, count in self.train.items() if count > 1}


def describe_left_out(most: int) -> str:
    """A line for the terminal: eojeols that occur up to ``most`` times were left out."""
    return f"eojeols that occur {_often(most)} were left out: much work for little of the text"


def describe_forgotten(most: int) -> str:
    """A line for the terminal: eojeols that occur up to ``most`` times did not fit into memory."""
    return f"eojeols that occur {_often(most)} were left out: too many to keep in memory"


def _often(most: int) -> str:
    return "once" if most == 1 else f"at most {most} times"


def read_counts(
    files: Sequence[Path],
    held_out_share: float,
    watch: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> tuple[ReadReport, EojeolCounts]:
    """Read the corpus ``files`` (from ``find_files``) and count its eojeols.

    Each document passes through ``watch``, too.

    Raises:
        DataError: the corpus holds no text to train on, or a file is damaged.
    """
    reading = ReadReport()
    with progress(total_bytes(files), "read", "B", unit_scale=True) as bar:
        documents = watch(read_documents(files, reading, bar.update))
        counts = count_eojeols(documents, held_out_share)
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
