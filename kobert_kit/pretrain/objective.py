"""Masked language modelling over prepared text: the batches, the loss, the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import nn

from kobert_kit.pretrain.model import masked_loss
from kobert_kit.pretrain.packing import epoch_order
from kobert_kit.pretrain.sequences import Sequences
from kobert_kit.training.batch import TensorBatch

Array = np.ndarray

# (ids, words, rows, keys) to the ids after masking and which are to be predicted; see
# `kobert_kit.pretrain.masking.mask_words` for the shapes.
Mask = Callable[[Array, Array, Array, Array], tuple[Array, Array]]

EVALUATION_EPOCH = 1 << 40  # no training epoch gets there, so these masks are its own


@dataclass(frozen=True)
class SpecialIds:
    """Ids of the tokens that a sequence is built with."""

    cls: int
    sep: int
    pad: int


@dataclass(frozen=True)
class Phase:
    """From the share ``begins`` of the budget on, ``batch_size`` of ``sequences`` a step."""

    begins: float
    sequences: Sequences
    batch_size: int


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


class MaskedLanguageModelling:
    """The objective of BERT pretraining, for `kobert_kit.training.loop.train`.

    ``phases`` follow each other, the first from 0 on; ``seed`` decides the order of the sequences.
    """

    def __init__(
        self,
        phases: Sequence[Phase],
        evaluation: Sequences,
        mask: Mask,
        special: SpecialIds,
        seed: int,
        evaluation_size: int = 256,
    ) -> None:
        self.phases, self.mask, self.special, self.seed = phases, mask, special, seed
        self._order = lru_cache(maxsize=2)(self._new_order)
        chosen = np.random.default_rng([seed, EVALUATION_EPOCH]).permutation(len(evaluation))
        chosen = chosen[:evaluation_size]
        chosen = chosen[np.argsort(evaluation.lengths[chosen], kind="stable")]
        self.evaluation_batches = [
            self.make(evaluation, [(EVALUATION_EPOCH, int(i)) for i in chosen[at : at + 64]])
            for at in range(0, len(chosen), 64)
        ]

    def batch(self, step: int, part: int, parts: int, spent: float) -> MaskedBatch:
        number = max(i for i, phase in enumerate(self.phases) if phase.begins <= spent or not i)
        size = self.phases[number].batch_size
        first = step * size
        keys = [self._key(number, place) for place in range(first + part, first + size, parts)]
        return self.make(self.phases[number].sequences, keys)

    def loss(self, model: nn.Module, batch: MaskedBatch) -> torch.Tensor:
        return masked_loss(_logits(model, batch), batch.labels)

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        """Loss (nats a masked token) and accuracy on held-out documents with fixed masks."""
        if not self.evaluation_batches:
            return {}
        device = next(model.parameters()).device
        loss = correct = 0.0
        for batch in (batch.to(device) for batch in self.evaluation_batches):
            logits = _logits(model, batch)
            loss += masked_loss(logits, batch.labels).item()
            correct += int((logits.argmax(-1) == batch.labels).sum())
        count = max(1, sum(batch.weight for batch in self.evaluation_batches))
        return {"evaluation_loss": loss / count, "evaluation_accuracy": correct / count}

    def _key(self, phase: int, place: int) -> tuple[int, int]:
        """Epoch and sequence at ``place`` of all epochs of a phase laid end to end."""
        epoch, place = divmod(place, len(self.phases[phase].sequences))
        return epoch, int(self._order(phase, epoch)[place])

    def _new_order(self, phase: int, epoch: int) -> Array:
        sequences, size = self.phases[phase].sequences, self.phases[phase].batch_size
        return epoch_order(sequences.lengths, size, self.seed, epoch)

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
            tokens=len(ids) + 2 * len(windows),
        )


class _Grid:
    """Where the windows of a batch lie in its sequences.

    ``rows``, ``begins`` and ``lengths`` (windows,): the sequence of each, the column of its [CLS],
    and its tokens without [CLS] and [SEP]. Of the tokens laid flat, ``firsts`` (windows,) are the
    first of each window, and ``places`` (tokens,) are their flat places in the batch.
    """

    def __init__(self, rows: Array, lengths: Array) -> None:
        self.rows, self.lengths = rows, lengths
        taken = lengths + 2
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
        owners = self._owners()
        if self.shares:  # a window sees itself only; padding too, for a row of nothing is no number
            seen: Array = (owners[:, :, None] == owners[:, None, :])[:, None]
            return seen
        real = owners >= 0
        return None if real.all() else real[:, None, None]

    def position_ids(self) -> Array | None:
        if not self.shares:
            return None
        owners = self._owners()
        columns = np.broadcast_to(np.arange(self.width), owners.shape)
        places: Array = np.where(owners >= 0, columns - self.begins[owners], 0)
        return places

    def _owners(self) -> Array:
        """(rows, width) the window at each place, -1 for padding."""
        owners = np.full((int(self.rows[-1]) + 1, self.width), -1)
        taken = self.lengths + 2
        window = np.repeat(np.arange(len(taken)), taken)
        inside = np.arange(len(window)) - np.repeat(np.cumsum(taken) - taken, taken)
        owners[self.rows[window], self.begins[window] + inside] = window
        return owners


def _logits(model: nn.Module, batch: MaskedBatch) -> torch.Tensor:
    logits: torch.Tensor = model(
        batch.input_ids, batch.attention_mask, batch.positions, batch.position_ids
    )
    return logits


def _tensor(array: Array | None) -> torch.Tensor | None:
    return None if array is None else torch.from_numpy(np.ascontiguousarray(array))
