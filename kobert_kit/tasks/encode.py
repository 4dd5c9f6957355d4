"""Examples as token ids, encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from kobert_kit.tasks.task import Example, SentenceTask


@dataclass
class Encoded:
    """Ragged rows: ``ids`` and ``types`` (tokens,), row i at ``offsets[i]:offsets[i + 1]``.

    ``labels`` (examples,) are places in the task's labels, or scores.
    """

    ids: np.ndarray
    types: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """(examples,) tokens of each row, special tokens included."""
        return np.diff(self.offsets)


def encode(
    task: SentenceTask, examples: Sequence[Example], tokenizer: Any, max_length: int
) -> Encoded:
    """Encode texts or pairs with [CLS] and [SEP]; of a pair, the longer text is cut first."""
    pairs = len(task.texts) == 2
    encoding = tokenizer(
        [example.text_a for example in examples],
        [example.text_b or "" for example in examples] if pairs else None,
        truncation=True,
        max_length=max_length,
        return_attention_mask=False,
        return_token_type_ids=True,
    )
    rows = encoding["input_ids"]
    place = {label: number for number, label in enumerate(task.labels)}
    if task.is_regression:
        labels = np.array([example.label for example in examples], dtype=np.float32)
    else:
        labels = np.array([place[str(example.label)] for example in examples], dtype=np.int64)
    return Encoded(
        ids=_flat(rows, np.int32),
        types=_flat(encoding["token_type_ids"], np.uint8),
        offsets=np.cumsum([0, *map(len, rows)]),
        labels=labels,
    )


def _flat(rows: Sequence[Sequence[int]], kind: type) -> np.ndarray:
    return np.fromiter(chain.from_iterable(rows), dtype=kind)
