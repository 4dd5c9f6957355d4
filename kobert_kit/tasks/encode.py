"""Examples as token ids, encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np

E = TypeVar("E")


@dataclass
class Encoded(Generic[E]):
    """Ragged rows: ``ids`` and ``types`` (tokens,), row i at ``offsets[i]:offsets[i + 1]``.

    ``labels`` (rows, ...) is what the head learns of each row. ``examples`` are what the rows were
    made of, one each unless a subclass says otherwise.
    """

    examples: Sequence[E]
    ids: np.ndarray
    types: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) tokens of each row, special tokens included."""
        return np.diff(self.offsets)

    def sequences(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the tokens of ``rows`` begin in ``ids``, and how many they are: (batch,) each.

        (batch, n) each where a row is n sequences.
        """
        return self.offsets[rows], self.lengths[rows]

    def labels_of(self, rows: np.ndarray, places: np.ndarray, real: np.ndarray) -> np.ndarray:
        """Labels of a batch of ``rows``.

        ``real`` (batch, length) tells tokens from padding, and ``places`` are where the tokens lie
        in ``ids``, in the same order.
        """
        labels: np.ndarray = self.labels[rows]
        return labels

    def inputs_of(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """What the model of this task takes of a batch of ``rows`` beside tokens, by argument."""
        return {}

    @property
    def output_lengths(self) -> np.ndarray:
        """(rows,) how much of a row's output, if it has a length, is not padding."""
        return self.lengths


def flat(rows: Sequence[Sequence[int]], kind: type) -> np.ndarray:
    """All values of ``rows`` one after another."""
    return np.fromiter(chain.from_iterable(rows), dtype=kind)


def padded(values: np.ndarray, offsets: np.ndarray, rows: np.ndarray, fill: int) -> np.ndarray:
    """A batch (rows, longest, ...) of ragged ``values``, ``fill`` behind the shorter ``rows``."""
    lengths = offsets[rows + 1] - offsets[rows]
    places = np.arange(lengths.max())
    real = places < lengths[:, None]
    batch = np.full((*real.shape, *values.shape[1:]), fill, dtype=values.dtype)
    batch[real] = values[(offsets[rows][:, None] + places)[real]]
    return batch


def encode_texts(
    tokenizer: Any, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int
) -> dict[str, np.ndarray]:
    """``ids``, ``types`` and ``offsets`` of texts or pairs with [CLS] and [SEP].

    Of a pair that is too long, the longer text is cut first.
    """
    encoding = tokenizer(
        list(texts),
        pairs,
        truncation=True,
        max_length=max_length,
        return_attention_mask=False,
        return_token_type_ids=True,
    )
    rows = encoding["input_ids"]
    return {
        "ids": flat(rows, np.int32),
        "types": flat(encoding["token_type_ids"], np.uint8),
        "offsets": np.cumsum([0, *map(len, rows)]),
    }
