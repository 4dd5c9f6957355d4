"""What the saved tokenizer sees of an eojeol, as the trainer must see it too.

The pre-tokenizer isolates punctuation, as BERT's does, and every character outside the
alphabet, so that an unknown character costs one [UNK] and never its whole eojeol. What follows
an isolated character starts afresh, without ``##``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

PREFIX = "##"

ASCII_PUNCTUATION = "".join(c for c in map(chr, range(33, 127)) if not c.isalnum())
COMMON_PUNCTUATION = ASCII_PUNCTUATION + "·…‘’“”「」『』〈〉《》"
DIGITS_AND_LETTERS = "".join(c for c in map(chr, range(33, 127)) if c.isalnum())
# The jamo that people type (ㅋㅋ, ㅠㅠ), and that stray conjoining jamo are turned into.
JAMO = "".join(map(chr, range(0x3131, 0x3164)))
# A longer piece is an address or a run of one syllable, not a word to learn.
MAX_PIECE_CHARS = 64
# Of the characters of a text; with less, [UNK] would be among its commonest tokens.
MIN_COVERAGE = 0.99


def is_punctuation(char: str) -> bool:
    """Whether BERT's pre-tokenizer isolates ``char``: ASCII symbols and Unicode category P."""
    return char in ASCII_PUNCTUATION or unicodedata.category(char)[0] == "P"


def choose_alphabet(eojeols: Mapping[str, int], coverage: float, most: int) -> list[str]:
    """The characters that get entries of their own, in order of their code points.

    Every digit, ASCII letter, jamo and common punctuation mark, and the most frequent others, until
    ``coverage`` (0 to 1) of all characters of the text is reached, or there are ``most`` of them
    and MIN_COVERAGE is reached; ties by code point.
    """
    counts: Counter[str] = Counter()
    for eojeol, count in eojeols.items():
        for char in eojeol:
            counts[char] += count
    chosen = set(COMMON_PUNCTUATION + DIGITS_AND_LETTERS + JAMO)
    wanted = coverage * counts.total()
    needed = min(coverage, MIN_COVERAGE) * counts.total()
    covered = sum(counts[char] for char in chosen)
    for char, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered >= (needed if len(chosen) >= most else wanted):
            break
        if char not in chosen:
            chosen.add(char)
            covered += count
    return sorted(chosen)


def alphabet_entries(alphabet: Iterable[str]) -> list[str]:
    """The entries of an alphabet: ``x`` and ``##x``; punctuation never continues anything."""
    chars = list(alphabet)
    return chars + [PREFIX + char for char in chars if not is_punctuation(char)]


def known_run(alphabet: Iterable[str]) -> re.Pattern[str]:
    """Matches what lies between isolated characters: a run of the alphabet without punctuation."""
    return re.compile(
        f"[{''.join(re.escape(char) for char in alphabet if not is_punctuation(char))}]+"
    )


class PieceCounter:
    """Counts surface morphemes as vocabulary strings: 먹 and, inside an eojeol, ##습니다."""

    def __init__(self, alphabet: Iterable[str]) -> None:
        self._pre_token = known_run(alphabet)
        self.counts: Counter[str] = Counter()

    def add(self, eojeol: str, cuts: tuple[int, ...], count: int) -> None:
        """Count the pieces of ``eojeol``, which occurs ``count`` times and is cut at ``cuts``."""
        for match in self._pre_token.finditer(eojeol):
            start, end = match.span()
            edges = [start, *(cut for cut in cuts if start < cut < end), end]
            for left, right in pairwise(edges):
                if right - left > MAX_PIECE_CHARS:
                    continue
                piece = eojeol[left:right]
                self.counts[piece if left == start else PREFIX + piece] += count
