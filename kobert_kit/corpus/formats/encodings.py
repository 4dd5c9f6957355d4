"""Which encoding a file is in, decided from its first bytes that are not ASCII."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from kobert_kit.corpus.formats.compression import Damaged

SAMPLE_BYTES = 1 << 18
MARK_BYTES = 1 << 10  # in which a mark, or the zero bytes of UTF-16, are looked for
UTF8, CP949 = "utf-8", "cp949"
_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as the next does
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
)


class Transcoded:
    """Blocks of bytes whose line ends are single ``\\n`` bytes, and the encoding they are from.

    UTF-16 (and UTF-32 with a mark) becomes UTF-8 on the way; cp949 (EUC-KR is part of it) and
    UTF-8 stay, to be decoded line by line, so that damage costs a line. ``encoding`` is what the
    file is in; ``ascii`` until something else has been met.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.encoding = "ascii"
        self._damage: Damaged | None = None
        self._blocks = self._until_damaged(blocks)

    @property
    def lines_in(self) -> str:
        """The encoding of the bytes that come out."""
        return CP949 if self.encoding == CP949 else UTF8

    def __iter__(self) -> Iterator[bytes]:
        first = next(self._blocks, b"")
        while len(first) < MARK_BYTES and (more := next(self._blocks, b"")):
            first += more
        marked = next(((mark, name) for mark, name in _MARKS if first.startswith(mark)), None)
        if marked:
            first, self.encoding = first[len(marked[0]) :], marked[1]
        elif b"\0" in first:
            self.encoding = _utf16_without_mark(first) or self.encoding
        blocks = chain([first], self._blocks)
        if self.encoding.startswith(("utf-16", "utf-32")):
            yield from _to_utf8(blocks, self.encoding)
        else:
            yield from self._watch(blocks)
        if self._damage:
            raise self._damage

    def _until_damaged(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks that are not empty, as decompressors' first ones are; damage waits its turn.

        What was read before it would be lost where blocks are gathered.
        """
        try:
            yield from filter(None, blocks)
        except Damaged as error:
            self._damage = error

    def _watch(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Pass ASCII on until the first other block, and decide by the text from there on."""
        for block in blocks:
            if self.encoding != "ascii" or block.isascii():
                yield block
                continue
            sample = [block]
            while sum(map(len, sample)) < SAMPLE_BYTES and (more := next(blocks, b"")):
                sample.append(more)
            self.encoding = detect(b"".join(sample))
            yield from sample


def detect(sample: bytes) -> str:
    """``utf-8`` or ``cp949``, whichever leaves fewer lines of ``sample`` that it cannot decode.

    In a draw the characters decide, for a file may be a single line, and then UTF-8 wins.
    """
    lines = [line for line in sample.split(b"\n") if not line.isascii()]
    bad = {name: sum(not _decodes(line, name) for line in lines) for name in (UTF8, CP949)}
    if bad[CP949] == bad[UTF8] > 0:
        bad = {name: sample.decode(name, "replace").count("\ufffd") for name in bad}
    return CP949 if bad[CP949] < bad[UTF8] else UTF8


def _decodes(line: bytes, encoding: str) -> bool:
    """Whether ``line`` is of ``encoding``, or its beginning, cut inside a character."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(line)
    except UnicodeDecodeError:
        return False
    return True


def _utf16_without_mark(first: bytes) -> str | None:
    """By where the zero bytes of spaces, digits and line ends lie: every other place, or nowhere.

    Stray NUL characters of a text in bytes lie anywhere, and are few; 가 has a zero byte as well.
    """
    even, odd = first[::2].count(0), first[1::2].count(0)
    if even + odd < len(first) / 50 or 3 * min(even, odd) > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _to_utf8(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Transcode; what is not of the encoding becomes U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
