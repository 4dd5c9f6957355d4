"""Text to surface morphemes, losslessly.

Kiwi says where morphemes lie; the pieces are spans of the text itself. Whatever Kiwi skips
becomes a piece of its own, white space is in no piece, and no cut falls inside what a reader
sees as one character.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from kobert_kit.morphology.kiwi import KiwiSettings, analyser
from kobert_kit.morphology.known import known_cuts, read_known
from kobert_kit.normalize import normalize, normalize_text

# Kiwi takes quadratic time on a run of one class of characters, and a run without a space that is
# longer than any word is an address, a key or damage.
MAX_CHARS = 4000
MAX_RUN = 200

# White space as Rust's char::is_whitespace has it, which is what the fast tokenizers split on.
# Python's own str.split also splits at U+001C to U+001F.
WHITE_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
EOJEOL = re.compile(f"[^{WHITE_SPACE}]+")

_SERIAL_PART = re.compile(f"\\w+|[^\\w{WHITE_SPACE}]+")
_LONG_RUN = re.compile(f"[^{WHITE_SPACE}]{{{MAX_RUN}}}")

_ZWJ = "\u200d"
SURROGATE = re.compile("[\ud800-\udfff]")
# A joiner, a skin tone, a tag of a flag, a medial or final conjoining jamo: each belongs to the
# character before it. Marks, among them the variation selectors, are found by their category.
_JOINED = re.compile(
    f"[{_ZWJ}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7fb]"
)
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")


class Piece(NamedTuple):
    """A surface morpheme: ``text[start:end]``, and Kiwi's tags of the morphemes in it.

    Several morphemes in one piece have their tags joined by "+"; a piece that Kiwi did not
    analyse has the tag "".
    """

    start: int
    end: int
    starts_eojeol: bool
    tag: str


class Morpheme(NamedTuple):
    """One morpheme of Kiwi: a span of the text, possibly sharing a syllable with its neighbours."""

    start: int
    end: int
    tag: str


class Splitter:
    """Splits text into surface morphemes. Cheap to make and to pickle: it holds settings only."""

    def __init__(self, settings: KiwiSettings | None = None) -> None:
        self.settings = settings or KiwiSettings()

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}

    @cached_property
    def _known(self) -> Mapping[str, str]:
        return read_known(self.settings.known_eojeols)

    def split(self, text: str) -> list[Piece]:
        """Pieces of ``text`` in order, analysed in context; offsets are code points of ``text``.

        They do not overlap and hold no white space, and only white space lies between them.
        """
        plain, starts, ends = normalize(text)
        morphemes = deque(_analyse(plain, self.settings))
        cuts = self._cuts(morphemes)
        pieces = []
        for eojeol in EOJEOL.finditer(plain):
            first, last = eojeol.span()
            inner = (cut for cut in range(first + 1, last) if cut in cuts)
            kept = [cut for cut in inner if not _is_joined(plain, cut)]
            for left, right in pairwise([first, *kept, last]):
                tags = []
                while morphemes and morphemes[0].start < right:
                    tags.append(morphemes.popleft().tag)
                pieces.append(Piece(starts[left], ends[right - 1], left == first, "+".join(tags)))
        return pieces

    def split_text(self, text: str) -> list[tuple[str, tuple[int, ...]]]:
        """The eojeols of ``text`` in order, normalised, each with its inner cuts in this context.

        두 건의 일 -> (두, ()), (건의, (1,)), (일, ()), where 건의 alone is one word.
        """
        plain = normalize_text(text)
        pieces = self.split(plain)
        firsts = [number for number, piece in enumerate(pieces) if piece.starts_eojeol]
        eojeols = []
        for first, after in pairwise([*firsts, len(pieces)]):
            start, end = pieces[first].start, pieces[after - 1].end
            cuts = tuple(piece.start - start for piece in pieces[first + 1 : after])
            eojeols.append((plain[start:end], cuts))
        return eojeols

    def split_eojeol(self, eojeol: str) -> tuple[int, ...]:
        """Where the surface morphemes of one normalised eojeol, analysed alone, meet.

        Returns the sorted inner cuts in code points: 먹었습니다 -> (1, 2).
        """
        if len(eojeol) == 1:
            return ()
        known = known_cuts(self._known, eojeol)
        if known is not None:
            return known
        cuts = self._cuts(_analyse(eojeol, self.settings))
        return tuple(
            cut for cut in sorted(cuts) if 0 < cut < len(eojeol) and not _is_joined(eojeol, cut)
        )

    def tagged_eojeol(self, eojeol: str) -> list[Piece]:
        """The pieces of one eojeol, cut where `split_eojeol` cuts it, with the tags of those.

        건의 -> 건 NNG, 의 JKG where it is known to be cut; Kiwi alone takes it for one word.
        """
        plain, starts, ends = normalize(eojeol)
        known = known_cuts(self._known, plain)
        pieces = self.split(eojeol)
        if known is None:
            return pieces
        edges = (0, *known, len(plain))
        tagged = [(piece.start, piece.tag) for piece in pieces]
        if not {starts[cut] for cut in known} <= {start for start, _ in tagged}:
            kiwi = analyser(self.settings.user_dictionary)
            tokens = kiwi.tokenize(plain, pretokenized=list(pairwise(edges)))
            tagged = [(starts[token.start], token.tag) for token in tokens]
        return [
            Piece(
                starts[left],
                ends[right - 1],
                left == 0,
                "+".join(tag for start, tag in tagged if starts[left] <= start < ends[right - 1]),
            )
            for left, right in pairwise(edges)
        ]

    def _cuts(self, morphemes: Iterable[Morpheme]) -> set[int]:
        merge = self.settings.shared_syllable == "merge"
        cuts = set()
        reach = 0
        for start, end, _ in morphemes:
            if start >= reach:
                cuts.add(start)
            elif merge:
                cuts.difference_update(range(start + 1, reach + 1))
            reach = max(reach, end)
            cuts.add(reach if merge else end)
        return cuts


def _analyse(text: str, settings: KiwiSettings) -> list[Morpheme]:
    """Kiwi's morphemes of a normalised text, in order of their start."""
    # A lone surrogate would make a pair of code units with what follows and shift the offsets.
    text = SURROGATE.sub("\ufffd", text)
    kiwi = analyser(settings.user_dictionary)
    morphemes = []
    for offset, chunk in _chunks(text):
        for token in kiwi.tokenize(chunk):
            start, end, tag = token.start, token.start + token.len, token.tag
            # White space inside one token (dates hold some) is cut out by the caller.
            if tag in ("W_SERIAL", "SB"):  # a date, or the number of an item: 2024.5.1., 4.
                for part in _SERIAL_PART.finditer(chunk, start, end):
                    morphemes.append(Morpheme(offset + part.start(), offset + part.end(), tag))
            elif start < end:
                morphemes.append(Morpheme(offset + start, offset + end, tag))
    # Stable, so that morphemes of one span keep the analysis' order.
    morphemes.sort(key=itemgetter(0, 1))
    return morphemes


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Parts of at most MAX_CHARS characters with their offsets, cut after white space if any.

    A run without white space is cut every MAX_RUN characters.
    """
    start = 0
    while (run := _LONG_RUN.search(text, start, start + MAX_CHARS)) or (
        len(text) - start > MAX_CHARS
    ):
        end = run.end() if run else start + MAX_CHARS
        last_space = -1 if run else max(text.rfind(space, start, end) for space in " \n")
        if last_space > start:
            end = last_space + 1
        while start + 1 < end < len(text) and _is_joined(text, end):
            end -= 1
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _is_joined(text: str, position: int) -> bool:
    """Whether a cut before ``position`` would fall inside one character as readers see it."""
    before, after = text[position - 1], text[position]
    if after.isascii() or "가" <= after <= "힣":
        return before == _ZWJ
    return (
        before == _ZWJ
        or unicodedata.category(after)[0] == "M"
        or _JOINED.match(after) is not None
        or (_FLAG_LETTER.match(after) is not None and _FLAG_LETTER.match(before) is not None)
    )
