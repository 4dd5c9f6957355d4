"""Tagging of words or characters with types of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from kobert_kit.tasks.bio import OUTSIDE
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.heads.kinds import Head, Tagging
from kobert_kit.tasks.metrics import ner_entity_f1, ner_entity_macro_f1_per_sentence
from kobert_kit.tasks.metrics.entities import entities
from kobert_kit.tasks.tagged import Sentence, decode_tags, encode_tags
from kobert_kit.tasks.windows import TokenWindows


@dataclass(frozen=True)
class TaggedUnits(Sentence):
    """A text of units, words or characters; ``spans`` are their characters in it."""

    spans: tuple[tuple[int, int], ...]

    def of_units(self, tags: Sequence[str]) -> list[str]:
        """Tags of the units from those of the characters: that of the first character."""
        return begun([tags[start] for start, _ in self.spans])


def joined(guid: str, units: Sequence[str], tags: Sequence[str], space: str) -> TaggedUnits:
    """The text of ``units`` with ``space`` between them; an entity goes on over it."""
    parts: list[str] = []
    of_characters: list[str] = []
    spans = []
    for unit, tag in zip(units, begun(tags), strict=True):
        inside = OUTSIDE if tag == OUTSIDE else f"I-{tag[2:]}"
        if parts and space:
            parts.append(space)
            of_characters.append(inside if tag == inside else OUTSIDE)
        spans.append((len(of_characters), len(of_characters) + len(unit)))
        parts.append(unit)
        of_characters += [tag, *[inside] * (len(unit) - 1)]
    return TaggedUnits(guid, "".join(parts), tuple(of_characters), tuple(spans))


def begun(tags: Sequence[str]) -> list[str]:
    """``tags`` where every I- that goes on with nothing begins an entity, as conlleval reads it."""
    found: list[str] = []
    for tag in tags:
        goes_on = found and found[-1][1:] == tag[1:]
        found.append(f"B-{tag[2:]}" if tag.startswith("I-") and not goes_on else tag)
    return found


@dataclass(frozen=True, kw_only=True)
class Units:
    """Tagging of `TaggedUnits`, however they were read; ``types`` are the entities' types."""

    name: str
    types: tuple[str, ...]
    headline: str
    added_tokens: tuple[str, ...] = ()
    max_length: int = 128

    @property
    def labels(self) -> tuple[str, ...]:
        return (*(f"{place}-{kind}" for kind in self.types for place in "BI"), OUTSIDE)

    @property
    def head(self) -> Head:
        return Tagging(self.labels)

    def misfits(
        self, examples: Sequence[TaggedUnits], tokenizer: Any, max_length: int
    ) -> dict[str, str]:
        """None. Longer texts become windows."""
        return {}

    def encode(
        self, examples: Sequence[TaggedUnits], tokenizer: Any, max_length: int
    ) -> TokenWindows[TaggedUnits]:
        return encode_tags(examples, self.labels, tokenizer, max_length)

    def decode(self, rows: Encoded[TaggedUnits], outputs: Sequence[np.ndarray]) -> list[list[str]]:
        """The tags of each text's units."""
        found = decode_tags(rows, outputs, self.labels)
        return [each.of_units(tags) for each, tags in zip(rows.examples, found, strict=True)]

    def score(self, rows: Encoded[TaggedUnits], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        return scores(gold_of(rows.examples), self.decode(rows, outputs))

    def predictions(
        self, rows: Encoded[TaggedUnits], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        for example, tags in zip(rows.examples, self.decode(rows, outputs), strict=True):
            found = []
            for first, last, kind in sorted(entities(tags)):
                start, end = example.spans[first][0], example.spans[last - 1][1]
                text = example.text[start:end]
                found.append({"start": start, "end": end, "type": kind, "text": text})
            gold = example.of_units(example.tags)
            yield {"guid": example.guid, "gold": gold, "pred": tags, "entities": found}

    def confusion(
        self, rows: Encoded[TaggedUnits], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        """The tags of all units."""
        gold = chain.from_iterable(gold_of(rows.examples))
        return list(gold), list(chain.from_iterable(self.decode(rows, outputs)))

    def baseline(
        self, train: Sequence[TaggedUnits], dev: Sequence[TaggedUnits]
    ) -> dict[str, float]:
        """No entity."""
        return scores(gold_of(dev), [[OUTSIDE] * len(example.spans) for example in dev])


def gold_of(examples: Sequence[TaggedUnits]) -> list[list[str]]:
    return [example.of_units(example.tags) for example in examples]


def scores(gold: Sequence[Sequence[str]], pred: Sequence[Sequence[str]]) -> dict[str, float]:
    """F1 of entities over units, pooled and by type."""
    sentences = [{"chars": tags, "tags": tags} for tags in gold]
    return {
        "entity_f1": ner_entity_f1(sentences, pred),
        "entity_macro_f1": ner_entity_macro_f1_per_sentence(sentences, pred),
    }
