"""Tasks that give one label or one score to a text or a pair of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from kobert_kit.tasks.encode import Encoded, encode_texts
from kobert_kit.tasks.formats.official import json_records
from kobert_kit.tasks.formats.parse import check_label, check_score, guid_of, nested, text_of
from kobert_kit.tasks.heads.kinds import Classification, Head, Regression


@dataclass(frozen=True)
class Example:
    """One text or pair of texts. ``label`` is a label's name, or a score for regression."""

    guid: str
    text_a: str
    text_b: str | None
    label: str | float


X = TypeVar("X", bound=Example)


@dataclass(frozen=True, kw_only=True)
class Sentences(Generic[X]):
    """Classification or regression of examples, however they were read.

    No ``labels`` mean regression. ``scores`` takes gold and predicted labels and returns metrics
    by name, times 100; ``headline`` is the one to rank by.
    """

    name: str
    labels: tuple[str, ...]
    headline: str
    scores: Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]
    added_tokens: tuple[str, ...] = ()
    max_length: int = 128

    @property
    def is_regression(self) -> bool:
        return not self.labels

    @property
    def head(self) -> Head:
        return Regression() if self.is_regression else Classification(self.labels)

    def misfits(self, examples: Sequence[X], tokenizer: Any, max_length: int) -> dict[str, str]:
        """None. Longer texts are cut."""
        return {}

    def encode(self, examples: Sequence[X], tokenizer: Any, max_length: int) -> Encoded[X]:
        """Texts or pairs with [CLS] and [SEP]; of a pair, the longer text is cut first.

        ``labels`` (examples,) are places in the task's labels, or scores.
        """
        are_pairs = any(e.text_b is not None for e in examples)
        pairs = [e.text_b or "" for e in examples] if are_pairs else None
        place = {label: number for number, label in enumerate(self.labels)}
        if self.is_regression:
            labels = np.array([e.label for e in examples], dtype=np.float32)
        else:
            labels = np.array([place[str(e.label)] for e in examples], dtype=np.int64)
        arrays = encode_texts(tokenizer, [e.text_a for e in examples], pairs, max_length)
        return Encoded(examples, labels=labels, **arrays)

    def score(self, rows: Encoded[X], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        # Not of rows.labels, whose scores are rounded to what a model computes in.
        return self.scores([example.label for example in rows.examples], self.decode(outputs))

    def predictions(
        self, rows: Encoded[X], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        for example, pred, row in zip(rows.examples, self.decode(outputs), outputs, strict=True):
            line: dict[str, Any] = {"guid": example.guid, "gold": example.label, "pred": pred}
            if self.labels:
                line["probabilities"] = {
                    label: round(p, 6) for label, p in zip(self.labels, row.tolist(), strict=True)
                }
            yield line

    def confusion(
        self, rows: Encoded[X], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        if self.is_regression:
            return None
        return [str(example.label) for example in rows.examples], self.decode(outputs)

    def baseline(self, train: Sequence[X], dev: Sequence[X]) -> dict[str, float]:
        """The training split's most frequent label, or its mean score.

        The correlation of a constant is undefined: NaN.
        """
        labels = [example.label for example in train]
        constant: str | float
        if self.is_regression:
            constant = float(np.mean(np.array(labels, dtype=np.float64)))
        else:
            constant = Counter(labels).most_common(1)[0][0]
        return self.scores([example.label for example in dev], [constant] * len(dev))

    def decode(self, outputs: Sequence[np.ndarray]) -> list[Any]:
        """Labels by name, or scores."""
        values = np.stack(outputs)
        best = values[:, 0] if self.is_regression else values.argmax(-1)
        return [self._named(value) for value in best.tolist()]

    def _named(self, value: Any) -> Any:
        return value if self.is_regression else self.labels[value]


@dataclass(frozen=True, kw_only=True)
class SentenceTask(Sentences[Example]):
    """A task of KLUE's that is a sentence classification or regression.

    ``folder`` names the folder of the official release and starts its files' names. ``texts`` are
    the fields with the texts; ``label`` and ``hub_label`` lead to the label in a record of the
    official files and of the hub. ``labels`` are in official order; none means regression between
    0 and 5. ``headline`` is the metric that KLUE ranks by.
    """

    folder: str
    texts: tuple[str, ...]
    label: tuple[str, ...]
    hub_label: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return (f"{self.folder}/{self.folder}_{{split}}.json",)

    def records(self, path: Path) -> Iterable[tuple[str, Any]]:
        return json_records(path, self.name)

    def parse(self, record: Any, where: str) -> Example:
        return self._parse(record, where, self.label)

    def parse_hub(self, record: dict[str, Any], where: str) -> Example:
        return self._parse(record, where, self.hub_label)

    def with_label(self, record: Any) -> Any:
        if not isinstance(record, dict) or nested(record, self.label) is not None:
            return record
        label: Any = self.labels[0] if self.labels else 0.0
        for name in reversed(self.label):
            label = {name: label}
        return record | label

    def _parse(self, record: Any, where: str, label_path: tuple[str, ...]) -> Example:
        guid = guid_of(self.name, record, where)
        where = f"{where} ({guid})"
        texts = [text_of(self.name, record, name, where) for name in self.texts]
        check = check_score if self.is_regression else check_label
        label = nested(record, label_path)
        check(self.name, record, label, self.labels, f"{where}: '{'.'.join(label_path)}'")
        return Example(guid, texts[0], texts[1] if len(texts) > 1 else None, label)
