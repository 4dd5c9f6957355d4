"""Wikipedia as it is passed on: the dump of a MediaWiki, and what WikiExtractor makes of one."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from xml.parsers import expat

from kobert_kit.corpus.formats.compression import Damaged
from kobert_kit.corpus.formats.encodings import CP949, Transcoded
from kobert_kit.corpus.formats.raw import LONGEST_RECORD, TOO_LONG, Raw, cut_lines
from kobert_kit.errors import DataError

REDIRECT, OTHER_PAGE = "a redirect", "not an article but a page of another kind"
NO_END, NO_ARTICLE = "an article that does not end", "in no article"
DAMAGED_PAGE, PAGE_NO_END = "a page of damaged XML", "a page that does not end"
_FIELDS = ("title", "ns", "id", "text")
_ROOT, _PAGE = b"<mediawiki>", b"<page>"


class _Pages:
    """Pages of a dump, as the parser comes by them.

    Behind damage a new parser begins with the next ``<page>``, which text cannot hold unescaped.
    """

    def __init__(self, file: int) -> None:
        self.root = ""
        self._file = file
        self._found: list[Raw] = []
        self._begin()
        self._lines = 0  # that ended before the parser, or the search, came to where it is
        self._seeks, self._held = False, b""  # a page, and what may be the first bytes of it
        self._damage, self._at = "", 0  # the last, with its line, and where it costs a page

    def _begin(self) -> None:
        # All that comes is UTF-8, whatever the file declares.
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._before = self._fed = 0  # lines before the parser's first, and bytes it was given
        self._line = 0  # where the page begins, 0 outside of pages
        self._fields: dict[str, list[str]] = {}
        self._sizes: dict[str, int] = {}  # of the fields, in bytes
        self._open: list[str] = []  # the field that text belongs to
        self._redirects = False

    def feed(self, block: bytes) -> Iterator[Raw]:
        """The pages that end in ``block``, and those that damage costs."""
        while block:
            if self._seeks and not (block := self._seek(block)):
                return
            block = self._parse(block)
            yield from self._found
            self._found.clear()

    def close(self) -> Iterator[Raw]:
        """What is left at the end.

        Raises:
            DataError: the file ended early, or nothing could be read behind damage.
        """
        if not self._seeks:
            self._parse(b"", True)
        elif self._line:
            yield self._lost(len(self._held))
        if self._damage:
            raise DataError(f"not XML, or damaged: {self._damage}")

    def _parse(self, block: bytes, final: bool = False) -> bytes:
        """Parse ``block``; where it is damaged, return the rest of it, to be searched."""
        try:
            self._parser.Parse(block, final)
            self._fed += len(block)
            self._lines += block.count(b"\n")
            return b""
        except expat.ExpatError as error:
            line = self._before + self._parser.ErrorLineNumber
            self._damage = f"{expat.ErrorString(error.code)}: line {line:,}"
            self._at = self._line or line
            at = max(0, self._parser.ErrorByteIndex - self._fed)
        self._seeks = True
        self._lines += block.count(b"\n", 0, at)
        return block[at:]

    def _seek(self, block: bytes) -> bytes:
        """``block`` from the next page on; nothing where it has none."""
        block = self._held + block
        at = block.find(_PAGE)
        end = at if at >= 0 else max(0, len(block) - len(_PAGE) + 1)
        self._held = block[end:] if at < 0 else b""
        self._lines += block.count(b"\n", 0, end)
        self._sizes["text"] = self._sizes.get("text", 0) + end
        if at < 0:
            return b""
        lost, lines = self._lost(), self._lines
        self._begin()
        self._parser.Parse(_ROOT)
        self._before, self._fed = lines, len(_ROOT)
        self._found.append(lost)
        self._seeks, self._damage = False, ""
        return block[at:]

    def _lost(self, more: int = 0) -> Raw:
        size = self._sizes.get("text", 0) + more
        return Raw(self._file, self._at, problem=DAMAGED_PAGE, size=size)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.root = self.root or name
        if name == "page":
            if self._line:
                size = self._sizes.get("text", 0)
                self._found.append(Raw(self._file, self._line, problem=PAGE_NO_END, size=size))
            self._line = self._before + self._parser.CurrentLineNumber
            self._fields, self._sizes, self._open, self._redirects = {}, {}, [], False
        elif name == "redirect":
            self._redirects = True
        elif name in _FIELDS and name not in self._fields:  # revisions have ids as well
            self._fields[name], self._sizes[name] = [], 0
            self._open = [name]

    def _text(self, text: str) -> None:
        if not self._open:
            return
        name = self._open[0]
        self._sizes[name] += len(text.encode())
        if self._sizes[name] <= LONGEST_RECORD:
            self._fields[name].append(text)
        else:
            self._fields[name].clear()

    def _end(self, name: str) -> None:
        if self._open == [name]:
            self._open = []
        if name == "page":
            self._found.append(self._page())
            self._line, self._sizes = 0, {}

    def _page(self) -> Raw:
        fields = {field: "".join(parts) for field, parts in self._fields.items()}
        problem = ""
        if fields.get("ns") != "0":
            problem = OTHER_PAGE
        elif self._redirects:
            problem = REDIRECT
        elif max(self._sizes.values()) > LONGEST_RECORD:
            problem = TOO_LONG
        if problem:
            size = self._sizes.get("text", 0)
            return Raw(self._file, self._line, problem=problem, size=size)
        kept: dict[str, object] = {key: fields.get(key, "") for key in ("id", "title", "text")}
        return Raw(self._file, self._line, kept)


def cut_dump(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """The pages of a ``pages-articles.xml``, each at the line where it begins."""
    pages = _Pages(file)
    for block in _in_utf8(blocks):
        yield from pages.feed(block)
        if pages.root not in ("", "mediawiki"):
            raise DataError(f"not a dump of a MediaWiki, but of <{pages.root}>")
    yield from pages.close()


def _in_utf8(blocks: Transcoded) -> Iterator[bytes]:
    """``blocks`` with bytes that cannot be decoded as they are, which the parser will not take."""
    decoder = codecs.getincrementaldecoder(CP949)("surrogateescape")
    for block in blocks:
        if blocks.lines_in == CP949:
            block = decoder.decode(block).encode(errors="surrogateescape")
        yield block


class _Article:
    """Lines of WikiExtractor from ``<doc ...>`` on, or where ``problem`` says that none stands."""

    def __init__(self, file: int, line: int, problem: str = "") -> None:
        self.problem, self.outside = problem, bool(problem)
        self._file, self._line = file, line
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, line: bytes | None, size: int) -> None:
        self._size += size
        if line is None or self._size > LONGEST_RECORD:
            self.problem = self.problem or TOO_LONG
        if self.problem:
            self._lines.clear()
        else:
            self._lines.append(line or b"")

    def raw(self, encoding: str, problem: str = "") -> Raw:
        if problem := self.problem or problem:
            return Raw(self._file, self._line, problem=problem, size=self._size)
        return Raw(self._file, self._line, b"\n".join(self._lines), encoding)


def cut_extracted(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """Articles between ``<doc ...>`` and ``</doc>``, or a JSON object a line.

    What lies elsewhere, as behind a damaged ``<doc``, is a record with a problem, and so is an
    article in which another begins.
    """
    article: _Article | None = None
    damage: Damaged | None = None
    try:
        for number, line, size in cut_lines(blocks, LONGEST_RECORD):
            if article and line == b"</doc>":
                yield article.raw(blocks.lines_in)
                article = None
                continue
            if line is not None and _begins(line, article):
                if article:
                    yield article.raw(blocks.lines_in, NO_END)
                article = None
                if line.startswith(b"{"):
                    yield Raw(file, number, line, blocks.lines_in)
                    continue
                article = _Article(file, number)
            elif article is None:
                if line is not None and not line.strip():
                    continue
                article = _Article(file, number, TOO_LONG if line is None else NO_ARTICLE)
            article.add(line, size)
    except Damaged as error:
        damage = error
    if article:
        yield article.raw(blocks.lines_in, NO_END)
    if damage:
        raise damage


def _begins(line: bytes, article: _Article | None) -> bool:
    """Whether a record begins in ``line``; in an article a brace is text."""
    if article is None or not article.outside:
        return line.startswith(b"<doc ") or (article is None and line.startswith(b"{"))
    return line.startswith((b"<doc ", b'{"'))  # text may begin with a brace
