"""MinHash signatures of documents by the library rensa, over their syllable n-grams.

Its R-MinHash is fast similarity sketching (Dahlgaard, Knudsen and Thorup, 2017): the share of equal
places of two signatures estimates the Jaccard similarity of the documents, and an n-gram is hashed
about once, not once for every place.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.copies.ngrams import hash_ngrams

# Read when the library first works. A forked child would wait for threads that its parent has.
os.environ.setdefault("RAYON_NUM_THREADS", "1")

PLACES = 256
NGRAM = 5
FEWEST = 50  # n-grams that a document needs to be compared: 54 letters
_SEED = 20_240_501
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
    from rensa import RMinHash

    ngrams = hash_ngrams(texts, NGRAM)
    offsets = np.concatenate([[0], np.cumsum(ngrams.sizes)])
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(ngrams.hashes, offsets, PLACES, _SEED)
    signatures = np.array(matrix.to_rows(), np.uint32)
    signatures[ngrams.sizes < FEWEST] = 0
    return signatures, ngrams.sizes


def similarity(first: Signatures, second: Signatures) -> NDArray[np.float64]:
    """The estimated Jaccard similarity of signatures, row by row."""
    return np.asarray((first == second).mean(axis=-1))
