"""Files of every kind, cut into records."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from kobert_kit.corpus.files import EXTRACTED, compression_of, format_of
from kobert_kit.corpus.formats.compression import Advance, Damaged, decompress, read_blocks
from kobert_kit.corpus.formats.csv_rows import Row, read_csv
from kobert_kit.corpus.formats.encodings import UTF8, Transcoded
from kobert_kit.corpus.formats.json_files import cut_json
from kobert_kit.corpus.formats.parquet import TooLong, read_copied_rows, read_rows
from kobert_kit.corpus.formats.raw import LONGEST_RECORD, TOO_LONG, FileEnd, Raw, cut_lines
from kobert_kit.corpus.formats.wiki_files import cut_dump, cut_extracted
from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError

TABLES = {".csv": ",", ".tsv": "\t"}
DUMP, JSON, PARQUET = ".xml", ".json", ".parquet"
HTML, MARKDOWN = (".html", ".htm"), (".md", ".markdown")
FORMATS = (".txt", ".jsonl", PARQUET, *TABLES, DUMP, EXTRACTED, JSON, *HTML, *MARKDOWN)
# Packages that not every user needs.
PARSERS = {DUMP: "mwparserfromhell", JSON: "ijson"} | dict.fromkeys(MARKDOWN, "markdown_it")


def read_raw(file: int, path: Path, text_field: str, advance: Advance) -> Iterator[Raw | FileEnd]:
    """The records of one file, and its end. Damage ends the file, never the job."""
    blocks = Transcoded(read_blocks(path, advance))
    if format_of(path, FORMATS) == PARQUET:
        blocks.encoding = UTF8
        records = _cut_rows(file, read_rows(path, advance, text_field))
    else:
        records = _cut(file, path, blocks, text_field)
    yield from _until_end(file, path, path, records, blocks)


def read_member(
    file: int, path: Path, archive: Path, content: Iterable[bytes], text_field: str
) -> Iterator[Raw | FileEnd]:
    """The same of a member of an archive: its ``content``, as it lies there, has the format and
    compression that its ``path`` says."""
    blocks = Transcoded(decompress(content, compression_of(path)))
    if format_of(path, FORMATS) == PARQUET:
        rows = read_copied_rows(path, decompress(content, compression_of(path)), text_field)
        blocks.encoding = UTF8
        records = _cut_rows(file, rows)
    else:
        records = _cut(file, path, blocks, text_field)
    yield from _until_end(file, path, archive, records, blocks)


def _cut(file: int, path: Path, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    return _CUT[format_of(path, FORMATS)](file, blocks, text_field)


def _cut_rows(file: int, rows: Iterator[dict[str, object]]) -> Iterator[Raw]:
    for number, row in enumerate(rows, 1):
        text = row["text"]
        if isinstance(text, TooLong):
            yield Raw(file, number, problem=TOO_LONG, size=text.size)
        else:
            yield Raw(file, number, row)


def _until_end(
    file: int, path: Path, on_disk: Path, records: Iterator[Raw], blocks: Transcoded
) -> Iterator[Raw | FileEnd]:
    """``records`` up to where there are no more, for whichever reason, and the end that it is."""
    problem, line = "", 0
    try:
        before = _stamp(on_disk)
        for record in records:
            line = record.line
            yield record
        if _stamp(on_disk) != before:
            problem = "the file changed while it was read; run the command again on a copy at rest"
    except Damaged as error:
        problem = f"truncated or damaged after line {line:,} ({error})"
    except DataError as error:
        problem = str(error).removeprefix(f"{path}: ")
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    if problem and on_disk.exists() and not on_disk.stat().st_size:
        problem = "the file is empty"
    # It may quote bytes of the file that could not be decoded.
    yield FileEnd(file, blocks.encoding, encodable(problem))


def _stamp(path: Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _cut_jsonl(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    for number, line, size in cut_lines(blocks, LONGEST_RECORD):
        if line is None:
            yield Raw(file, number, problem=TOO_LONG, size=size)
        elif line and not line.isspace():
            yield Raw(file, number, line, blocks.lines_in)


def _cut_text(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """Paragraphs of a line each; a line of white space ends the document, or sheer length.

    So does damage, before which every whole line counts.
    """
    start, paragraphs, size = 0, list[bytes](), 0
    lines = _Lines(blocks)
    for number, line, length in lines:
        ends = line is None or _is_blank(line, blocks.lines_in)
        if line is not None and not ends:
            start = start if paragraphs else number
            paragraphs.append(line)
            size += len(line)
        if paragraphs and (ends or size > LONGEST_RECORD):
            yield Raw(file, start, b"\n".join(paragraphs), blocks.lines_in)
            paragraphs, size = [], 0
        if line is None:
            yield Raw(file, number, problem=TOO_LONG, size=length)
    if paragraphs:
        yield Raw(file, start, b"\n".join(paragraphs), blocks.lines_in)
    if lines.damage:
        raise lines.damage


class _Lines:
    """Lines that end where the file is damaged; ``damage`` says so then."""

    def __init__(self, blocks: Transcoded) -> None:
        self._blocks = blocks
        self.damage: Damaged | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes | None, int]]:
        try:
            yield from cut_lines(self._blocks, LONGEST_RECORD)
        except Damaged as error:
            self.damage = error


def _is_blank(line: bytes, encoding: str) -> bool:
    # Most lines show in a few characters that they are not; the full-width space takes three bytes.
    return not line or line.isspace() or not line[:300].decode(encoding, "replace").strip()


def _cut_whole(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """A file that is one document; of a damaged one what lies before."""
    parts, size, damage = list[bytes](), 0, None
    try:
        for block in blocks:
            size += len(block)
            if size <= LONGEST_RECORD:
                parts.append(block)
            else:
                parts.clear()
    except Damaged as error:
        damage = error
    if size > LONGEST_RECORD:
        yield Raw(file, 1, problem=TOO_LONG, size=size)
    elif size:
        yield Raw(file, 1, b"".join(parts), blocks.lines_in)
    if damage:
        raise damage


def _cut_table(file: int, blocks: Transcoded, text_field: str, delimiter: str) -> Iterator[Raw]:
    """Rows under a header. Tab-separated files know no quoting."""
    csv.field_size_limit(LONGEST_RECORD)
    too_long: list[tuple[int, int]] = []
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    rows = read_csv(_table_lines(blocks, too_long), delimiter=delimiter, quoting=quoting)
    header = _header(next(rows, None), text_field)
    for row in rows:
        yield from (Raw(file, number, problem=TOO_LONG, size=size) for number, size in too_long)
        too_long.clear()
        if row.problem:
            yield Raw(file, row.line, problem=row.problem, size=row.size)
        elif len(row.fields) == len(header):
            fields = dict(zip(header, row.fields, strict=True))
            wanted: dict[str, object] = {n: fields[n] for n in ("id", "title") if n in fields}
            yield Raw(file, row.line, wanted | {"text": fields[text_field]}, blocks.lines_in)
        elif row.fields:
            size = sum(len(field.encode(errors="surrogateescape")) for field in row.fields)
            problem = "more or fewer columns than the header"
            yield Raw(file, row.line, problem=problem, size=size)
    yield from (Raw(file, number, problem=TOO_LONG, size=size) for number, size in too_long)


def _header(first: Row | None, text_field: str) -> list[str]:
    """The names of the columns, of which one, and only one, is ``text_field``."""
    if first is None:
        raise DataError("the file is empty")
    if first.problem:
        raise DataError(f"no table: line {first.line}: {first.problem}")
    header = first.fields
    if not header:
        raise DataError("its first line has no columns")
    if text_field not in header:
        raise DataError(
            f"no column '{text_field}', only {', '.join(header)}; name it with --text-field"
        )
    if header.count(text_field) > 1:
        raise DataError(f"several columns '{text_field}'; rename all but one")
    return header


def _table_lines(blocks: Transcoded, too_long: list[tuple[int, int]]) -> Iterator[str]:
    """Decoded lines; bytes that are not of the encoding become lone surrogates.

    In place of a line that is ``too_long``, which is told with its size, an empty one keeps the
    count right.
    """
    for number, line, size in cut_lines(blocks, LONGEST_RECORD):
        if line is None:
            too_long.append((number, size))
        yield (line or b"").decode(blocks.lines_in, "surrogateescape") + "\n"


Cut = Callable[[int, Transcoded, str], Iterator[Raw]]

_CUT: dict[str, Cut] = {
    ".txt": _cut_text,
    ".jsonl": _cut_jsonl,
    DUMP: cut_dump,
    EXTRACTED: cut_extracted,
    JSON: cut_json,
    **dict.fromkeys((*HTML, *MARKDOWN), _cut_whole),
    **{kind: partial(_cut_table, delimiter=mark) for kind, mark in TABLES.items()},
}
