"""Sentence classification and regression, for `kobert_kit.training.loop.train`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from kobert_kit.tasks.batches import length_grouped_batches, sorted_batches
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.task import SentenceTask
from kobert_kit.training.batch import TensorBatch

EVALUATION_BATCH_SIZE = 64


@dataclass(kw_only=True)
class SentenceBatch(TensorBatch):
    """``input_ids`` (batch, length); ``attention_mask`` likewise, or None where nothing is padded;
    ``token_type_ids`` likewise, or None where the model takes none; ``labels`` (batch,)."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor | None
    token_type_ids: torch.Tensor | None
    labels: torch.Tensor

    @property
    def weight(self) -> int:
        return len(self.labels)

    def logits(self, model: nn.Module) -> torch.Tensor:
        """(batch, labels), or (batch, 1) for regression."""
        types = {} if self.token_type_ids is None else {"token_type_ids": self.token_type_ids}
        output = model(self.input_ids, attention_mask=self.attention_mask, **types)
        logits: torch.Tensor = output.logits.float()
        return logits


class SentenceObjective:
    """Cross-entropy, or squared error where the task is regression."""

    def __init__(
        self,
        task: SentenceTask,
        train: Encoded,
        dev: Encoded,
        pad_id: int,
        takes_token_types: bool,
        batch_size: int,
        seed: int,
    ) -> None:
        self.task, self.train, self.dev = task, train, dev
        self.pad_id, self.takes_token_types = pad_id, takes_token_types
        self.batch_size, self.seed = batch_size, seed
        self.steps_per_epoch = -(-len(train) // batch_size)
        self._batches = lru_cache(maxsize=2)(self._batches_of)
        self._outputs: np.ndarray | None = None

    def batch(self, step: int, part: int, parts: int, spent: float) -> SentenceBatch:
        epoch, place = divmod(step, self.steps_per_epoch)
        return self._make(self.train, self._batches(epoch)[place][part::parts])

    def _batches_of(self, epoch: int) -> list[np.ndarray]:
        return length_grouped_batches(self.train.lengths, self.batch_size, self.seed, epoch)

    def loss(self, model: nn.Module, batch: SentenceBatch) -> torch.Tensor:
        logits = batch.logits(model)
        if self.task.is_regression:
            return F.mse_loss(logits.squeeze(-1), batch.labels, reduction="sum")
        return F.cross_entropy(logits, batch.labels, reduction="sum")

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        self._outputs = self.predict(model)
        return self.task.scores(self.gold(), self.labels_of(self._outputs))

    def predicted(self, model: nn.Module) -> np.ndarray:
        """`predict` of the trained model: from the last evaluation, if this process ran it."""
        if self._outputs is None:
            with torch.inference_mode():
                self._outputs = self.predict(model.eval())
        return self._outputs

    def predict(self, model: nn.Module) -> np.ndarray:
        """(examples, labels) probabilities on dev, or (examples, 1) scores, in dev's order."""
        device = next(model.parameters()).device
        outputs = np.zeros((len(self.dev), max(1, len(self.task.labels))))
        for rows in sorted_batches(self.dev.lengths, EVALUATION_BATCH_SIZE):
            logits = self._make(self.dev, rows).to(device).logits(model)
            values = logits if self.task.is_regression else logits.softmax(-1)
            outputs[rows] = values.cpu().numpy()
        return outputs

    def gold(self) -> list[Any]:
        """Dev's labels by name, or its scores."""
        return [self._named(value) for value in self.dev.labels.tolist()]

    def labels_of(self, outputs: np.ndarray) -> list[Any]:
        """What `predict` gave, as labels by name, or as scores."""
        values = outputs[:, 0] if self.task.is_regression else outputs.argmax(-1)
        return [self._named(value) for value in values.tolist()]

    def _named(self, value: Any) -> Any:
        return value if self.task.is_regression else self.task.labels[value]

    def _make(self, encoded: Encoded, rows: np.ndarray) -> SentenceBatch:
        lengths = encoded.lengths[rows]
        places = np.arange(lengths.max())
        real = places < lengths[:, None]
        flat = (encoded.offsets[rows][:, None] + places)[real]
        ids = np.full(real.shape, self.pad_id, dtype=np.int64)
        ids[real] = encoded.ids[flat]
        types = None
        if self.takes_token_types:
            types = np.zeros(real.shape, dtype=np.int64)
            types[real] = encoded.types[flat]
        return SentenceBatch(
            input_ids=torch.from_numpy(ids),
            attention_mask=None if real.all() else torch.from_numpy(real),
            token_type_ids=None if types is None else torch.from_numpy(types),
            labels=torch.from_numpy(encoded.labels[rows]),
            tokens=int(lengths.sum()),
        )
