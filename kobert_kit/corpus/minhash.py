"""MinHash signatures, by one permutation: each n-gram is hashed once and falls into one of the
signature's places, where the smallest wins. Of the places that something of either document fell
into, the share of equal ones estimates the Jaccard similarity, the better the fewer n-grams there
are. A place that nothing fell into borrows from another, chosen by a fixed random sequence, so that
any places can be looked up; its lowest bit says so.

A library (datasketch) hashes each n-gram once for every place, which takes 256 times the work, and
its index lies in memory as Python objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.ngrams import hash_ngrams

PLACES = 256  # the top bits of a hash, of which there are 8
NGRAM = 5
FEWEST = 50  # n-grams that a document needs to be compared: 54 letters
_EMPTY = np.uint32(0xFFFFFFFF)
_BORROWED = np.uint32(1)
_BATCH = 500_000  # characters at a time, so that arrays stay in the cache

Signatures = NDArray[np.uint32]


def sign(texts: Sequence[str]) -> tuple[Signatures, NDArray[np.int64]]:
    """A signature for each text, and how many n-grams it has; all zero below ``FEWEST``."""
    parts, sizes = [], []
    start = 0
    while start < len(texts):
        end, characters = start, 0
        while end < len(texts) and (end == start or characters < _BATCH):
            characters += len(texts[end])
            end += 1
        signatures, counts = _sign(texts[start:end])
        parts.append(signatures)
        sizes.append(counts)
        start = end
    if not parts:
        return np.zeros((0, PLACES), np.uint32), np.zeros(0, np.int64)
    return np.concatenate(parts), np.concatenate(sizes)


def _sign(texts: Sequence[str]) -> tuple[Signatures, NDArray[np.int64]]:
    ngrams = hash_ngrams(texts, NGRAM)
    flat = np.full(len(texts) * PLACES, _EMPTY, np.uint32)
    places = ngrams.owners * PLACES + (ngrams.hashes >> np.uint64(56)).astype(np.int64)
    ranks = (ngrams.hashes & np.uint64(0xFFFFFFFE)).astype(np.uint32)
    np.minimum.at(flat, places, ranks)
    signatures: Signatures = flat.reshape(-1, PLACES)
    compared = ngrams.sizes >= FEWEST
    signatures[compared] = _fill(signatures[compared])
    signatures[~compared] = 0
    return signatures, ngrams.sizes


def _fill(signatures: Signatures) -> Signatures:
    """Borrow for empty places from those that were not."""
    filled: Signatures = signatures.copy()
    rows = np.arange(len(filled))
    for sources in _borrowing():
        empty = filled[rows] == _EMPTY
        rows, empty = rows[empty.any(axis=1)], empty[empty.any(axis=1)]
        if not len(rows):
            break
        filled[rows] = np.where(empty, signatures[rows][:, sources] | _BORROWED, filled[rows])
    return filled


@cache
def _borrowing() -> NDArray[np.int64]:
    """From which place each empty place borrows, at the first attempt, the second, and so on.

    The last attempts go round all places, so that one succeeds.
    """
    random = np.random.RandomState(20_240_501).randint(0, PLACES, (64, PLACES))
    round_trip = (np.arange(1, PLACES)[:, None] + np.arange(PLACES)) % PLACES
    return np.concatenate([random, round_trip]).astype(np.int64)


def similarity(first: Signatures, second: Signatures) -> NDArray[np.float64]:
    """The estimated Jaccard similarity of signatures, row by row."""
    filled = (first & second & _BORROWED) == 0
    return np.asarray(((first == second) & filled).sum(axis=-1) / filled.sum(axis=-1))
