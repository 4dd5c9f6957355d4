"""Where sentences begin, as Kiwi sees it: also where no full stop tells."""

from __future__ import annotations

from collections.abc import Iterator

from kobert_kit.morphology.kiwi import analyser
from kobert_kit.morphology.splitter import MAX_CHARS


def kiwi_sentence_starts(text: str) -> list[int]:
    """Where the sentences of ``text`` begin, in code points, in order; every line begins one."""
    starts: list[int] = []
    kiwi = analyser()
    for offset, line in _pieces(text):
        starts += (offset + sentence.start for sentence in kiwi.split_into_sents(line))
    return starts


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Lines with where they begin; a longer one in pieces, cut at white space where it has any."""
    offset = 0
    for line in text.split("\n"):
        start = 0
        while len(line) - start > MAX_CHARS:
            end = line.rfind(" ", start + MAX_CHARS // 2, start + MAX_CHARS)
            end = end if end > 0 else start + MAX_CHARS
            yield offset + start, line[start:end]
            start = end
        if start < len(line):
            yield offset + start, line[start:]
        offset += len(line) + 1
