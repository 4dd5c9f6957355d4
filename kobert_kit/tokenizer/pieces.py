"""What the saved tokenizer sees of an eojeol, as the trainer must see it too.

The pre-tokenizer isolates every character that has no continuing entry, so that an unknown
character costs one [UNK] and never its whole eojeol; what follows it starts afresh, without
``##``. Punctuation is not isolated as BERT's is: it continues its eojeol like anything else
(``##.``), so that tokens tell where the spaces were.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

PREFIX = "##"

Cuts = tuple[int, ...]
Run = tuple[str, Cuts]

ASCII_PUNCTUATION = "".join(c for c in map(chr, range(33, 127)) if not c.isalnum())
COMMON_PUNCTUATION = ASCII_PUNCTUATION + "·…‘’“”「」『』〈〉《》"
DIGITS_AND_LETTERS = "".join(c for c in map(chr, range(33, 127)) if c.isalnum())
# The jamo that people type (ㅋㅋ, ㅠㅠ), and that stray conjoining jamo are turned into.
JAMO = "".join(map(chr, range(0x3131, 0x3164)))
# A longer piece is an address or a run of one syllable, not a word to learn.
MAX_PIECE_CHARS = 64
# Of the characters of a text; with less, [UNK] would be among its commonest tokens.
MIN_COVERAGE = 0.99
JOINED_COVERAGE = 0.998


def is_punctuation(char: str) -> bool:
    """Whether ``char`` is an ASCII symbol or of Unicode's category P."""
    return char in ASCII_PUNCTUATION or unicodedata.category(char)[0] == "P"


@dataclass(frozen=True)
class Alphabet:
    """The characters that have entries of their own, each group in order of code points.

    ``joined`` ones have two, x and ##x. ``alone`` ones are too rare for that: they have x only, and
    are isolated like unknown ones.
    """

    joined: Sequence[str]
    alone: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.joined) + len(self.alone)

    def entries(self) -> list[str]:
        continuing = (PREFIX + char for char in self.joined if char != "#")  # see `known_run`
        return [*self.joined, *continuing, *self.alone]


def choose_alphabet(eojeols: Mapping[str, int], coverage: float, most: int) -> Alphabet:
    """Every digit, ASCII letter, jamo and common punctuation mark, and the most frequent others.

    They are joined until JOINED_COVERAGE of all characters of the text is reached, alone until
    ``coverage`` (0 to 1) is, or until they take ``most`` entries and MIN_COVERAGE is reached; ties
    by code point.
    """
    counts = _count_chars(eojeols)
    total = counts.total()
    needed = min(coverage, MIN_COVERAGE) * total
    joined, alone = set(COMMON_PUNCTUATION + DIGITS_AND_LETTERS + JAMO), list[str]()
    covered = sum(counts[char] for char in joined)
    others = [(-count, char) for char, count in counts.items() if char not in joined]
    for negative, char in sorted(others):
        is_full = 2 * len(joined) + len(alone) >= most
        if covered >= coverage * total or (is_full and covered >= needed):
            break
        if covered < JOINED_COVERAGE * total:
            joined.add(char)
        else:
            alone.append(char)
        covered -= negative
    return Alphabet(sorted(joined), sorted(alone))


def _count_chars(eojeols: Mapping[str, int]) -> Counter[str]:
    by_count: defaultdict[int, list[str]] = defaultdict(list)
    for eojeol, count in eojeols.items():
        by_count[count].append(eojeol)
    counts: Counter[str] = Counter()
    for count, group in by_count.items():
        for char, times in Counter("".join(group)).items():  # counted in C
            counts[char] += count * times
    return counts


def known_run(joined: Iterable[str]) -> re.Pattern[str]:
    """Matches what lies between isolated characters; a # begins anew.

    WordPiece would take what a text begins with ## for a continuing entry.
    """
    inside = "".join(re.escape(char) for char in joined if char != "#")
    return re.compile(f"#?[{inside}]+|#")


class PieceCounter:
    """Counts what eojeols are made of.

    ``counts`` are those of surface morphemes as vocabulary strings: 먹 and, inside an eojeol,
    ##습니다. ``runs`` are those of what lies between isolated characters, with the cuts in it,
    of the eojeols in ``frequent``.
    """

    def __init__(self, joined: Collection[str], frequent: Collection[str]) -> None:
        self._run = known_run(joined)
        self._inside = frozenset(joined) - {"#"}
        self._frequent = frequent
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.runs: defaultdict[Run, int] = defaultdict(int)

    def add(self, eojeol: str, cuts: Cuts, count: int) -> None:
        """Count the parts of ``eojeol``, which occurs ``count`` times and is cut at ``cuts``."""
        if self._inside.issuperset(eojeol):  # nearly always, and much faster
            self._add_run(eojeol, cuts, count, eojeol in self._frequent)
            return
        for run in self._run.finditer(eojeol):
            start, end = run.span()
            inner = tuple(cut - start for cut in cuts if start < cut < end)
            self._add_run(run.group(), inner, count, eojeol in self._frequent)

    def _add_run(self, run: str, cuts: Cuts, count: int, is_frequent: bool) -> None:
        if is_frequent:
            self.runs[run, cuts] += count
        counts = self.counts
        prefix, start = "", 0
        for end in (*cuts, len(run)):
            if end - start <= MAX_PIECE_CHARS:
                counts[prefix + run[start:end]] += count
            prefix, start = PREFIX, end
