"""From a record as it lies in a file to a document, or the reason why it is none."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kobert_kit.corpus.documents import NOT_UTF8
from kobert_kit.corpus.files import EXTRACTED
from kobert_kit.corpus.formats.encodings import UTF8
from kobert_kit.corpus.formats.layouts import fields_of
from kobert_kit.corpus.formats.raw import Raw
from kobert_kit.corpus.reading import EMPTY, NOT_STRING, encodable, label, parse_object
from kobert_kit.corpus.stage.cutting import DUMP, HTML, JSON, MARKDOWN, TABLES

NO_MAIN_TEXT = "no main text"
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Parsed:
    """A record's ``text`` and names, or the ``problem`` that makes it unusable.

    ``bad_lines`` are the lines of its file that could not be decoded and were left out of the text.
    """

    text: str = ""
    id: str = ""
    title: str = ""
    problem: str = ""
    bad_lines: tuple[int, ...] = ()


def parse(raw: Raw, kind: str, text_field: str) -> Parsed:
    """What ``raw``, of a file of ``kind`` (its suffix), holds."""
    if raw.problem:
        return Parsed(problem=raw.problem)
    if kind == ".txt":
        return _parse_text(raw)
    if kind == ".jsonl":
        return _parse_json(raw, text_field)
    if kind == EXTRACTED:
        return _parse_extracted(raw, text_field)
    if kind in HTML:
        from kobert_kit.corpus.formats.html_text import main_text

        return _parse_marked_up(raw, main_text)
    if kind in MARKDOWN:
        from kobert_kit.corpus.formats.markdown_text import markdown_prose

        return _parse_marked_up(raw, markdown_prose)
    if kind == JSON:
        return _parse_layout(raw, text_field)
    assert isinstance(raw.content, dict)
    if kind == DUMP:
        from kobert_kit.corpus.formats.wikitext import prose

        return _from_fields(raw.content | {"text": prose(str(raw.content["text"]))}, "text")
    if kind in TABLES and _has_escaped_bytes(raw.content):
        return Parsed(problem=_undecodable(raw.encoding))
    return _from_fields(raw.content, "text")


def _has_escaped_bytes(fields: dict[str, object]) -> bool:
    """Whether a field holds bytes that could not be decoded, as lone surrogates."""
    try:
        "".join(map(str, fields.values())).encode()
    except UnicodeEncodeError:
        return True
    return False


def _parse_text(raw: Raw) -> Parsed:
    assert isinstance(raw.content, bytes)
    try:
        return Parsed(raw.content.decode(raw.encoding))
    except UnicodeDecodeError:
        pass
    lines, bad = [], []
    for number, line in enumerate(raw.content.split(b"\n"), raw.line):
        try:
            lines.append(line.decode(raw.encoding))
        except UnicodeDecodeError:
            bad.append(number)
    problem = "" if lines else _undecodable(raw.encoding)
    return Parsed("\n".join(lines), problem=problem, bad_lines=tuple(bad))


def _parse_marked_up(raw: Raw, extract: Callable[[str], tuple[str, str]]) -> Parsed:
    parsed = _parse_text(raw)
    if parsed.problem:
        return parsed
    title, text = extract(parsed.text.replace("\r\n", "\n"))
    return replace(parsed, text=text, title=title, problem="" if text else NO_MAIN_TEXT)


def _parse_extracted(raw: Raw, text_field: str) -> Parsed:
    """An article of WikiExtractor: a line of JSON, or text in a tag, under its title."""
    assert isinstance(raw.content, bytes)
    if raw.content.startswith(b"{"):
        return _parse_json(raw, text_field)
    parsed = _parse_text(raw)
    head, _, text = parsed.text.partition("\n")
    fields = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(head)}
    title = fields.get("title", "")
    text = text.removeprefix(f"{title}\n").strip()
    return replace(parsed, text=text, id=fields.get("id", ""), title=title)


def _parse_json(raw: Raw, text_field: str) -> Parsed:
    fields = _object(raw)
    return Parsed(problem=fields) if isinstance(fields, str) else _from_fields(fields, text_field)


def _parse_layout(raw: Raw, text_field: str) -> Parsed:
    """A document in one of the layouts of JSON, or a line that is one."""
    fields = raw.content if isinstance(raw.content, dict) else _object(raw)
    if isinstance(fields, str):
        return Parsed(problem=fields)
    return _from_fields(fields_of(fields, text_field), text_field)


def _object(raw: Raw) -> dict[str, object] | str:
    """The object in a line, or the reason why it holds none."""
    assert isinstance(raw.content, bytes)
    try:
        line = raw.content.decode(raw.encoding)
    except UnicodeDecodeError:
        return _undecodable(raw.encoding)
    return parse_object(line)


def _undecodable(encoding: str) -> str:
    return NOT_UTF8 if encoding == UTF8 else f"not {encoding}"


def _from_fields(fields: dict[str, object], text_field: str) -> Parsed:
    if text_field not in fields:
        return Parsed(problem=f"no '{text_field}'")
    text = fields[text_field]
    if isinstance(text, bytes):
        return Parsed(problem=NOT_UTF8)
    if not isinstance(text, str):
        return Parsed(problem=NOT_STRING)
    if not text or text.isspace():
        return Parsed(problem=EMPTY)
    return Parsed(encodable(text), label(fields.get("id")), label(fields.get("title")))
