"""Between the steps, in the main process: what only the whole corpus can tell of a line or of a
document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.copies.buckets import Indices, group_starts, sorted_buckets
from kobert_kit.corpus.copies.hashes import Hashes, distinct_per_document
from kobert_kit.corpus.copies.minhash import PLACES, Signatures
from kobert_kit.corpus.copies.near import Copies, find_near
from kobert_kit.corpus.disk import let_go, reserve
from kobert_kit.corpus.stage.chunks import Arrays, read_arrays
from kobert_kit.corpus.stage.cleaning import CLEANED
from kobert_kit.corpus.stage.context import Context
from kobert_kit.corpus.stage.filters import LineRules, build_filters
from kobert_kit.corpus.stage.judging import JUDGED, LineCounts, lines_path

BUCKETS = "buckets"


def compare_lines(context: Context, chunks: int) -> None:
    """Count lines over all cleaned chunks, for `judge_chunk`."""
    path = lines_path(context.work)
    if path.exists():
        return
    rules = [build_filters(context.filters[name]).lines for name in context.names]
    offsets = np.zeros(chunks + 1, np.int64)
    for number in range(chunks if any(rules) else 0):
        lines = read_arrays(context.chunk(CLEANED, number))["lines"]
        offsets[number + 1] = offsets[number] + len(lines)
    frequent, documents = _frequent(context, chunks, rules, int(offsets[-1]))
    repeated = np.zeros(0, bool)
    if any(rule.repeats == "corpus" for rule in rules):
        repeated = _repeated(context, offsets)
    temporary = path.with_suffix(".tmp")
    LineCounts(frequent, documents, offsets, repeated).save(temporary)
    os.replace(temporary, path)


def _frequent(
    context: Context, chunks: int, rules: list[LineRules], total: int
) -> tuple[Hashes, NDArray[np.int64]]:
    """Lines that are boilerplate by the strictest rule, and in how many documents each is."""
    least = min((rule.boilerplate for rule in rules if rule.boilerplate), default=0)
    if not least:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)

    def blocks() -> Iterator[tuple[Hashes, Indices]]:
        for number in range(chunks):
            arrays = read_arrays(context.chunk(CLEANED, number))
            lines = distinct_per_document(arrays["lines"], arrays["counts"])
            yield lines, np.zeros(len(lines), np.int64)

    found = []
    for hashes, _ in sorted_buckets(blocks(), total, context.work / BUCKETS):
        distinct, counts = np.unique(hashes, return_counts=True)
        found.append((distinct[counts >= least], counts[counts >= least]))
    lines, counts = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(lines)
    return lines[order], counts[order]


def _repeated(context: Context, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each line of the corpus whether it was there before."""

    def blocks() -> Iterator[tuple[Hashes, Indices]]:
        for number in range(len(offsets) - 1):
            lines = read_arrays(context.chunk(CLEANED, number))["lines"]
            yield lines, np.arange(offsets[number], offsets[number + 1])

    repeated = np.zeros(offsets[-1], bool)
    for hashes, indices in sorted_buckets(blocks(), len(repeated), context.work / BUCKETS):
        repeated[indices[group_starts(hashes) != np.arange(len(hashes))]] = True
    return repeated


class Comparison:
    """Of every document of the judged chunks: its place, and whose copy it is.

    Kept in array files in the work folder, so that workers look at their part alone.
    """

    def __init__(self, work: Path) -> None:
        def load(name: str) -> NDArray[np.int64]:
            array: NDArray[np.int64] = np.load(work / f"copies-{name}.npy", mmap_mode="r")
            return array

        self.places, self.kept, self.similarity = load("places"), load("kept"), load("similarity")
        self.offsets = load("offsets")

    def chunk(self, number: int) -> list[tuple[bool, tuple[int, int], float]]:
        """For each document of a chunk: whether it is kept; else the place (file, line) of the
        document that is, and the similarity of the two."""
        start, end = self.offsets[number], self.offsets[number + 1]
        kept = self.kept[start:end]
        places = self.places[kept].tolist()
        stays = (kept == np.arange(start, end)).tolist()
        alike = self.similarity[start:end].tolist()
        return [
            (stay, (file, line), similarity)
            for stay, (file, line), similarity in zip(stays, places, alike, strict=True)
        ]


def compare_documents(context: Context, chunks: int) -> None:
    """Find duplicates over all judged chunks, for `Comparison`."""
    if (context.work / "copies-kept.npy").exists():
        return
    offsets = np.zeros(chunks + 1, np.int64)
    for number in range(chunks):
        count = len(read_arrays(context.chunk(JUDGED, number))["digests"])
        offsets[number + 1] = offsets[number] + count
    total = int(offsets[-1])
    signatures_path = context.work / "signatures.npy"
    shape = (max(total, 1), PLACES)  # an empty file cannot be mapped
    signatures = np.lib.format.open_memmap(signatures_path, "w+", np.uint32, shape)[:total]
    reserve(signatures_path)
    digests, places = np.zeros(total, np.uint64), np.zeros((total, 2), np.int64)
    compared = np.zeros(total, bool)
    for number in range(chunks):
        span = slice(offsets[number], offsets[number + 1])
        arrays = read_arrays(context.chunk(JUDGED, number))
        digests[span], places[span] = arrays["digests"], arrays["places"]
        signatures[span], compared[span] = arrays["signatures"], arrays["compared"]
        let_go(signatures)
    copies = find_copies(digests, signatures, compared, context.work / BUCKETS)
    found: Arrays = {"places": places, "offsets": offsets, "similarity": copies.similarity}
    for name, array in (found | {"kept": copies.kept}).items():  # which is the last, and tells
        temporary = context.work / "copies.tmp.npy"
        np.save(temporary, array)
        os.replace(temporary, context.work / f"copies-{name}.npy")
    signatures_path.unlink()


def find_copies(
    digests: Hashes, signatures: Signatures, compared: NDArray[np.bool_], buckets: Path
) -> Copies:
    """Exact copies of the first of their kind, and near ones among those firsts."""
    order = np.arange(len(digests))
    exact = order.copy()
    for hashes, indices in sorted_buckets([(digests, order)], len(digests), buckets):
        exact[indices] = indices[group_starts(hashes)]
    near = find_near(signatures, compared & (exact == order), buckets)
    # A copy of a near duplicate is one of what is kept in its stead.
    return Copies(near.kept[exact], near.similarity[exact])
