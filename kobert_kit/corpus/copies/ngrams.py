"""Syllable n-grams of many texts as numbers, by arithmetic on whole arrays.

Only letters and digits count, in lower case, so that spacing and punctuation, which Korean writers
handle freely, tell no texts apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.characters import code_points

_BASE = np.uint64(0x9E3779B97F4A7C15)
_LAST = 0x3FFFF


@cache
def _folded() -> NDArray[np.uint32]:
    """Code point -> that of its lower case; 0 for what does not count."""
    table = np.arange(_LAST + 1, dtype=np.uint32)
    for code in range(0x20000):
        char = chr(code)
        table[code] = ord(char.lower()[0]) if char.isalnum() else 0
    return table


@dataclass(frozen=True)
class Ngrams:
    """n-grams of several texts, one text after the other; ``sizes`` says how many each has."""

    hashes: NDArray[np.uint64]
    sizes: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """For each n-gram the number of its text."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


class Letters:
    """The letters and digits of several texts, end to end, and which n-grams of them there are."""

    def __init__(self, texts: Sequence[str]) -> None:
        codes = _folded()[np.minimum(code_points("".join(texts)), _LAST)]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        counted = np.concatenate([[0], np.cumsum(codes != 0)])
        self._places = np.flatnonzero(codes)  # of the letters in the texts
        self._codes = codes[self._places].astype(np.uint64)
        self._lengths = np.diff(counted[np.concatenate([[0], ends])])

    def ngrams(self, n: int) -> Ngrams:
        """The n-grams of each text; none for one with fewer than ``n`` letters."""
        sizes, firsts = self._firsts(n)
        if not len(firsts):
            return Ngrams(np.zeros(0, np.uint64), sizes)
        return Ngrams(mix(_rolling(self._codes, n)[firsts]), sizes)

    def whole(self, n: int) -> Ngrams:
        """Those of the n-grams that begin and end where eojeols do."""
        sizes, firsts = self._firsts(n)
        if not len(firsts):
            return Ngrams(np.zeros(0, np.uint64), sizes)
        apart = np.diff(self._places, prepend=-2, append=self._places[-1] + 2) > 1
        starts = np.cumsum(self._lengths) - self._lengths
        apart[starts] = apart[-1] = True  # texts are apart, though they lie end to end
        chosen = apart[firsts] & apart[firsts + n]
        owners = np.repeat(np.arange(len(sizes)), sizes)[chosen]
        hashes = mix(_rolling(self._codes, n)[firsts[chosen]])
        return Ngrams(hashes, np.bincount(owners, minlength=len(sizes)))

    def _firsts(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many n-grams each text has, and at which letter each begins."""
        sizes = np.maximum(self._lengths - n + 1, 0)
        starts = np.cumsum(self._lengths) - self._lengths
        shift = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        return sizes, np.arange(sizes.sum()) + shift


def hash_ngrams(texts: Sequence[str], n: int) -> Ngrams:
    """The n-grams of each text in ``texts``; none for one with fewer than ``n`` letters."""
    return Letters(texts).ngrams(n)


def _rolling(codes: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """A polynomial hash of each run of ``n`` numbers, built up from runs of powers of two."""
    total: NDArray[np.uint64] = np.zeros(len(codes) - n + 1, np.uint64)
    block, width, power, offset = codes, 1, _BASE, 0
    with np.errstate(over="ignore"):
        while n > offset:
            if (n - offset) & width:
                total = total * power + block[offset : offset + len(total)]
                offset += width
            if offset < n:
                block = block[:-width] * power + block[width:]
                width, power = width * 2, power * power
    return total


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over all 64 bits, one to one (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        values ^= values >> np.uint64(31)
    return values
