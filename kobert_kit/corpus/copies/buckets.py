"""Equal numbers brought together, however many there are, in bounded memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.copies.hashes import Hashes

Indices = NDArray[np.int64]

BUCKET = 4_000_000  # numbers sorted at a time: about 200 MB


def sorted_buckets(
    blocks: Iterable[tuple[Hashes, Indices]], total: int, work: Path
) -> Iterator[tuple[Hashes, Indices]]:
    """Hashes with their indices, ordered by hash and then by index, bucket by bucket.

    Equal hashes are in one bucket. ``total`` is about how many there are; where they are too many
    to sort at once they are first dealt out to files in the folder ``work``, removed at the end.
    """
    count = -(-total // BUCKET)
    if count <= 1:
        yield _sorted(*_joined(blocks))
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        files = [work / f"{number:05d}" for number in range(count)]
        for hashes, indices in blocks:
            pairs = np.stack([hashes, indices.astype(np.uint64)], axis=1)
            owner = hashes % np.uint64(count)
            pairs = pairs[np.argsort(owner, kind="stable")]
            ends = np.cumsum(np.bincount(owner.astype(np.int64), minlength=count))
            for path, part in zip(files, np.split(pairs, ends[:-1]), strict=True):
                with path.open("ab") as stream:
                    part.tofile(stream)
        for path in files:
            pairs = np.fromfile(path, np.uint64).reshape(-1, 2)
            yield _sorted(pairs[:, 0], pairs[:, 1].astype(np.int64))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _joined(blocks: Iterable[tuple[Hashes, Indices]]) -> tuple[Hashes, Indices]:
    held = list(blocks)
    if not held:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    return np.concatenate([block[0] for block in held]), np.concatenate([b[1] for b in held])


def _sorted(hashes: Hashes, indices: Indices) -> tuple[Hashes, Indices]:
    order = np.lexsort((indices, hashes))
    return hashes[order], indices[order]


def group_starts(hashes: Hashes) -> NDArray[np.int64]:
    """For each of some ordered hashes, where the run of its equals begins."""
    new = np.ones(len(hashes), bool)
    new[1:] = hashes[1:] != hashes[:-1]
    return np.maximum.accumulate(np.where(new, np.arange(len(hashes)), 0))
