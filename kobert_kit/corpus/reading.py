"""Documents from files, as a stream: text, JSON lines and Parquet, compressed or not.

Nothing in a file's content ends the job but damage to the file itself: a line or document that
cannot be used is left out and accounted for in the report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kobert_kit.corpus.documents import NOT_UTF8, Document, ReadReport
from kobert_kit.corpus.files import format_of, readable_path
from kobert_kit.corpus.formats.compression import Advance, read_lines
from kobert_kit.corpus.formats.parquet import TooLong, read_rows
from kobert_kit.corpus.formats.raw import TOO_LONG

NOT_JSON = "not JSON"
NOT_OBJECT = "not a JSON object"
NO_TEXT = "no 'text'"
NOT_STRING = "'text' is not a string"
EMPTY = "empty text"

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def read_documents(
    files: Sequence[Path], report: ReadReport, advance: Advance | None = None
) -> Iterator[Document]:
    """The documents of ``files`` (from ``find_files``) in order, in constant memory.

    Texts are kept as they are, except that lone surrogates, which JSON can spell and UTF-8
    cannot, become U+FFFD. A document without an ``id`` gets ``<file name>:<line>``. ``advance``
    is told the bytes on disk consumed since the last call; they add up to ``total_bytes(files)``.

    Raises:
        DataError: a file cannot be read, is truncated or damaged, or is a Parquet file without a
            column ``text``; the documents before that were yielded.
    """
    for path in files:
        report.files += 1
        read = _READERS[format_of(path)]
        for document in read(path, report, advance or _ignore):
            report.keep(document)
            yield document


def _ignore(consumed: int) -> None:
    """The progress that nobody watches."""


def _read_text(path: Path, report: ReadReport, advance: Advance) -> Iterator[Document]:
    """Paragraphs of a line each; a line of white space ends the document."""
    start, paragraphs = 0, list[str]()
    for number, raw in read_lines(path, advance):
        line = _decode(raw)
        if line is None:
            report.skip(path, number, NOT_UTF8)
        elif line and not line.isspace():
            start = start if paragraphs else number
            paragraphs.append(line)
        elif paragraphs:
            yield Document(f"{readable_path(path.name)}:{start}", "\n".join(paragraphs))
            paragraphs = []
    if paragraphs:
        yield Document(f"{readable_path(path.name)}:{start}", "\n".join(paragraphs))


def _read_jsonl(path: Path, report: ReadReport, advance: Advance) -> Iterator[Document]:
    """One JSON object a line; lines of white space are no documents and pass uncounted."""
    for number, raw in read_lines(path, advance):
        line = _decode(raw)
        if line is None:
            report.skip(path, number, NOT_UTF8)
            continue
        if not line or line.isspace():
            continue
        fields = parse_object(line)
        if isinstance(fields, str):
            report.skip(path, number, fields)
        elif "text" not in fields:
            report.skip(path, number, NO_TEXT)
        elif document := _document(path, number, fields, report):
            yield document


def parse_object(line: str) -> dict[str, object] | str:
    """The JSON object that a line holds, or the reason why it holds none."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return NOT_JSON
    return fields if isinstance(fields, dict) else NOT_OBJECT


def _read_parquet(path: Path, report: ReadReport, advance: Advance) -> Iterator[Document]:
    for number, fields in enumerate(read_rows(path, advance), 1):
        if isinstance(fields["text"], bytes):
            report.skip(path, number, NOT_UTF8)
        elif isinstance(fields["text"], TooLong):
            report.skip(path, number, TOO_LONG)
        elif document := _document(path, number, fields, report):
            yield document


_READERS: dict[str, Callable[[Path, ReadReport, Advance], Iterator[Document]]] = {
    ".txt": _read_text,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
}


def _decode(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _document(
    path: Path, number: int, fields: dict[str, object], report: ReadReport
) -> Document | None:
    """The document in ``fields``, or None when its text cannot be used."""
    text = fields["text"]
    if not isinstance(text, str):
        report.skip(path, number, NOT_STRING)
    elif not text or text.isspace():
        report.skip(path, number, EMPTY)
    else:
        id = label(fields.get("id")) or f"{readable_path(path.name)}:{number}"
        return Document(id, encodable(text), label(fields.get("title")))
    return None


def label(value: object) -> str:
    """An id or title as a string; people number their documents, and leave titles null."""
    return "" if value is None else encodable(str(value))


def encodable(text: str) -> str:
    """``text`` with lone surrogates, which JSON can spell and UTF-8 cannot, as U+FFFD."""
    try:
        text.encode()  # several times faster than the search, and nearly always enough
    except UnicodeEncodeError:
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text
