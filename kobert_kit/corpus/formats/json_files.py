"""JSON files as a stream, one document in memory at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from kobert_kit.corpus.formats.compression import Damaged
from kobert_kit.corpus.formats.encodings import Transcoded
from kobert_kit.corpus.formats.json_constants import null_constants
from kobert_kit.corpus.formats.json_escapes import replace_halves
from kobert_kit.corpus.formats.layouts import documents_in
from kobert_kit.corpus.formats.raw import LONGEST_RECORD, TOO_LONG, Raw, cut_lines
from kobert_kit.errors import DataError

# Documents lie in an array, or in one under one of these keys (Modu; AI-Hub); such an object may
# itself lie in an array (AI-Hub's papers).
_KEYS = {"document", "documents", "data", "info"}
_KEYS_IN_ARRAY = {"data"}
_DEEPEST = 100  # levels of a document; no corpus has a tenth of it
_NO_DEEPER = 10_000  # levels of a file; the parser's time grows with their square
LONGEST_VALUE = 8 * LONGEST_RECORD  # bytes; the parser holds a string until it is complete
_VIEW = 1 << 16  # bytes by which it shows whether a file has a document a line
_LONGEST_VIEW = 1 << 20  # bytes, where it takes as many to see two lines
_DAMAGE = "\ufdd0"  # for bytes that cannot be decoded: no character, so no text has it
UNDECODABLE = "bytes that are not of the file's encoding"
NO_OBJECT = "no object, where documents stand"
TOO_DEEP = f"nested deeper than {_DEEPEST} levels"


def _mark_damage(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return _DAMAGE, error.end


codecs.register_error("kobert_kit.mark_damage", _mark_damage)


class _Stream:
    """Blocks as a file in UTF-8, as far as the parser asks for; damage to its bytes is marked.

    ``waiting`` counts the bytes since the last event, which sets it to 0. The parser goes over a
    value that is not complete from its beginning each time, so it gets twice as much each time.
    """

    def __init__(self, blocks: Iterable[bytes], transcoded: Transcoded) -> None:
        self._blocks, self._transcoded = iter(blocks), transcoded
        self._decoder: codecs.IncrementalDecoder | None = None
        self._damage: Damaged | None = None
        self.waiting = 0

    def read(self, size: int) -> bytes:
        if size == 0:
            return b""
        if self._damage:
            raise self._damage
        parts, have = [self._next()], 0
        try:
            while parts[-1] and (have := have + len(parts[-1])) < self.waiting:
                parts.append(self._next())
        except Damaged as error:  # what lies before it comes first
            self._damage = error
        self.waiting += have
        if self.waiting > LONGEST_VALUE:
            raise DataError(
                f"a value longer than {LONGEST_VALUE >> 20} MiB; what follows is not read"
            )
        return b"".join(parts)

    def _next(self) -> bytes:
        block = next((block for block in self._blocks if block), b"")
        # Until something else than ASCII came, its encoding is not known.
        if self._decoder is None and block.isascii():
            return block
        decode = self._decode(block)
        # Half a character at the end of a block waits for the rest of it.
        while not (text := decode(block, not block)) and block:
            block = next(self._blocks, b"")
        return bytes(text.encode())

    def _decode(self, block: bytes) -> Any:
        if self._decoder is None:
            make = codecs.getincrementaldecoder(self._transcoded.lines_in)
            self._decoder = make("kobert_kit.mark_damage")
        return self._decoder.decode


class _Builder:
    """One value from the parser's events; ``problem`` says why it is no document."""

    def __init__(self, level: int) -> None:
        import ijson

        self._value = ijson.ObjectBuilder()
        self._level, self._size = level, 0
        self.problem = ""

    def event(self, event: str, value: Any) -> None:
        if isinstance(value, str):
            self._size += len(value.encode(errors="surrogatepass"))
            if _DAMAGE in value:
                self.problem = UNDECODABLE
        if self._size > LONGEST_RECORD:
            self.problem = TOO_LONG
        elif not self.problem:
            self._value.event(event, value)

    def ends(self, depth: int) -> bool:
        return depth == self._level

    def has_text(self, text_field: str) -> bool:
        """Whether the value has its text already."""
        return isinstance(self._value.value.get(text_field), str)

    def raws(self, file: int, number: int) -> Iterator[Raw]:
        """The document or, from ``number`` on, those in it."""
        if self.problem:
            yield Raw(file, number, problem=self.problem, size=self._size)
            return
        value = self._value.value
        for at, document in enumerate(documents_in(value) or [value], number):
            yield Raw(file, at, document)


def cut_json(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """The documents of a JSON file, each with its number from 1 for a line.

    They lie in an array, or in one in an object (``_KEYS``); or an object is itself one, and more
    may follow, a line each.
    """
    head, rest = _peek(blocks)
    if _is_lines(head):
        for number, line, size in cut_lines(chain([head], rest), LONGEST_RECORD):
            if line is None:
                yield Raw(file, number, problem=TOO_LONG, size=size)
            elif line and not line.isspace():
                yield Raw(file, number, line, blocks.lines_in)
        return
    parts = (head[at : at + _VIEW] for at in range(0, len(head), _VIEW))
    readable = null_constants(replace_halves(chain(parts, rest)))
    yield from _parse(file, _Stream(readable, blocks), text_field)


def _peek(blocks: Transcoded) -> tuple[bytes, Iterator[bytes]]:
    """The first lines, of which the last has an end if the file has one there; and the rest."""
    rest, head = iter(blocks), b""
    try:
        while len(head) < _VIEW or (head.count(b"\n") < 2 and len(head) < _LONGEST_VIEW):
            block = next(rest, b"")
            if not block:
                return head + b"\n" * (bool(head) and not head.endswith(b"\n")), rest
            head += block
    except Damaged as error:
        return head, _damaged(error)
    return head, rest


def _damaged(error: Damaged) -> Iterator[bytes]:
    """Damage that comes after what was read before it."""
    raise error
    yield b""


def _is_lines(head: bytes) -> bool:
    """Whether there is a document a line, some damaged perhaps.

    If at least half of the lines are objects of their own: in a single value there is a line
    before, between and behind them, or they end in a comma.
    """
    *lines, cut = head.split(b"\n")
    lines = [line for line in lines if line.strip()]
    if len(lines) == 1 and not cut.lstrip().startswith(b"{"):
        return False
    return bool(lines) and 2 * sum(map(_is_object, lines)) >= len(lines)


def _is_object(line: bytes) -> bool:
    """Whether a line is an object that may be a document, and holds no others."""
    line = line.strip()
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return False
    try:
        value = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or documents_in(value):
        return False
    return not any(map(_holds_objects, map(value.get, _KEYS)))


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _parse(file: int, stream: _Stream, text_field: str) -> Iterator[Raw]:
    import ijson

    number = objects = depth = 0
    top = 0  # levels above an object that may hold documents: 1 in an array
    keys, key, holds = _KEYS, "", False  # its fields that may; the one at hand; whether any does
    listed: int | None = None  # values of a list that may hold documents
    builder: _Builder | None = None
    try:
        for event, value in ijson.basic_parse(stream, multiple_values=True):
            stream.waiting = 0
            opens, closes = event.startswith("start_"), event.startswith("end_")
            depth -= closes
            if depth == 0 and opens:
                top = int(event == "start_array")
                keys = _KEYS_IN_ARRAY if top else _KEYS
            if depth == top and opens:
                key, holds = "", False
            if depth == top + 1:  # a list is only a field until an object shows in it
                listed = 0 if event == "start_array" and key in keys else None
            elif depth == top + 2 and listed is not None and not closes:
                listed += 1
                if event == "start_map" and not (builder and builder.has_text(text_field)):
                    holds, builder = True, None
                    yield from (Raw(file, number + n, problem=NO_OBJECT) for n in range(1, listed))
                    number, listed = number + listed - 1, None
            may_be_document = depth == top or (depth == top + 2 and holds and key in keys)
            if builder is None and may_be_document and event == "start_map":
                builder = _Builder(depth)
            elif builder is None and may_be_document and depth and not closes:
                number += 1
                yield Raw(file, number, problem=NO_OBJECT)
            if builder is not None:
                builder.event(event, value)
                if closes and builder.ends(depth):
                    for raw in builder.raws(file, number + 1):
                        number, objects = raw.line, objects + 1
                        yield raw
                    builder = None
            if event == "map_key" and depth == top + 1:
                key = value
            if event == "start_map" and depth == top + 1:
                key = ""  # what is in it is in no array
            depth += opens
            if depth > _DEEPEST and builder is not None:
                builder.problem = TOO_DEEP
            if depth > _NO_DEEPER:
                raise DataError(
                    f"nested deeper than {_NO_DEEPER:,} levels after document {number:,}; "
                    "what follows is not read"
                )
    except (ijson.JSONError, ValueError, ArithmeticError) as error:  # the latter two of Python's
        # The parser's message is b'...' where it quotes bytes that cannot be decoded.
        said = re.sub(r"^b['\"]", "", str(error)).replace("\\'", "'")
        what = re.split(r"\s*(?:\n|\\n|b['\"])", said)[0].rstrip(". ")[:80]
        raise DataError(f"not JSON, or damaged after document {number:,} ({what})") from None
    if not objects:
        raise DataError("no documents in a layout of JSON that is known here")
