"""KLUE-RE: the relation of two entities in a sentence, from markers around them.

The sentence is encoded as it is and the markers are put between its tokens, at offsets: so what
follows an entity inside an eojeol stays the ## piece that it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.tasks.encode import Encoded, flat
from kobert_kit.tasks.formats.official import json_records
from kobert_kit.tasks.formats.parse import check_label, guid_of, looks_like, short, text_of
from kobert_kit.tasks.heads.kinds import Classification, Head
from kobert_kit.tasks.metrics import (
    klue_re_auprc,
    klue_re_micro_f1,
    re_accuracy,
    re_mean_average_precision,
)
from kobert_kit.tasks.windows import surface

TYPES = ("PER", "ORG", "LOC", "DAT", "POH", "NOH")
LABELS = (
    "no_relation",
    "org:dissolved",
    "org:founded",
    "org:place_of_headquarters",
    "org:alternate_names",
    "org:member_of",
    "org:members",
    "org:political/religious_affiliation",
    "org:product",
    "org:founded_by",
    "org:top_members/employees",
    "org:number_of_employees/members",
    "per:date_of_birth",
    "per:date_of_death",
    "per:place_of_birth",
    "per:place_of_death",
    "per:place_of_residence",
    "per:origin",
    "per:employee_of",
    "per:schools_attended",
    "per:alternate_names",
    "per:parents",
    "per:children",
    "per:siblings",
    "per:spouse",
    "per:other_family",
    "per:colleagues",
    "per:product",
    "per:religion",
    "per:title",
)
MARKERS = 4
SPECIAL = 2  # [CLS] and [SEP]


@dataclass(frozen=True)
class Entity:
    """``sentence[start:end]`` and its type."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Pair:
    """Two entities of a sentence and their relation."""

    guid: str
    sentence: str
    subject: Entity
    object: Entity
    label: str


@dataclass(frozen=True)
class RelationTask:
    """Classification of pairs. ``typed`` markers say of which type an entity is."""

    name: str
    typed: bool
    files: tuple[str, ...] = ("klue-re-v1.1/klue-re-v1.1_{split}.json",)
    headline: str = "klue_re_micro_f1"
    max_length: int = 128

    @property
    def head(self) -> Head:
        return Classification(LABELS)

    @property
    def added_tokens(self) -> tuple[str, ...]:
        """The markers: before and after the subject, and the object, of each type if typed."""
        kinds = [f":{kind}" for kind in TYPES] if self.typed else [""]
        return tuple(f"[{mark}{kind}]" for kind in kinds for mark in ("S", "/S", "O", "/O"))

    def records(self, path: Path) -> Iterable[tuple[str, Any]]:
        return json_records(path, self.name)

    def parse(self, record: Any, where: str) -> Pair:
        guid = guid_of("re", record, where)
        where = f"{where} ({guid})"
        sentence = text_of("re", record, "sentence", where)
        subject, other = (
            _entity(record, name, sentence, where) for name in ("subject_entity", "object_entity")
        )
        check_label("re", record, record.get("label"), LABELS, f"{where}: 'label'")
        return Pair(guid, sentence, subject, other, record["label"])

    def parse_hub(self, record: dict[str, Any], where: str) -> Pair:
        return self.parse(record, where)

    def with_label(self, record: Any) -> Any:
        labelled = not isinstance(record, dict) or record.get("label") is not None
        return record if labelled else record | {"label": LABELS[0]}

    def misfits(self, examples: Sequence[Pair], tokenizer: Any, max_length: int) -> dict[str, str]:
        """Pairs that are too far apart for one row."""
        room = max_length - SPECIAL - MARKERS
        found = {}
        for pair, tokens in zip(examples, self._tokens(examples, tokenizer), strict=True):
            places = [place for place, _ in tokens.markers]
            if (needed := max(places) - min(places)) > room:
                found[pair.guid] = (
                    f"({pair.guid}): from one entity to the other are {needed} tokens; at most "
                    f"{room} fit --max-length {max_length}"
                )
        return found

    def encode(self, examples: Sequence[Pair], tokenizer: Any, max_length: int) -> Encoded[Pair]:
        """[CLS], the sentence with its markers, [SEP]; cut around the entities if it is too long.

        ``labels`` (examples,) are places in LABELS.
        """
        place = {label: number for number, label in enumerate(LABELS)}
        rows = [
            [
                tokenizer.cls_token_id,
                *tokens.marked(max_length - SPECIAL - MARKERS),
                tokenizer.sep_token_id,
            ]
            for tokens in self._tokens(examples, tokenizer)
        ]
        ids = flat(rows, np.int32)
        return Encoded(
            examples,
            ids=ids,
            types=np.zeros(len(ids), dtype=np.uint8),
            offsets=np.cumsum([0, *map(len, rows)]),
            labels=np.array([place[pair.label] for pair in examples], dtype=np.int64),
        )

    def _tokens(self, pairs: Sequence[Pair], tokenizer: Any) -> Iterator[_Tokens]:
        encoding = tokenizer(
            [pair.sentence for pair in pairs],
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            split_special_tokens=True,  # "[S]" in a sentence is three characters, no marker
        )
        marker = self._marker_ids(tokenizer)
        for pair, ids, offsets in zip(
            pairs, encoding["input_ids"], encoding["offset_mapping"], strict=True
        ):
            spans = np.array([surface(pair.sentence, *span) for span in offsets]).reshape(-1, 2)
            markers = []
            for mark, entity in (("S", pair.subject), ("O", pair.object)):
                kind = f":{entity.type}" if self.typed else ""
                first, last = _between(spans, entity)
                markers += [(first, marker[f"[{mark}{kind}]"]), (last, marker[f"[/{mark}{kind}]"])]
            yield _Tokens(ids, markers)

    def _marker_ids(self, tokenizer: Any) -> dict[str, int]:
        """Those that the tokenizer has, as that of a fine-tuned model does, or will have."""
        vocabulary = tokenizer.get_vocab()
        new = [name for name in self.added_tokens if name not in vocabulary]
        coming = {name: len(tokenizer) + n for n, name in enumerate(new)}
        return {name: vocabulary.get(name, coming.get(name)) for name in self.added_tokens}

    def score(self, rows: Encoded[Pair], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        return scores([pair.label for pair in rows.examples], outputs)

    def predictions(
        self, rows: Encoded[Pair], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        """The probabilities are not rounded: their order decides the area under the curve."""
        for pair, row in zip(rows.examples, outputs, strict=True):
            yield {
                "guid": pair.guid,
                "gold": pair.label,
                "pred": LABELS[int(row.argmax())],
                "probabilities": dict(zip(LABELS, row.tolist(), strict=True)),
            }

    def confusion(
        self, rows: Encoded[Pair], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        gold = [pair.label for pair in rows.examples]
        return gold, [LABELS[int(row.argmax())] for row in outputs]

    def baseline(self, train: Sequence[Pair], dev: Sequence[Pair]) -> dict[str, float]:
        """The shares of the training split's labels as everyone's probabilities."""
        counts = Counter(pair.label for pair in train)
        shares = np.array([counts[label] / len(train) for label in LABELS])
        return scores([pair.label for pair in dev], [shares] * len(dev))


@dataclass(frozen=True)
class _Tokens:
    """A sentence's token ids, and (place, id) of each marker: it stands before ``ids[place]``."""

    ids: list[int]
    markers: list[tuple[int, int]]

    def marked(self, room: int) -> list[int]:
        """The tokens and markers, with at most ``room`` tokens around the entities."""
        places = [place for place, _ in self.markers]
        first, last = min(places), max(places)
        spare = max(0, room - (last - first))
        start = max(0, min(first - spare // 2, len(self.ids) - room))
        end = min(len(self.ids), start + max(room, last - first))
        row: list[int] = []
        reached = start
        # The one that ends comes before the one that begins at the same place.
        ends = {self.markers[1], self.markers[3]}
        for place, marker in sorted(self.markers, key=lambda m: (m[0], m not in ends)):
            row += [*self.ids[reached:place], marker]
            reached = place
        return [*row, *self.ids[reached:end]]


def _between(spans: np.ndarray, entity: Entity) -> tuple[int, int]:
    """Places before the entity's first token and after its last one.

    A token that the entity only begins or ends in is inside.
    """
    first = int(np.searchsorted(spans[:, 1], entity.start, side="right"))
    last = int(np.searchsorted(spans[:, 0], entity.end, side="left"))
    return first, max(first, last)


def scores(gold: Sequence[str], probabilities: Sequence[np.ndarray]) -> dict[str, float]:
    """The two official metrics, each followed by the conventional one."""
    pred = [LABELS[int(row.argmax())] for row in probabilities]
    rows = [row.tolist() for row in probabilities]
    return {
        "klue_re_micro_f1": klue_re_micro_f1(gold, pred, LABELS),
        "re_accuracy": re_accuracy(gold, pred, LABELS),
        "klue_re_auprc": klue_re_auprc(gold, rows, LABELS),
        "re_mean_average_precision": re_mean_average_precision(gold, rows, LABELS),
    }


def _entity(record: dict[str, Any], name: str, sentence: str, where: str) -> Entity:
    entity = record.get(name)
    if not isinstance(entity, dict):
        raise DataError(f"{where}: no '{name}'{looks_like('re', record)}")
    word, start, last, kind = (entity.get(key) for key in ("word", "start_idx", "end_idx", "type"))
    if not (isinstance(word, str) and word and isinstance(start, int) and isinstance(last, int)):
        raise DataError(f"{where}: '{name}' needs 'word', 'start_idx' and 'end_idx'")
    if kind not in TYPES:
        raise DataError(
            f"{where}: the type of '{name}' is {short(kind)}; expected one of {', '.join(TYPES)}"
        )
    there = sentence[start : last + 1] if start >= 0 else ""
    if there != encodable(word):
        raise DataError(
            f"{where}: '{name}' is {short(word)}, but characters {start} to {last} are "
            f"{short(there)}"
        )
    return Entity(start, last + 1, kind)


TASK = RelationTask("re", typed=True)
PLAIN = RelationTask("re-plain", typed=False)
