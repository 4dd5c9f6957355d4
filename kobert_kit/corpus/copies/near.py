"""Near duplicates among signatures: candidates by locality-sensitive hashing, judged in pairs.

Documents whose signatures agree in all places of a band are candidates. Each is compared with the
first document that it met so, and is a copy where the estimated Jaccard similarity reaches the
threshold. Of copies the first is kept: the order of the sources is the user's order of preference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.copies.buckets import Indices, group_starts, sorted_buckets
from kobert_kit.corpus.copies.hashes import Hashes
from kobert_kit.corpus.copies.minhash import PLACES, Signatures, similarity
from kobert_kit.corpus.copies.ngrams import mix
from kobert_kit.corpus.disk import let_go

# Of documents with similarity .56 (5 % of the syllables replaced) the bands miss 1 in 100.
BANDS, ROWS = 48, 4
# Documents with half their text in common are at .33; fewer than 1 in 1,000 of them merge.
THRESHOLD = 0.48
_ROUNDS = 8  # documents of one band's group that others are compared with
_BLOCK = 2_000  # documents or pairs at a time: a signature takes a kilobyte
_HIGHEST = 1 - 1 / (2 * PLACES)  # 1 is for exact copies, and an estimate never says so


@dataclass
class Copies:
    """For each document, by index, the one that is kept in its stead (itself where it is kept),
    and how similar the two are."""

    kept: Indices
    similarity: NDArray[np.float32]

    @classmethod
    def none(cls, count: int) -> Copies:
        return cls(np.arange(count), np.ones(count, np.float32))


def find_near(signatures: Signatures, wanted: NDArray[np.bool_], work: Path) -> Copies:
    """Near duplicates among the ``wanted`` rows of ``signatures``."""
    copies = Copies.none(len(signatures))
    total = int(wanted.sum())
    for places in _bands():
        blocks = _keys(signatures, wanted, places)
        for keys, indices in sorted_buckets(blocks, total, work):
            _compare(signatures, keys, indices, copies)
            let_go(signatures)
    _resolve(signatures, copies)
    return copies


def _bands() -> NDArray[np.int64]:
    """The places of each band: drawn, for there are more bands than places would fill apart."""
    random = np.random.RandomState(20_240_502)
    return np.stack([random.permutation(PLACES)[:ROWS] for _ in range(BANDS)])


def _keys(
    signatures: Signatures, wanted: NDArray[np.bool_], places: NDArray[np.int64]
) -> Iterator[tuple[Hashes, Indices]]:
    for start in range(0, len(signatures), _BLOCK):
        indices = np.flatnonzero(wanted[start : start + _BLOCK]) + start
        rows = signatures[start : start + _BLOCK][indices - start]
        key = np.zeros(len(rows), np.uint64)
        for place in places:
            key = mix(key ^ rows[:, place].astype(np.uint64))
        let_go(signatures)
        yield key, indices


def _compare(signatures: Signatures, keys: Hashes, indices: Indices, copies: Copies) -> None:
    """Compare the documents of each group of equal keys with the group's first, and what differs
    from it with the first of those, and so on."""
    for _ in range(_ROUNDS):
        starts = group_starts(keys)
        firsts = indices[starts]
        rest = np.flatnonzero(firsts != indices)
        if not len(rest):
            return
        alike = np.zeros(len(rest), bool)
        fresh = np.flatnonzero(firsts[rest] < copies.kept[indices[rest]])
        for start in range(0, len(fresh), _BLOCK):
            some = fresh[start : start + _BLOCK]
            first, later = firsts[rest[some]], indices[rest[some]]
            found = similarity(signatures[first], signatures[later])
            alike[some] = found >= THRESHOLD
            copies.kept[later[alike[some]]] = first[alike[some]]
            copies.similarity[later[alike[some]]] = np.minimum(found[alike[some]], _HIGHEST)
        rest = rest[~alike]
        keys, indices = keys[rest], indices[rest]


def _resolve(signatures: Signatures, copies: Copies) -> None:
    """Let a copy of a copy be one of the kept document, or be kept where it is not like that."""
    for copy in np.flatnonzero(copies.kept != np.arange(len(copies.kept))):
        kept = copies.kept[copies.kept[copy]]
        if kept == copies.kept[copy]:
            continue
        found = float(similarity(signatures[kept], signatures[copy]))
        is_copy = found >= THRESHOLD
        copies.kept[copy] = kept if is_copy else copy
        copies.similarity[copy] = min(found, _HIGHEST) if is_copy else 1
