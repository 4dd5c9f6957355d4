"""Records of files of one's own: tables of tabs or commas, JSON, and a word a line.

- ``tsv``: a tab between fields, and quotes are quotes.
- ``csv``: a comma between fields, and quotes around a field that holds commas or ends of lines.
- ``json``: a list of objects; ``jsonl``: an object a line.
- ``words``: a word or character and its tag a line, tabs between fields; a blank line ends a
  sentence.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kobert_kit.errors import DataError
from kobert_kit.tasks.formats.official import json_records, read_text
from kobert_kit.tasks.formats.parse import short
from kobert_kit.tasks.own.description import Columns, Layout
from kobert_kit.tasks.own.toml_table import near


@dataclass(frozen=True)
class Row:
    """A record by column. ``guid`` stands for it where no column does: its file and line."""

    guid: str
    values: dict[str, Any]


Raw = Row | str  # a record, or what is wrong with it


def read_rows(path: Path, layout: Layout, columns: Columns, task: str) -> Iterator[tuple[str, Raw]]:
    """The records of ``path``, each with where it stands.

    Raises:
        DataError: the file cannot be read, or lacks a column.
    """
    if layout.format == "json":
        for number, (where, record) in enumerate(json_records(path, task), start=1):
            yield where, _row(record, f"{path.stem}-{number}")
    elif layout.format == "jsonl":
        yield from _json_lines(path)
    elif layout.format == "words":
        yield from _sentences(path, layout, columns)
    else:
        yield from _table(path, layout, columns)


def _row(record: Any, guid: str) -> Raw:
    if not isinstance(record, dict):
        return f"expected an object with fields, found {short(record)}"
    return Row(guid, record)


def _json_lines(path: Path) -> Iterator[tuple[str, Raw]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                raw = _row(json.loads(line), f"{path.stem}-{number}")
            except (ValueError, RecursionError):
                raw = f"not JSON: {short(line)}"
            yield f"{path}:{number}", raw


def _table(path: Path, layout: Layout, columns: Columns) -> Iterator[tuple[str, Raw]]:
    lines = _csv_lines(path) if layout.format == "csv" else _tsv_lines(path)
    names: list[str] | None = None
    for number, fields in lines:
        if names is None:
            names = fields if layout.header else _numbers(fields)
            _check_columns(path, names, columns, layout.header)
            if layout.header:
                continue
        raw: Raw = Row(f"{path.stem}-{number}", dict(zip(names, fields, strict=False)))
        if len(fields) != len(names):
            raw = f"{len(fields)} fields, where the first line has {len(names)}"
        yield f"{path}:{number}", raw


def _tsv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    # Not splitlines(): a text may hold a character that it takes for a line's end.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.removesuffix("\r").split("\t")


def _csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    number = 1
    try:
        for fields in reader:
            if fields:
                yield number, fields
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}:{number}: not CSV ({error})") from None


def _numbers(fields: Iterable[str]) -> list[str]:
    return [str(number) for number, _ in enumerate(fields, start=1)]


def _check_columns(path: Path, names: list[str], columns: Columns, header: bool) -> None:
    for name, key in columns.names().items():
        # What is to be predicted has no label, and an example without one is told by itself.
        if name not in names and name != columns.label:
            there = f"the header has {', '.join(names)}" if header else f"there are {len(names)}"
            guess = _guess(name, names) if header else ""
            raise DataError(f"{path}: no column {name} for 'columns.{key}'{guess}; {there}")


def _guess(name: str, names: list[str]) -> str:
    """What was probably meant, where the header has no column ``name``."""
    [first, *others] = names
    if not others and name in first.split(","):
        return ' (commas part the fields? say format = "csv")'
    return near(name, names)


def _sentences(path: Path, layout: Layout, columns: Columns) -> Iterator[tuple[str, Raw]]:
    """A row a sentence, each column a list."""
    last = max(map(int, columns.names()))
    texts = max(int(name) for name in columns.names() if name != columns.label)
    lines: list[list[str]] = []
    first = 1
    for number, line in enumerate([*read_text(path).split("\n"), ""], start=1):
        line = line.removesuffix("\r")
        if line.strip(" "):
            if not layout.comment or not line.startswith(layout.comment):
                lines.append(line.split("\t"))
            continue
        if lines:
            without_tags = all(len(fields) < last for fields in lines)
            width = texts if without_tags else last
            yield f"{path}:{first}", _sentence(lines, width, f"{path.stem}-{first}")
        lines, first = [], number + 1


def _sentence(lines: list[list[str]], width: int, guid: str) -> Raw:
    for fields in lines:
        if len(fields) < width:
            return f"{short(chr(9).join(fields))} has no column {width}"
    return Row(guid, {str(n + 1): [fields[n] for fields in lines] for n in range(width)})
