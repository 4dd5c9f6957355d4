"""Masked language modelling over prepared text: the batches, the loss, the evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from kobert_kit.pretrain.masking import MaskSettings, mask_words
from kobert_kit.pretrain.model import masked_loss
from kobert_kit.pretrain.prepared import Shard
from kobert_kit.pretrain.windows import cut_windows
from kobert_kit.training.batch import TensorBatch

EVALUATION_EPOCH = 1 << 40  # no training epoch gets there, so these masks are its own


@dataclass(frozen=True)
class SpecialIds:
    """Ids of the tokens that a sequence is built with."""

    cls: int
    sep: int
    pad: int


@dataclass(kw_only=True)
class MaskedBatch(TensorBatch):
    """``input_ids`` (batch, length); ``attention_mask`` likewise, or None where nothing is padded;
    ``positions`` and ``labels`` (masked,): flat places in ``input_ids`` and the true ids there."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor | None
    positions: torch.Tensor
    labels: torch.Tensor

    @property
    def weight(self) -> int:
        return len(self.labels)


class Sequences:
    """The windows over the documents of one split, read from shards on demand."""

    def __init__(self, shards: list[Shard], held_out: bool, length: int) -> None:
        self.shards = shards
        rows = []
        for number, shard in enumerate(shards):
            chosen = np.flatnonzero(shard.held_out == held_out)
            for document in chosen:
                begin, end = shard.offsets[document : document + 2].tolist()
                windows = begin + cut_windows(
                    np.array([0, end - begin]), shard.words[begin:end], length - 2
                )
                rows.append(np.column_stack([np.full(len(windows), number), windows]))
        self.rows = np.concatenate(rows) if rows else np.zeros((0, 3), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def tokens(self) -> int:
        """Tokens of all sequences, without special tokens."""
        return int((self.rows[:, 2] - self.rows[:, 1]).sum())

    def frequencies(self, vocab_size: int) -> np.ndarray:
        """(vocab_size,) how often each id occurs."""
        counts = np.zeros(vocab_size, dtype=np.int64)
        for number, begin, end in _merged(self.rows):
            counts += np.bincount(self.shards[number].ids[begin:end], minlength=vocab_size)
        return counts

    def read(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        number, begin, end = self.rows[index].tolist()
        shard = self.shards[number]
        return shard.ids[begin:end], shard.words[begin:end]


def _merged(rows: np.ndarray) -> list[list[int]]:
    """Neighbouring windows joined, so that counting is a few large reads."""
    if not len(rows):
        return []
    breaks = np.flatnonzero((rows[1:, 0] != rows[:-1, 0]) | (rows[1:, 1] != rows[:-1, 2])) + 1
    firsts, lasts = np.r_[0, breaks], np.r_[breaks - 1, len(rows) - 1]
    merged: list[list[int]] = np.column_stack([rows[firsts, :2], rows[lasts, 2]]).tolist()
    return merged


class MaskedLanguageModelling:
    """The objective of BERT pretraining, for `kobert_kit.training.loop.train`."""

    def __init__(
        self,
        training: Sequences,
        evaluation: Sequences,
        masks: MaskSettings,
        special: SpecialIds,
        batch_size: int,
        evaluation_size: int = 256,
    ) -> None:
        self.training, self.masks, self.special = training, masks, special
        self.batch_size = batch_size
        self._order: dict[int, np.ndarray] = {}
        chosen = _shuffled(len(evaluation), masks.seed, EVALUATION_EPOCH)[:evaluation_size]
        self.evaluation_batches = [
            self._make(evaluation, [(EVALUATION_EPOCH, int(i)) for i in chosen[at : at + 64]])
            for at in range(0, len(chosen), 64)
        ]

    def batch(self, step: int, part: int, parts: int) -> MaskedBatch:
        first = step * self.batch_size
        keys = [self._key(number) for number in range(first + part, first + self.batch_size, parts)]
        return self._make(self.training, keys)

    def loss(self, model: nn.Module, batch: MaskedBatch) -> torch.Tensor:
        logits = model(batch.input_ids, batch.attention_mask, batch.positions)
        return masked_loss(logits, batch.labels)

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        """Loss (nats a masked token) and accuracy on held-out documents with fixed masks."""
        if not self.evaluation_batches:
            return {}
        device = next(model.parameters()).device
        loss = correct = 0.0
        for batch in (batch.to(device) for batch in self.evaluation_batches):
            logits = model(batch.input_ids, batch.attention_mask, batch.positions)
            loss += masked_loss(logits, batch.labels).item()
            correct += int((logits.argmax(-1) == batch.labels).sum())
        count = sum(batch.weight for batch in self.evaluation_batches)
        return {"evaluation_loss": loss / count, "evaluation_accuracy": correct / count}

    def _key(self, number: int) -> tuple[int, int]:
        """Epoch and example of the ``number``-th sequence of the run."""
        epoch, place = divmod(number, len(self.training))
        if epoch not in self._order:
            self._order = {
                kept: order for kept, order in self._order.items() if kept >= epoch - 1
            } | {epoch: _shuffled(len(self.training), self.masks.seed, epoch)}
        return epoch, int(self._order[epoch][place])

    def _make(self, sequences: Sequences, keys: list[tuple[int, int]]) -> MaskedBatch:
        read = [sequences.read(example) for _, example in keys]
        lengths = np.array([len(ids) for ids, _ in read])
        ids = np.concatenate([ids for ids, _ in read]).astype(np.int64)
        starts = np.concatenate([words for _, words in read])
        row_starts = np.cumsum(lengths) - lengths
        starts[row_starts] = True
        rows = np.repeat(np.arange(len(keys)), lengths)
        masked, chosen = mask_words(
            ids, np.cumsum(starts) - 1, rows[starts], np.array(keys), self.masks
        )
        width = int(lengths.max()) + 2
        flat = rows * width + 1 + np.arange(len(ids)) - row_starts[rows]
        special = self.special
        grid = np.full((len(keys), width), special.pad)
        grid[:, 0] = special.cls
        grid[np.arange(len(keys)), lengths + 1] = special.sep
        grid.reshape(-1)[flat] = masked
        padded = None
        if lengths.min() < lengths.max():
            padded = torch.from_numpy(np.arange(width) < lengths[:, None] + 2)
        return MaskedBatch(
            input_ids=torch.from_numpy(grid),
            attention_mask=padded,
            positions=torch.from_numpy(flat[chosen]),
            labels=torch.from_numpy(ids[chosen]),
            tokens=int(lengths.sum()) + 2 * len(keys),
        )


def _shuffled(count: int, seed: int, epoch: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng([seed, epoch]).permutation(count)
