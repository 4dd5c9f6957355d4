"""MinHash signatures, by one permutation: each n-gram is hashed once and falls into one of the
signature's places, where the smallest wins. A place that nothing fell into borrows from another,
chosen by a fixed random sequence, so that equal sets still have equal signatures and the share of
equal places still estimates the Jaccard similarity.

A library (datasketch) hashes each n-gram once for every place, which takes 128 times the work, and
its index lies in memory as Python objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.ngrams import hash_ngrams

PLACES = 128
NGRAM = 5
FEWEST = 50  # n-grams that a document needs to be compared: 54 letters
_EMPTY = np.uint32(0xFFFFFFFF)
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
    places = ngrams.owners * PLACES + (ngrams.hashes >> np.uint64(57)).astype(np.int64)
    ranks = np.minimum((ngrams.hashes & np.uint64(0xFFFFFFFF)).astype(np.uint32), _EMPTY - 1)
    np.minimum.at(flat, places, ranks)
    signatures: Signatures = flat.reshape(-1, PLACES)
    compared = ngrams.sizes >= FEWEST
    signatures[compared] = _fill(signatures[compared])
    signatures[~compared] = 0
    return signatures, ngrams.sizes


def _fill(signatures: Signatures) -> Signatures:
    """Borrow for empty places from those that were not."""
    filled: Signatures = signatures.copy()
    for sources in _borrowing():
        empty = filled == _EMPTY
        if not empty.any():
            break
        filled = np.where(empty, signatures[:, sources], filled)
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
    return np.asarray((first == second).mean(axis=-1))
