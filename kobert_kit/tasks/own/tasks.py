"""Tasks of one's own, made from what a TOML file says of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.records import fingerprint_values
from kobert_kit.tasks.answers import lost
from kobert_kit.tasks.bio import OUTSIDE
from kobert_kit.tasks.choice import ChoiceQuestion, Choices
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.formats.files import SplitFiles
from kobert_kit.tasks.formats.parse import nested, short
from kobert_kit.tasks.formats.squad import Question
from kobert_kit.tasks.metrics import (
    klue_nli_acc,
    klue_sts_pearsonr,
    korquad_char_f1,
    mrc_em_brackets_stripped,
    sts_spearmanr,
    ynat_macro_f1,
)
from kobert_kit.tasks.mrc import AnswerTask, plain_threshold
from kobert_kit.tasks.own.description import Columns, Description
from kobert_kit.tasks.own.rows import Raw, Row, read_rows
from kobert_kit.tasks.own.toml_table import near
from kobert_kit.tasks.sentence import Example, Sentences
from kobert_kit.tasks.tagging import TaggedUnits, Units, joined
from kobert_kit.tasks.task import Task


def label_scores(gold: Sequence[str], pred: Sequence[str]) -> dict[str, float]:
    """Accuracy, and the mean F1 over the labels on either side."""
    return {"accuracy": klue_nli_acc(gold, pred), "macro_f1": ynat_macro_f1(gold, pred)}


def number_scores(gold: Sequence[float], pred: Sequence[float]) -> dict[str, float]:
    """Correlations of the values and of their ranks."""
    return {"pearson": klue_sts_pearsonr(gold, pred), "spearman": sts_spearmanr(gold, pred)}


def answer_scores(questions: Sequence[Question], texts: Sequence[str]) -> dict[str, float]:
    """KorQuAD 1.0's exact match and F1."""
    gold = [{"id": q.guid, "answers": [text for _, text in q.answers]} for q in questions]
    pred = {question.guid: text for question, text in zip(questions, texts, strict=True)}
    return {
        "exact_match": mrc_em_brackets_stripped(gold, pred),
        "char_f1": korquad_char_f1(gold, pred),
    }


@dataclass(frozen=True, kw_only=True)
class Described:
    """How a task is read: as its description says."""

    description: Description

    @property
    def files(self) -> tuple[str | SplitFiles, ...]:
        return self.description.files

    @property
    def hub(self) -> tuple[str, str] | None:
        """Path and configuration on the hub, if it is there."""
        hub = self.description.hub
        return (hub.path, hub.config) if hub else None

    def records(self, path: Path) -> Iterable[tuple[str, Raw]]:
        description = self.description
        return read_rows(path, description.layout, description.columns, description.name)

    def fields(self, record: Raw, where: str) -> Fields:
        """What a record of the files holds.

        Raises:
            DataError: it is none; says where.
        """
        if isinstance(record, str):
            raise DataError(f"{where}: {record}")
        return Fields(record, self.description, self.description.columns, where)

    def with_label(self, record: Raw) -> Raw:
        """The label may be empty, or its column missing."""
        if isinstance(record, str):
            return record
        name = self.description.columns.label
        found = _value(record, name)
        if not (found is None or found == "" or (isinstance(found, list) and not any(found))):
            return record
        return replace(record, values={**record.values, name: self._any_label(record)})

    def _any_label(self, record: Row) -> Any:
        task = self.description
        if task.kind == "tagging":
            units = _value(record, task.columns.text[0]) or []
            outside = next(raw for raw, tag in task.names_of_tags.items() if tag == OUTSIDE)
            return [outside] * len(units.split() if isinstance(units, str) else units)
        if task.kind == "regression":
            return min(max(0.0, task.lowest), task.highest)
        return next(iter(task.names_of_labels))

    def hub_fields(self, record: dict[str, Any], where: str) -> Fields:
        """What a row of the hub's data set holds, which has no guid unless a column does."""
        assert self.description.hub is not None
        return Fields(Row(where, record), self.description, self.description.hub.columns, where)


class Fields:
    """The fields of one record by what the description takes them for.

    Every method raises DataError, which says where and what is wrong, for what is not as described.
    """

    def __init__(self, row: Row, task: Description, columns: Columns, where: str) -> None:
        self.row, self.task, self.columns = row, task, columns
        self.guid, self.where = row.guid, where
        if columns.guid:
            guid = self._value(columns.guid)
            if not isinstance(guid, str | int) or guid == "":
                raise DataError(f"{where}: '{columns.guid}' is {short(guid)}; expected a guid")
            self.guid = encodable(str(guid))
            self.where = f"{where} ({self.guid})"

    def text(self, names: Sequence[str]) -> str:
        """The texts of the columns, a space between them."""
        return " ".join(map(self._text, names))

    def texts(self, names: Sequence[str]) -> tuple[str, ...]:
        """The texts of the columns."""
        return tuple(map(self._text, names))

    def label(self) -> str:
        """The label's name."""
        value = self._value(self.columns.label)
        names = self.task.names_of_labels
        if (name := names.get(_spelled(value))) is None:
            raise self._bad(self.columns.label, value, f"expected one of {', '.join(names)}")
        return name

    def number(self) -> float:
        """The label of a regression."""
        value = self._value(self.columns.label)
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = math.nan
        lowest, highest = self.task.lowest, self.task.highest
        if not lowest <= number <= highest or math.isinf(number):
            limits = [
                f" {word} {limit:g}"
                for word, limit in (("from", lowest), ("to", highest))
                if math.isfinite(limit)
            ]
            raise self._bad(self.columns.label, value, f"expected a number{''.join(limits)}")
        return number

    def units(self) -> list[str]:
        """The words or characters of a text for tagging, which is a list, or has blanks."""
        name = self.columns.text[0]
        for unit in (units := self._list(name)):
            if self.task.unit == "character" and len(unit) != 1:
                raise self._bad(name, unit, "expected one character")
            if not unit:
                raise self._bad(name, unit, "expected a word")
        return [encodable(unit) for unit in units]

    def tags(self) -> list[str]:
        """The tags of the units as B-TYPE, I-TYPE and O."""
        names, column = self.task.names_of_tags, self.columns.label
        found = self._list(column)
        for tag in found:
            if tag not in names:
                raise self._bad(column, tag, f"expected one of {', '.join(names)}")
        return [names[tag] for tag in found]

    def _value(self, name: str) -> Any:
        value = _value(self.row, name)
        if value is None and name in self.row.values:
            raise DataError(f"{self.where}: '{name}' is null")
        if value is None:
            raise DataError(f"{self.where}: no '{name}'{near(name, list(self.row.values))}")
        return value

    def _text(self, name: str) -> str:
        text = self._value(name)
        if not isinstance(text, str):
            raise self._bad(name, text, "expected text")
        if not text.strip():
            raise DataError(f"{self.where}: '{name}' is empty")
        return encodable(text)

    def _list(self, name: str) -> list[str]:
        value = self._value(name)
        values = value.split() if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
            raise self._bad(name, value, "expected text, or a list of texts")
        return values

    def _bad(self, name: str, value: Any, expected: str) -> DataError:
        return DataError(f"{self.where}: '{name}' is {short(value)}; {expected}")


def _value(row: Row, name: str) -> Any:
    """What a row has by that name, or by the parts of a name with dots; None where nothing."""
    value = row.values.get(name)
    return nested(row.values, name.split(".")) if value is None else value


def _spelled(value: Any) -> str:
    """A label as the description has it: numbers and true and false as JSON spells them."""
    return json.dumps(value) if isinstance(value, int | float) else str(value)


@dataclass(frozen=True, kw_only=True)
class OwnSentences(Described, Sentences[Example]):
    """Classification or regression of a text or a pair."""

    def parse(self, record: Raw, where: str) -> Example:
        return self._example(self.fields(record, where))

    def parse_hub(self, record: dict[str, Any], where: str) -> Example:
        return self._example(self.hub_fields(record, where))

    def _example(self, fields: Fields) -> Example:
        columns = fields.columns
        text_b = fields.text(columns.text_b) if columns.text_b else None
        label = fields.number() if self.is_regression else fields.label()
        return Example(fields.guid, fields.text(columns.text), text_b, label)


@dataclass(frozen=True, kw_only=True)
class OwnChoices(Described, Choices):
    """Multiple choice."""

    def parse(self, record: Raw, where: str) -> ChoiceQuestion:
        return self._example(self.fields(record, where))

    def parse_hub(self, record: dict[str, Any], where: str) -> ChoiceQuestion:
        return self._example(self.hub_fields(record, where))

    def _example(self, fields: Fields) -> ChoiceQuestion:
        text, choices = fields.text(fields.columns.text), fields.texts(fields.columns.choices)
        return ChoiceQuestion(fields.guid, text, None, fields.label(), choices)


@dataclass(frozen=True, kw_only=True)
class OwnUnits(Described, Units):
    """Tagging of words or characters."""

    def parse(self, record: Raw, where: str) -> TaggedUnits:
        return self._example(self.fields(record, where))

    def parse_hub(self, record: dict[str, Any], where: str) -> TaggedUnits:
        return self._example(self.hub_fields(record, where))

    def _example(self, fields: Fields) -> TaggedUnits:
        units, tags = fields.units(), fields.tags()
        if len(units) != len(tags):
            raise DataError(
                f"{fields.where}: {len(units)} {self.description.unit}s, but {len(tags)} tags"
            )
        space = " " if self.description.unit == "word" else ""
        return joined(fields.guid, units, tags, space)


@dataclass(frozen=True)
class OwnAnswers(AnswerTask):
    """Answers in a context, in files laid out as SQuAD's, scored as KorQuAD 1.0 does."""

    hub: None = None

    def score(self, rows: Encoded[Question], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        found = self.decode(rows, outputs)
        pairs = zip(rows.examples, found, strict=True)
        texts = [each.text(plain_threshold(question)) for question, each in pairs]
        return answer_scores(rows.examples, texts) | lost(rows.examples, found, texts)

    def baseline(self, train: Sequence[Question], dev: Sequence[Question]) -> dict[str, float]:
        """No answer to any question."""
        return answer_scores(dev, [""] * len(dev))


def label_digest(task: Task[Any]) -> dict[str, str]:
    """The digest of the labels that a file describes, in their order, which numbers them.

    Empty for KLUE's tasks, whose labels do not change.
    """
    if not isinstance(task, Described):
        return {}
    return {"label_list": fingerprint_values({"labels": list(task.description.label_names)})}


def task_of(description: Description) -> Task[Any]:
    """The task that ``description`` describes."""
    name, headline, kind = description.name, description.headline, description.kind
    if kind == "span":
        return OwnAnswers(name, description.files, headline)
    if kind == "tagging":
        return OwnUnits(
            name=name, headline=headline, types=description.label_names, description=description
        )
    make = OwnChoices if kind == "choice" else OwnSentences
    scores = number_scores if kind == "regression" else label_scores
    return make(
        name=name,
        headline=headline,
        labels=description.label_names,
        scores=scores,
        description=description,
    )
