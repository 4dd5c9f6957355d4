"""KLUE-NER: who, where, when and how much, as a tag for each character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.tasks.bio import OUTSIDE
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.formats.official import only_title, sentence_records
from kobert_kit.tasks.formats.parse import comment_of, looks_like, short
from kobert_kit.tasks.heads.kinds import Head, Tagging
from kobert_kit.tasks.metrics import (
    klue_ner_char_macro_f1,
    klue_ner_entity_macro_f1,
    ner_char_macro_f1_without_o,
    ner_entity_macro_f1_per_sentence,
)
from kobert_kit.tasks.metrics.entities import entities
from kobert_kit.tasks.tagged import Sentence, decode_tags, encode_tags
from kobert_kit.tasks.windows import TokenWindows

TYPES = ("PS", "LC", "OG", "DT", "TI", "QT")
LABELS = (*(f"{place}-{kind}" for kind in TYPES for place in "BI"), OUTSIDE)


@dataclass(frozen=True)
class EntityTask:
    """Tagging of characters."""

    name: str = "ner"
    files: tuple[str, ...] = ("klue-ner-v1.1/klue-ner-v1.1_{split}.tsv",)
    headline: str = "klue_ner_entity_macro_f1"
    added_tokens: tuple[str, ...] = ()
    max_length: int = 128

    @property
    def head(self) -> Head:
        return Tagging(LABELS)

    def records(self, path: Path) -> Iterator[tuple[str, list[str]]]:
        """The lines of each sentence: comments, then a line for each character."""
        return sentence_records(path)

    def parse(self, record: list[str], where: str) -> Sentence:
        guid, marked = comment_of(self.name, record, where)
        where = f"{where} ({guid})"
        pairs = [_character(line, where) for line in record if not line.startswith("##")]
        if not pairs:
            raise DataError(f"{where}: no line 'character<TAB>tag'")
        chars, tags = zip(*pairs, strict=True)
        _check_order(tags, where)
        marked_again = marked_text(chars, tags)
        if marked_again != marked:
            raise DataError(f"{where}: {_difference(marked, marked_again)}")
        return Sentence(guid, encodable("".join(chars)), tags)

    def parse_hub(self, record: dict[str, Any], where: str) -> Sentence:
        chars, tags = record.get("tokens"), record.get("ner_tags")
        if not chars or not isinstance(chars, list) or not isinstance(tags, list):
            raise DataError(f"{where}: no 'tokens' and 'ner_tags'{looks_like(self.name, record)}")
        if len(chars) != len(tags):
            raise DataError(f"{where}: {len(chars)} characters, but {len(tags)} tags")
        for char, tag in zip(chars, tags, strict=True):
            _character(f"{char}\t{tag}", where)
        _check_order(tags, where)
        # The hub gives no guid.
        return Sentence(str(record.get("guid") or where), encodable("".join(chars)), tuple(tags))

    def with_label(self, record: list[str]) -> list[str]:
        """A sentence without tags has its characters, or the line '## guid<TAB>sentence' alone."""
        comments = only_title(record)
        lines = [line for line in record if not line.startswith("##")]
        if not comments or any(line[1:] not in ("", "\t") for line in lines):
            return record
        guid, _, text = comments[-1].partition("\t")
        characters = "".join(line[0] for line in lines) or text
        return [f"{guid}\t{characters}", *(f"{char}\t{OUTSIDE}" for char in characters)]

    def misfits(
        self, examples: Sequence[Sentence], tokenizer: Any, max_length: int
    ) -> dict[str, str]:
        """None. Longer texts become windows."""
        return {}

    def encode(
        self, examples: Sequence[Sentence], tokenizer: Any, max_length: int
    ) -> TokenWindows[Sentence]:
        """A sentence that is too long becomes several windows: no gold tag is cut off."""
        return encode_tags(examples, LABELS, tokenizer, max_length)

    def decode(self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]) -> list[list[str]]:
        """The best valid tags of each sentence's characters."""
        return decode_tags(rows, outputs, LABELS)

    def score(self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        return scores(rows.examples, self.decode(rows, outputs))

    def predictions(
        self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        for example, tags in zip(rows.examples, self.decode(rows, outputs), strict=True):
            found = [
                {"start": start, "end": end, "type": kind, "text": example.text[start:end]}
                for start, end, kind in sorted(entities(tags))
            ]
            yield {
                "guid": example.guid,
                "gold": list(example.tags),
                "pred": tags,
                "entities": found,
            }

    def confusion(
        self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        """The tags of all characters."""
        gold = chain.from_iterable(example.tags for example in rows.examples)
        return list(gold), list(chain.from_iterable(self.decode(rows, outputs)))

    def baseline(self, train: Sequence[Sentence], dev: Sequence[Sentence]) -> dict[str, float]:
        """O everywhere, which most characters are."""
        return scores(dev, [[OUTSIDE] * len(example.text) for example in dev])


def scores(gold: Sequence[Sentence], pred: Sequence[Sequence[str]]) -> dict[str, float]:
    """The two official metrics, each followed by the conventional one."""
    sentences = [{"chars": list(example.text), "tags": example.tags} for example in gold]
    return {
        "klue_ner_entity_macro_f1": klue_ner_entity_macro_f1(sentences, pred, LABELS),
        "ner_entity_macro_f1_per_sentence": ner_entity_macro_f1_per_sentence(
            sentences, pred, LABELS
        ),
        "klue_ner_char_macro_f1": klue_ner_char_macro_f1(sentences, pred, LABELS),
        "ner_char_macro_f1_without_o": ner_char_macro_f1_without_o(sentences, pred, LABELS),
    }


def oracle(
    sentences: Sequence[Sentence], tokenizer: Any, max_length: int = 128
) -> dict[str, float]:
    """Scores of a perfect model: gold tags given to the tokens and back to the characters.

    What it lacks of 100 are entities that begin or end inside a token.
    """
    rows = TASK.encode(sentences, tokenizer, max_length)
    certain = np.where(np.arange(len(LABELS)) == rows.labels[:, None], 0.0, -1e3)
    return TASK.score(rows, np.split(certain, rows.offsets[1:-1]))


def marked_text(chars: Sequence[str], tags: Sequence[str]) -> str:
    """The sentence with its entities as <entity:TYPE>."""
    parts: list[str] = []
    reached = 0
    for start, end, kind in sorted(entities(tags)):
        parts += [*chars[reached:start], "<", *chars[start:end], f":{kind}>"]
        reached = end
    return "".join([*parts, *chars[reached:]])


def _character(line: str, where: str) -> tuple[str, str]:
    char, tab, tag = line[:1], line[1:2], line[2:]
    if tab != "\t" or tag not in LABELS:
        raise DataError(
            f"{where}: {short(line)} is not a character, a tab, and one of {', '.join(LABELS)}"
        )
    return char, tag


def _check_order(tags: Sequence[str], where: str) -> None:
    for place, (before, tag) in enumerate(zip([OUTSIDE, *tags], tags, strict=False)):
        if tag.startswith("I-") and before[1:] != tag[1:]:
            raise DataError(f"{where}: {tag} at character {place} follows {before}")


def _difference(marked: str, from_tags: str) -> str:
    """Where the markup of the comment and that of the characters part."""
    pairs = enumerate(zip(marked, from_tags, strict=False))
    place = next((n for n, (a, b) in pairs if a != b), min(len(marked), len(from_tags)))
    here, there = (repr(text[max(0, place - 10) : place + 10]) for text in (marked, from_tags))
    return f"the comment has {here} where the characters have {there}"


TASK = EntityTask()
