"""Any task, for `kobert_kit.training.loop.train`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import nn

from kobert_kit.finetune.batches import length_grouped_batches, sorted_batches
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.heads.kinds import IGNORED, Head
from kobert_kit.tasks.task import Task
from kobert_kit.training.batch import TensorBatch

EVALUATION_BATCH_SIZE = 64
WIDTHS = 8  # tokens


@dataclass(kw_only=True)
class TaskBatch(TensorBatch):
    """``input_ids`` (batch, length), of choices (batch, choices, length); ``attention_mask``
    likewise, or None where nothing is padded; ``token_type_ids`` likewise, or None where the model
    takes none; ``labels`` as the head wants them; ``weight`` of them are learnt. ``inputs`` are
    what else the model takes, by argument."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor | None
    token_type_ids: torch.Tensor | None
    labels: torch.Tensor
    weight: int
    inputs: dict[str, torch.Tensor] = field(default_factory=dict)

    def output(self, model: nn.Module) -> Any:
        """What ``model`` returns for the batch."""
        types = {} if self.token_type_ids is None else {"token_type_ids": self.token_type_ids}
        return model(self.input_ids, attention_mask=self.attention_mask, **types, **self.inputs)

    def _with(self, change: Callable[[torch.Tensor], torch.Tensor]) -> TaskBatch:
        changed = {name: change(value) for name, value in self.inputs.items()}
        return replace(super()._with(change), inputs=changed)


class TaskObjective:
    """The loss of ``head`` (the task's, if None) on ``train``, and its scores on ``dev``."""

    def __init__(
        self,
        task: Task[Any],
        train: Encoded[Any],
        dev: Encoded[Any],
        pad_id: int,
        takes_token_types: bool,
        batch_size: int,
        seed: int,
        head: Head | None = None,
    ) -> None:
        self.task, self.head, self.train, self.dev = task, head or task.head, train, dev
        self.pad_id, self.takes_token_types = pad_id, takes_token_types
        self.batch_size, self.seed = batch_size, seed
        self.steps_per_epoch = -(-len(train) // batch_size)
        self._batches = lru_cache(maxsize=2)(self._batches_of)
        self._outputs: list[np.ndarray] | None = None

    def batch(self, step: int, part: int, parts: int, spent: float) -> TaskBatch:
        epoch, place = divmod(step, self.steps_per_epoch)
        return self._make(self.train, self._batches(epoch)[place][part::parts])

    def _batches_of(self, epoch: int) -> list[np.ndarray]:
        return length_grouped_batches(self.train.lengths, self.batch_size, self.seed, epoch)

    def logits(self, model: nn.Module, batch: TaskBatch) -> torch.Tensor:
        """The head's logits, as it shapes them."""
        return self.head.logits(batch.output(model), batch.attention_mask)

    def loss(self, model: nn.Module, batch: TaskBatch) -> torch.Tensor:
        return self.head.loss(self.logits(model, batch), batch.labels)

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        self._outputs = self.predict(model)
        return self.task.score(self.dev, self._outputs)

    def predicted(self, model: nn.Module) -> list[np.ndarray]:
        """`predict` of the trained model: from the last evaluation, if this process ran it."""
        if self._outputs is None:
            with torch.inference_mode():
                self._outputs = self.predict(model.eval())
        return self._outputs

    def predict(self, model: nn.Module) -> list[np.ndarray]:
        """What the head gives for each row of dev, in dev's order, without padding."""
        device = next(model.parameters()).device
        outputs: list[np.ndarray] = [np.empty(0)] * len(self.dev)
        lengths = self.dev.output_lengths
        for rows in sorted_batches(self.dev.lengths, EVALUATION_BATCH_SIZE):
            logits = self.logits(model, self._make(self.dev, rows).to(device))
            values = self.head.outputs(logits).cpu().numpy()
            for row, value in zip(rows.tolist(), values, strict=True):
                outputs[row] = value[: lengths[row]].copy() if value.ndim > 1 else value
        return outputs

    def _make(self, encoded: Encoded[Any], rows: np.ndarray) -> TaskBatch:
        starts, lengths = encoded.sequences(rows)
        places = np.arange(_width(int(lengths.max()), int(encoded.lengths.max())))
        real = places < lengths[..., None]
        flat = (starts[..., None] + places)[real]
        ids = np.full(real.shape, self.pad_id, dtype=np.int64)
        ids[real] = encoded.ids[flat]
        types = None
        if self.takes_token_types:
            types = np.zeros(real.shape, dtype=np.int64)
            types[real] = encoded.types[flat]
        labels = encoded.labels_of(rows, flat, real)
        return TaskBatch(
            input_ids=torch.from_numpy(ids),
            attention_mask=_mask(real),
            token_type_ids=None if types is None else torch.from_numpy(types),
            labels=torch.from_numpy(labels),
            tokens=int(lengths.sum()),
            weight=_weight(labels),
            inputs={
                name: torch.from_numpy(values) for name, values in encoded.inputs_of(rows).items()
            },
        )


def _weight(labels: np.ndarray) -> int:
    """How many ``labels`` are learnt. Scores are, all of them: one may be as low as IGNORED."""
    is_score = np.issubdtype(labels.dtype, np.floating)
    return labels.size if is_score else int((labels != IGNORED).sum())


def _width(longest: int, most: int) -> int:
    """A batch is as wide as its longest row, up to a multiple of WIDTHS, but for the widest.

    For each new shape of a product oneDNN makes code that it keeps, half a megabyte a time; and
    a GPU's half-precision units work in eights.
    """
    return min(-(-longest // WIDTHS) * WIDTHS, most)


def _mask(real: np.ndarray) -> torch.Tensor | None:
    """None where nothing is padded; for choices always one, of numbers, as ModernBERT wants it."""
    if real.ndim > 2:
        return torch.from_numpy(real.astype(np.int64))
    return None if real.all() else torch.from_numpy(real)
