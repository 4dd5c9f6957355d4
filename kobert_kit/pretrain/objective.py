"""Masked language modelling over prepared text: the batches, the loss, the evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import nn

from kobert_kit.pretrain.batches import BatchMaker, MaskedBatch
from kobert_kit.pretrain.model import MaskedLanguageModel
from kobert_kit.pretrain.packing import epoch_order
from kobert_kit.pretrain.sequences import Sequences

Array = np.ndarray

EVALUATION_EPOCH = 1 << 40  # no training epoch gets there, so these masks are its own
EVALUATION_BATCH = 64


@dataclass(frozen=True)
class Phase:
    """From the share ``begins`` of the budget on, ``batch_size`` of ``sequences`` a step."""

    begins: float
    sequences: Sequences
    batch_size: int


class MaskedLanguageModelling:
    """The objective of BERT pretraining, for `kobert_kit.training.loop.train`.

    ``phases`` follow each other, the first from 0 on; ``seed`` decides the order of the sequences.
    """

    def __init__(
        self,
        phases: Sequence[Phase],
        evaluation: Sequences,
        batches: BatchMaker,
        seed: int,
        evaluation_size: int = 256,
    ) -> None:
        self.phases, self.batches, self.seed = phases, batches, seed
        self._order = lru_cache(maxsize=2)(self._new_order)
        chosen = np.random.default_rng([seed, EVALUATION_EPOCH]).permutation(len(evaluation))
        chosen = chosen[:evaluation_size]
        chosen = chosen[np.argsort(evaluation.lengths[chosen], kind="stable")]
        keys = [(EVALUATION_EPOCH, int(number)) for number in chosen]
        self.evaluation_batches = [
            batches.make(evaluation, keys[at : at + EVALUATION_BATCH])
            for at in range(0, len(keys), EVALUATION_BATCH)
        ]

    def batch(self, step: int, part: int, parts: int, spent: float) -> MaskedBatch:
        number = max(i for i, phase in enumerate(self.phases) if phase.begins <= spent or not i)
        size = self.phases[number].batch_size
        first = step * size
        keys = [self._key(number, place) for place in range(first + part, first + size, parts)]
        return self.batches.make(self.phases[number].sequences, keys)

    def loss(self, model: nn.Module, batch: MaskedBatch) -> torch.Tensor:
        loss: torch.Tensor = model(
            batch.input_ids,
            batch.attention_mask,
            batch.positions,
            batch.position_ids,
            batch.labels,
        )
        return loss

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        """Loss (nats a masked token) and accuracy on held-out documents with fixed masks."""
        if not self.evaluation_batches:
            return {}
        assert isinstance(model, MaskedLanguageModel)
        device = next(model.parameters()).device
        loss = correct = 0.0
        for batch in (batch.to(device) for batch in self.evaluation_batches):
            found = model.score(
                batch.input_ids,
                batch.attention_mask,
                batch.positions,
                batch.position_ids,
                batch.labels,
            )
            loss += found[0].item()
            correct += found[1].item()
        count = max(1, sum(batch.weight for batch in self.evaluation_batches))
        return {"evaluation_loss": loss / count, "evaluation_accuracy": correct / count}

    def _key(self, phase: int, place: int) -> tuple[int, int]:
        """Epoch and sequence at ``place`` of all epochs of a phase laid end to end."""
        epoch, place = divmod(place, len(self.phases[phase].sequences))
        return epoch, int(self._order(phase, epoch)[place])

    def _new_order(self, phase: int, epoch: int) -> Array:
        sequences, size = self.phases[phase].sequences, self.phases[phase].batch_size
        return epoch_order(sequences.lengths, size, self.seed, epoch)
