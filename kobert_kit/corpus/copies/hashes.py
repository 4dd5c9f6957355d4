"""Texts and lines as numbers, to compare them across a corpus."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


def hash_text(text: str) -> int:
    """64 bits that stand for ``text``."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def hash_lines(text: str) -> list[int]:
    """A hash for each line of ``text``."""
    return list(map(hash_text, text.split("\n")))


def distinct_per_document(hashes: Hashes, counts: NDArray[np.int64]) -> Hashes:
    """The hashes of the lines of documents that have ``counts`` lines, each once a document."""
    documents = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((hashes, documents))
    hashes, documents = hashes[order], documents[order]
    first = np.ones(len(hashes), bool)
    first[1:] = (hashes[1:] != hashes[:-1]) | (documents[1:] != documents[:-1])
    return hashes[first]
