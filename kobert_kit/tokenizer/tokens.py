"""What a tokenizer makes of a text, token by token."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kobert_kit.morphology.splitter import EOJEOL, Piece, Splitter
from kobert_kit.tokenizer.subject import Subject


@dataclass(frozen=True)
class Token:
    """A token, the span of the text that it stands for (code points), and the morpheme that it
    begins in, white space apart: its surface and Kiwi's tag."""

    token: str
    id: int
    start: int
    end: int
    morpheme: str
    tag: str


def tokens_of(subject: Subject, texts: Sequence[str], splitter: Splitter) -> Iterator[list[Token]]:
    """The tokens of each text, without [CLS] and [SEP]; every eojeol is cut as when it is alone."""
    for text, encoding in zip(texts, subject.encode(texts), strict=True):
        pieces = list(_pieces(splitter, text))
        begins = [piece.start for piece in pieces]
        tokens = []
        for name, number, (start, end) in zip(
            encoding.tokens, encoding.ids, encoding.offsets, strict=True
        ):
            morpheme, tag = "", ""
            if visible := EOJEOL.search(text, start, end):
                piece = pieces[bisect_right(begins, visible.start()) - 1]
                morpheme, tag = text[piece.start : piece.end], piece.tag
            tokens.append(Token(name, number, start, end, morpheme, tag))
        yield tokens


def _pieces(splitter: Splitter, text: str) -> Iterator[Piece]:
    for eojeol in EOJEOL.finditer(text):
        before = eojeol.start()
        for piece in splitter.tagged_eojeol(eojeol.group()):
            yield piece._replace(start=before + piece.start, end=before + piece.end)
