"""What every task is asked for, by reading, training and reporting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.formats.files import SplitFiles
from kobert_kit.tasks.heads.kinds import Head


class HasGuid(Protocol):
    """An example: a dataclass of plain values, known by its ``guid``."""

    @property
    def guid(self) -> str: ...


E = TypeVar("E", bound=HasGuid)


class Task(Protocol[E]):
    """How a task reads, encodes, is learnt, decodes and scores.

    ``files`` are the paths of a split in a release, "{split}" in place of train and dev, or a
    `SplitFiles` that names them; the first that is there is read. ``headline`` is the metric to
    rank by, for KLUE's tasks KLUE's. ``outputs`` is always
    what ``head`` gave for the rows of an `Encoded`, an array a row. ``added_tokens`` are entries
    that the task needs beside the tokenizer's, with the ids from the tokenizer's length on.
    ``max_length`` are the tokens of a row where the user names no number.
    """

    @property
    def name(self) -> str: ...

    @property
    def files(self) -> tuple[str | SplitFiles, ...]: ...

    @property
    def headline(self) -> str: ...

    @property
    def head(self) -> Head: ...

    @property
    def added_tokens(self) -> tuple[str, ...]: ...

    @property
    def max_length(self) -> int: ...

    def records(self, path: Path) -> Iterable[tuple[str, Any]]:
        """The raw records of a file, each with where it stands, for messages.

        Raises:
            DataError: the file is not one of this task's kind.
        """
        ...

    def parse(self, record: Any, where: str) -> E:
        """The example in a raw record.

        Raises:
            DataError: the record is bad; says where, its guid, and what is wrong.
        """
        ...

    def parse_hub(self, record: dict[str, Any], where: str) -> E:
        """The example in a row of the hub's data set, whose labels are names by now.

        Raises:
            DataError: as `parse`.
        """
        ...

    def with_label(self, record: Any) -> Any:
        """``record`` itself where it has a label; else one for `parse`, with any label."""
        ...

    def misfits(self, examples: Sequence[E], tokenizer: Any, max_length: int) -> dict[str, str]:
        """What is wrong with examples that cannot be encoded in ``max_length`` tokens, by guid."""
        ...

    def encode(self, examples: Sequence[E], tokenizer: Any, max_length: int) -> Encoded[E]:
        """Rows of at most ``max_length`` tokens, with what the head learns of them."""
        ...

    def score(self, rows: Encoded[E], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        """Metrics by name, times 100; NaN where one is undefined."""
        ...

    def predictions(
        self, rows: Encoded[E], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        """A line of predictions.jsonl for each example, in order: guid, gold, pred and more."""
        ...

    def confusion(
        self, rows: Encoded[E], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        """Gold and predicted labels to count against each other; None where there are none."""
        ...

    def baseline(self, train: Sequence[E], dev: Sequence[E]) -> dict[str, float]:
        """Dev metrics of a model that reads nothing, and always says what is most usual."""
        ...
