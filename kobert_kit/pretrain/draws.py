"""Random numbers of words that are hashes: nothing is drawn in sequence, nothing needs saving."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

Array = np.ndarray
LAST = np.iinfo(np.uint64).max  # sorts behind every number


class Purpose(IntEnum):
    """What a word's random number decides; each purpose has numbers of its own."""

    ORDER = 0
    KIND = 1
    PIECE = 2
    SPAN = 3


class WordDraws:
    """The random numbers of a batch's words: 64 bits from (seed, epoch, example, place, purpose).

    ``place`` counts the words of a sequence, so a word has the same numbers in any batch.

    Args:
        rows: (words,) the number of the sequence that each word belongs to, ascending.
        keys: (rows, 2) epoch and example of each sequence.
    """

    def __init__(self, rows: Array, keys: Array, seed: int) -> None:
        self.counts = np.bincount(rows, minlength=len(keys))  # (rows,) words of each sequence
        epochs, examples = keys.astype(np.uint64).T
        self.of_rows = mix(mix(np.uint64(seed), epochs), examples)  # (rows,) uint64
        places = np.arange(len(rows)) - begins(self.counts)[rows]
        self._of_words = mix(self.of_rows[rows], places.astype(np.uint64))

    def of_words(self, purpose: Purpose, words: Array | slice = slice(None)) -> Array:
        """Numbers, uint64, of all words, or of those whose numbers are in ``words``."""
        return mix(self._of_words[words], np.uint64(purpose))

    def of_pieces(self, purpose: Purpose, words: Array, tokens: Array) -> Array:
        """Numbers of single ``tokens``, which differ within a word.

        ``words`` (all tokens of the batch,) is the number of each token's word.
        """
        places = tokens - begins(np.bincount(words))[words[tokens]]
        return mix(self.of_words(purpose, words[tokens]), places.astype(np.uint64))

    def grid(self, values: Array, fill: int) -> Array:
        """(words,) laid out as (rows, words of the longest sequence), filled up on the right."""
        grid = np.full(self.inside.shape, fill, dtype=values.dtype)
        grid[self.inside] = values
        return grid

    @property
    def inside(self) -> Array:
        """(rows, words of the longest sequence) bool: where `grid` holds a word."""
        inside: Array = np.arange(self.counts.max(initial=0)) < self.counts[:, None]
        return inside


def begins(lengths: Array) -> Array:
    """Where each of the runs with these lengths begins, when one follows the other."""
    first: Array = np.cumsum(lengths) - lengths
    return first


def mix(state: Array | np.uint64, value: Array | np.uint64) -> Array:
    """Fold ``value`` into ``state``: the finaliser of SplitMix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        z: Array = np.atleast_1d(state) * np.uint64(0x9E3779B97F4A7C15) + value
    z += np.uint64(0x9E3779B97F4A7C15)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def uniform(bits: Array) -> Array:
    """Hashes to floats in [0, 1)."""
    values: Array = (bits >> np.uint64(11)) * (1.0 / (1 << 53))
    return values
