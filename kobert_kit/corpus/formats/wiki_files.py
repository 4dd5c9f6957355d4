"""Wikipedia as it is passed on: the dump of a MediaWiki, and what WikiExtractor makes of one."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from xml.parsers import expat

from kobert_kit.corpus.formats.encodings import UTF8, Transcoded
from kobert_kit.corpus.formats.raw import LONGEST_RECORD, TOO_LONG, Raw, cut_lines
from kobert_kit.errors import DataError

REDIRECT, OTHER_PAGE = "a redirect", "not an article but a page of another kind"
_FIELDS = ("title", "ns", "id", "text")


class _Pages:
    """Pages of a dump, as the parser comes by them."""

    def __init__(self, file: int) -> None:
        self.found: list[Raw] = []
        self.root = ""
        self._file = file
        self._parser = expat.ParserCreate(UTF8)  # whatever the file says that it is in
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._line = 0
        self._fields: dict[str, list[str]] = {}
        self._open: list[str] = []  # the field that text belongs to
        self._redirects = False

    def feed(self, block: bytes) -> list[Raw]:
        self._parser.Parse(block)
        found, self.found = self.found, []
        return found

    def close(self) -> None:
        """Check that the file did not end early."""
        self._parser.Parse(b"", True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.root = self.root or name
        if name == "page":
            self._line, self._fields, self._redirects = self._parser.CurrentLineNumber, {}, False
        elif name == "redirect":
            self._redirects = True
        elif name in _FIELDS and name not in self._fields:  # revisions have ids as well
            self._fields[name] = []
            self._open = [name]

    def _text(self, text: str) -> None:
        if self._open:
            self._fields[self._open[0]].append(text)

    def _end(self, name: str) -> None:
        if self._open == [name]:
            self._open = []
        if name != "page":
            return
        fields = {field: "".join(parts) for field, parts in self._fields.items()}
        if fields.get("ns") != "0" or self._redirects:
            problem = REDIRECT if fields.get("ns") == "0" else OTHER_PAGE
            size = len(fields.get("text", "").encode())
            self.found.append(Raw(self._file, self._line, problem=problem, size=size))
        else:
            kept: dict[str, object] = {key: fields.get(key, "") for key in ("id", "title", "text")}
            self.found.append(Raw(self._file, self._line, kept))


def cut_dump(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """The pages of a ``pages-articles.xml``, each at the line where it begins."""
    pages = _Pages(file)
    try:
        for block in _in_utf8(blocks):
            yield from pages.feed(block)
            if pages.root not in ("", "mediawiki"):
                raise DataError(f"not a dump of a MediaWiki, but of <{pages.root}>")
        pages.close()
    except expat.ExpatError as error:
        raise DataError(f"not XML, or damaged: {error}") from None


def _in_utf8(blocks: Transcoded) -> Iterator[bytes]:
    """``blocks`` for a parser that knows cp949 under no name."""
    decoder: codecs.IncrementalDecoder | None = None
    for block in blocks:
        if blocks.lines_in == UTF8:
            yield block
            continue
        decoder = decoder or codecs.getincrementaldecoder(blocks.lines_in)("replace")
        yield decoder.decode(block).encode()


def cut_extracted(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """Articles between ``<doc ...>`` and ``</doc>``, or a JSON object a line."""
    start, held, size = 0, list[bytes](), 0
    for number, line, length in cut_lines(blocks, LONGEST_RECORD):
        if line is None or size > LONGEST_RECORD:
            yield Raw(file, start or number, problem=TOO_LONG, size=size + length)
            start, held, size = 0, [], 0
        elif start and line == b"</doc>":
            yield Raw(file, start, b"\n".join(held), blocks.lines_in)
            start, held, size = 0, [], 0
        elif start:
            held.append(line)
            size += len(line)
        elif line.startswith(b"<doc "):
            start, held = number, [line]
        elif line.startswith(b"{"):
            yield Raw(file, number, line, blocks.lines_in)
    if start:
        yield Raw(file, start, problem="an article that does not end", size=size)
