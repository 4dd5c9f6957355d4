"""Rows of CSV, of which one with a quote that never closes costs no other."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

UNCLOSED = "a quote that opens here and never closes"


@dataclass(frozen=True, slots=True)
class Row:
    """The ``fields`` of a row; ``line`` is its first one, from 1. Where there is a ``problem``,
    ``size`` says how many bytes of UTF-8 its lines have."""

    line: int
    fields: list[str]
    problem: str = ""
    size: int = 0


class _Lines:
    """Lines, of which those of the ``row`` at hand are kept, to be read again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._again = deque[str]()
        self.row: list[str] = []
        self.number = 0  # of the lines that were read
        self.ended = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines, None)
        if line is None:
            self.ended = True
            raise StopIteration
        self.number += 1
        self.row.append(line)
        return line

    def put_back(self, count: int) -> None:
        """Have all lines of the row but the first ``count`` read again."""
        self._again.extendleft(reversed(self.row[count:]))
        self.number -= len(self.row) - count
        del self.row[count:]


def read_csv(lines: Iterable[str], **style: Any) -> Iterator[Row]:
    r"""The rows of ``lines``, which end in ``\n``; ``style`` is that of `csv.reader`.

    To that a quote that never closes is a field up to the end, or to `csv.field_size_limit`. Here
    the row ends with the line where the quote opens, and the next line begins another.
    """
    source = _Lines(lines)
    rows = csv.reader(source, **style)
    while True:
        source.row, source.ended = [], False
        line, problem = source.number + 1, ""
        try:
            fields = next(rows, None)
        except csv.Error as error:
            fields, problem = [], f"not a row ({error})"
        if fields is None:
            return
        # A row that closes does not ask for a line behind its own.
        too_long = "field limit" in problem
        if source.ended or too_long:
            opens = _opening(source.row[:-1] if too_long else source.row)
            source.put_back(opens + 1)
            line, problem = line + opens, UNCLOSED
        size = sum(map(_size, source.row)) if problem else 0
        yield Row(line, fields, problem, size)


def _opening(row: list[str]) -> int:
    """Which line opens the quote that all behind it are in: the last with more than pairs of
    quotes, for in a quoted field a pair is one that was escaped."""
    return max((at for at, line in enumerate(row) if '"' in line.replace('""', "")), default=0)


def _size(line: str) -> int:
    return len(line.encode(errors="surrogateescape")) - 1  # without its end
