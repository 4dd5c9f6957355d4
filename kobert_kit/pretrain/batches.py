"""Sequences laid out and masked as the model takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from kobert_kit.pretrain.sequences import SPECIAL_PER_WINDOW, Sequences
from kobert_kit.training.batch import TensorBatch

Array = np.ndarray

# (ids, words, rows, keys) to the ids after masking and which are to be predicted; see
# `kobert_kit.pretrain.masking.mask_words` for the shapes.
Mask = Callable[[Array, Array, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class SpecialIds:
    """Ids of the tokens that a sequence is built with."""

    cls: int
    sep: int
    pad: int


@dataclass(kw_only=True)
class MaskedBatch(TensorBatch):
    """A batch as the model takes it.

    ``input_ids`` (batch, length). ``attention_mask`` bool, what may be seen: (batch, 1, 1, length),
    or (batch, 1, length, length) where windows share a sequence, or None for everything.
    ``position_ids`` (batch, length), or None for 0, 1, ... ``positions`` and ``labels`` (masked,):
    flat places in ``input_ids`` and the true ids there.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor | None
    positions: torch.Tensor
    labels: torch.Tensor
    position_ids: torch.Tensor | None = None

    @property
    def weight(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class BatchMaker:
    """Makes batches with ``mask`` as the rule of masking."""

    mask: Mask
    special: SpecialIds

    def make(self, sequences: Sequences, keys: Sequence[tuple[int, int]]) -> MaskedBatch:
        """The batch of these sequences, each given as (epoch, number)."""
        windows = [
            (row, epoch, window)
            for row, (epoch, number) in enumerate(keys)
            for window in sequences.windows_of(number)
        ]
        read = [sequences.read(window) for _, _, window in windows]
        ids = np.concatenate([ids for ids, _ in read]).astype(np.int64)
        starts = np.concatenate([starts for _, starts in read])
        grid = _Grid(
            np.array([row for row, _, _ in windows]), np.array([len(ids) for ids, _ in read])
        )
        starts[grid.firsts] = True
        words = np.cumsum(starts) - 1
        masked, chosen = self.mask(
            ids,
            words,
            grid.window_of_token[starts],
            np.array([(epoch, window) for _, epoch, window in windows]),
        )
        input_ids = np.full((len(keys), grid.width), self.special.pad)
        input_ids[grid.rows, grid.begins] = self.special.cls
        input_ids[grid.rows, grid.begins + grid.lengths + 1] = self.special.sep
        input_ids.reshape(-1)[grid.places] = masked
        return MaskedBatch(
            input_ids=torch.from_numpy(input_ids),
            attention_mask=_tensor(grid.attention_mask()),
            position_ids=_tensor(grid.position_ids()),
            positions=torch.from_numpy(grid.places[chosen]),
            labels=torch.from_numpy(ids[chosen]),
            tokens=len(ids) + SPECIAL_PER_WINDOW * len(windows),
        )


class _Grid:
    """Where the windows of a batch lie in its sequences.

    ``rows``, ``begins`` and ``lengths`` (windows,): the sequence of each, the column of its [CLS],
    and its tokens without [CLS] and [SEP]. Of the tokens laid flat, ``firsts`` (windows,) are the
    first of each window, and ``places`` (tokens,) are their flat places in the batch.
    """

    def __init__(self, rows: Array, lengths: Array) -> None:
        self.rows, self.lengths = rows, lengths
        taken = lengths + SPECIAL_PER_WINDOW
        ends = np.cumsum(taken)
        first_of_row = np.searchsorted(rows, np.arange(rows[-1] + 1))
        self.begins = ends - taken - (ends - taken)[first_of_row][rows]
        self.width = int((self.begins + taken).max())
        self.shares = len(rows) > rows[-1] + 1
        self.firsts = np.cumsum(lengths) - lengths
        self.window_of_token = np.repeat(np.arange(len(rows)), lengths)
        inside = np.arange(len(self.window_of_token)) - self.firsts[self.window_of_token]
        before = rows * self.width + self.begins + 1
        self.places = before[self.window_of_token] + inside

    def attention_mask(self) -> Array | None:
        owners = self._owners
        if self.shares:  # a window sees itself only; padding too, for a row of nothing is no number
            seen: Array = (owners[:, :, None] == owners[:, None, :])[:, None]
            return seen
        real = owners >= 0
        return None if real.all() else real[:, None, None]

    def position_ids(self) -> Array | None:
        if not self.shares:
            return None
        owners = self._owners
        columns = np.broadcast_to(np.arange(self.width), owners.shape)
        places: Array = np.where(owners >= 0, columns - self.begins[owners], 0)
        return places

    @cached_property
    def _owners(self) -> Array:
        """(rows, width) the window at each place, -1 for padding."""
        owners = np.full((int(self.rows[-1]) + 1, self.width), -1)
        taken = self.lengths + SPECIAL_PER_WINDOW
        window = np.repeat(np.arange(len(taken)), taken)
        inside = np.arange(len(window)) - np.repeat(np.cumsum(taken) - taken, taken)
        owners[self.rows[window], self.begins[window] + inside] = window
        return owners


def _tensor(array: Array | None) -> torch.Tensor | None:
    return None if array is None else torch.from_numpy(np.ascontiguousarray(array))
