"""Wikipedia as it is passed on: the dump of a MediaWiki, and what WikiExtractor makes of one."""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from kobert_kit.corpus.formats.compression import Damaged
from kobert_kit.corpus.formats.encodings import Transcoded
from kobert_kit.corpus.formats.raw import LONGEST_RECORD, TOO_LONG, Raw, cut_lines
from kobert_kit.errors import DataError

REDIRECT, OTHER_PAGE = "a redirect", "not an article but a page of another kind"
NO_END, NO_ARTICLE = "an article that does not end", "in no article"
_FIELDS = ("title", "ns", "id", "text")


class _Pages:
    """Pages of a dump, as the parser comes by them."""

    def __init__(self, file: int) -> None:
        self.found: list[Raw] = []
        self.root = ""
        self._file = file
        self._parser = expat.ParserCreate()
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
        for block in blocks:
            yield from pages.feed(block)
            if pages.root not in ("", "mediawiki"):
                raise DataError(f"not a dump of a MediaWiki, but of <{pages.root}>")
        pages.close()
    except expat.ExpatError as error:
        raise DataError(f"not XML, or damaged: {error}") from None


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
