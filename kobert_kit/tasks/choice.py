"""Tasks that pick one of several choices, as SWAG does it (Zellers et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kobert_kit.tasks.encode import Encoded, encode_texts
from kobert_kit.tasks.heads.kinds import Choice, Head
from kobert_kit.tasks.sentence import Example, Sentences


@dataclass(frozen=True)
class ChoiceQuestion(Example):
    """``text_a`` is what stands before each of the ``choices``; there is no ``text_b``."""

    choices: tuple[str, ...]


@dataclass
class ChoiceRows(Encoded[ChoiceQuestion]):
    """A row is a question: a sequence for each of its ``choices``, one after another.

    So ``offsets`` are (rows * choices + 1,).
    """

    choices: int

    def __len__(self) -> int:
        return (len(self.offsets) - 1) // self.choices

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) tokens of the longest choice of each row."""
        longest: np.ndarray = np.diff(self.offsets).reshape(-1, self.choices).max(1)
        return longest

    def sequences(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = rows[:, None] * self.choices + np.arange(self.choices)
        return self.offsets[numbers], np.diff(self.offsets)[numbers]


@dataclass(frozen=True, kw_only=True)
class Choices(Sentences[ChoiceQuestion]):
    """Multiple choice; ``labels`` name the choices in order."""

    @property
    def head(self) -> Head:
        return Choice(self.labels)

    def encode(
        self, examples: Sequence[ChoiceQuestion], tokenizer: Any, max_length: int
    ) -> ChoiceRows:
        """A pair of the text and each choice; the longer of the two is cut first."""
        texts = [e.text_a for e in examples for _ in self.labels]
        choices = [choice for e in examples for choice in e.choices]
        place = {label: number for number, label in enumerate(self.labels)}
        labels = np.array([place[str(e.label)] for e in examples], dtype=np.int64)
        arrays = encode_texts(tokenizer, texts, choices, max_length)
        return ChoiceRows(examples, labels=labels, choices=len(self.labels), **arrays)
