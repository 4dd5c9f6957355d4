"""The training sequences over prepared shards, read on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kobert_kit.pretrain.packing import cut_windows, pack_windows
from kobert_kit.pretrain.prepared import EOJEOL, MORPHEME, SENTENCE, Shard

# What a mask covers, by the mark that begins it; every token may begin one of "token".
UNITS = {"token": 0, "eojeol": EOJEOL, "morpheme": EOJEOL | MORPHEME, "span": EOJEOL | MORPHEME}
SPECIAL_PER_WINDOW = 2  # [CLS] and [SEP]


@dataclass(frozen=True)
class Layout:
    """``length`` of a sequence in tokens, with [CLS] and [SEP]; whether several windows, of any
    documents, ``share`` one; ``unit`` of masking, a name in UNITS."""

    length: int
    share: bool = False
    unit: str = "morpheme"


class Sequences:
    """The sequences of one split of the documents.

    ``windows`` (windows, 3): shard, start and end of each; ``firsts`` (sequences + 1,): which
    windows make up each sequence.
    """

    def __init__(self, shards: list[Shard], keep: list[np.ndarray], layout: Layout) -> None:
        """``keep`` says for each shard which of its documents are in the split, (documents,)."""
        self.shards, self.layout = shards, layout
        rows = [
            _windows(number, shard, chosen, layout)
            for number, (shard, chosen) in enumerate(zip(shards, keep, strict=True))
        ]
        self.windows = np.concatenate(rows) if rows else np.zeros((0, 3), dtype=np.int64)
        self.firsts = np.arange(len(self.windows) + 1)
        if layout.share and len(self.windows):
            packed = pack_windows(self._taken(), layout.length)
            self.windows = self.windows[np.concatenate(packed)]
            self.firsts = np.cumsum([0, *map(len, packed)])

    def __len__(self) -> int:
        return len(self.firsts) - 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """(sequences,) in tokens, with special tokens."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        lengths: np.ndarray = np.add.reduceat(self._taken(), self.firsts[:-1])
        return lengths

    @property
    def tokens(self) -> int:
        """Tokens of all sequences, without special tokens."""
        return int((self.windows[:, 2] - self.windows[:, 1]).sum())

    def frequencies(self, vocab_size: int) -> np.ndarray:
        """(vocab_size,) how often each id occurs."""
        counts = np.zeros(vocab_size, dtype=np.int64)
        for number, begin, end in _merged(self.windows):
            counts += np.bincount(self.shards[number].ids[begin:end], minlength=vocab_size)
        return counts

    def windows_of(self, sequence: int) -> range:
        """The numbers of the windows of a sequence."""
        return range(int(self.firsts[sequence]), int(self.firsts[sequence + 1]))

    def read(self, window: int) -> tuple[np.ndarray, np.ndarray]:
        """Ids (tokens,) of a window, and whether each begins a unit of masking."""
        number, begin, end = self.windows[window].tolist()
        shard = self.shards[number]
        return shard.ids[begin:end], unit_starts(shard.marks[begin:end], self.layout.unit)

    def _taken(self) -> np.ndarray:
        taken: np.ndarray = self.windows[:, 2] - self.windows[:, 1] + SPECIAL_PER_WINDOW
        return taken


def unit_starts(marks: np.ndarray, unit: str) -> np.ndarray:
    """Whether each token begins a ``unit``, a name in UNITS."""
    if unit == "token":
        return np.ones(len(marks), dtype=bool)
    starts: np.ndarray = (marks & UNITS[unit]) > 0
    return starts


def _windows(number: int, shard: Shard, chosen: np.ndarray, layout: Layout) -> np.ndarray:
    """(windows, 3) of the ``chosen`` documents of one shard."""
    marks = np.asarray(shard.marks)
    room = layout.length - SPECIAL_PER_WINDOW
    starts = unit_starts(marks, layout.unit)
    windows = cut_windows(shard.offsets, (marks & SENTENCE) > 0, starts, room)
    documents = np.searchsorted(shard.offsets, windows[:, 0], "right") - 1
    windows = windows[chosen[documents]]
    return np.column_stack([np.full(len(windows), number), windows])


def _merged(windows: np.ndarray) -> list[list[int]]:
    """Neighbouring windows joined, so that counting is a few large reads."""
    if not len(windows):
        return []
    rows = windows[np.lexsort((windows[:, 1], windows[:, 0]))]
    breaks = np.flatnonzero((rows[1:, 0] != rows[:-1, 0]) | (rows[1:, 1] != rows[:-1, 2])) + 1
    firsts, lasts = np.r_[0, breaks], np.r_[breaks - 1, len(rows) - 1]
    merged: list[list[int]] = np.column_stack([rows[firsts, :2], rows[lasts, 2]]).tolist()
    return merged
