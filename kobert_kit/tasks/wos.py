"""KLUE-WoS: what the user wants by each turn, read from all that was said so far.

The rows are the turns of the user. Each is read from the dialogue alone, never from a state that
was predicted before, so turns do not wait for each other nor inherit mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.tasks.encode import Encoded, flat
from kobert_kit.tasks.formats.dialogues import (
    SLOTS,
    SYSTEM,
    TASK_NAME,
    USER,
    Dialogue,
    Record,
    dialogue_records,
    parse_dialogue,
    slot_and_value,
)
from kobert_kit.tasks.formats.ontology import NOT_WRITTEN
from kobert_kit.tasks.heads.kinds import IGNORED, Head
from kobert_kit.tasks.heads.tracker import END, GATES, LONGEST_VALUE, POINTER, Tracking
from kobert_kit.tasks.metrics import wos_jga, wos_slot_micro_f1, wos_slot_micro_f1_pooled
from kobert_kit.tasks.spelling import spelled, value_ids, written_tokens

State = tuple[str, ...]
MARKERS = {USER: "[USR]", SYSTEM: "[SYS]"}


@dataclass
class UserTurns(Encoded[Dialogue]):
    """A row for each turn of the user, a dialogue's one after another.

    ``owners`` (rows,) are the rows' dialogues, ``turns`` (rows,) places in their turns. ``labels``
    (rows, slots) are gates, and from POINTER on the place of the value, which is a row of
    ``values`` (values, tokens): token ids, END, and IGNORED after it. ``pieces`` (entries,) is
    what tokens are written as (`written_tokens`).
    """

    owners: np.ndarray
    turns: np.ndarray
    values: np.ndarray
    pieces: np.ndarray

    def labels_of(self, rows: np.ndarray, places: np.ndarray, real: np.ndarray) -> np.ndarray:
        chosen = self.labels[rows]
        labels = np.full((*chosen.shape, 1 + self.values.shape[1]), IGNORED, dtype=np.int64)
        labels[..., 0] = np.minimum(chosen, POINTER)
        pointers = chosen >= POINTER
        labels[pointers, 1:] = self.values[chosen[pointers] - POINTER]
        return labels

    @property
    def output_lengths(self) -> np.ndarray:
        return np.full(len(self), len(SLOTS))

    @property
    def gold(self) -> list[State]:
        """The state that each row has in the data."""
        pairs = zip(self.owners.tolist(), self.turns.tolist(), strict=True)
        return [self.examples[owner].turns[turn].state for owner, turn in pairs]


@dataclass(frozen=True)
class TrackingTask:
    """Tracking of the state of a dialogue. An example is a dialogue."""

    name: str = TASK_NAME
    files: tuple[str, ...] = ("wos-v1.1/wos-v1.1_{split}.json",)
    headline: str = "wos_jga"
    max_length: int = 512
    added_tokens: tuple[str, ...] = tuple(MARKERS.values())

    @property
    def head(self) -> Head:
        return Tracking(SLOTS)

    def records(self, path: Path) -> Iterable[tuple[str, Record]]:
        return dialogue_records(path)

    def parse(self, record: Record, where: str) -> Dialogue:
        return parse_dialogue(*record, where)

    def parse_hub(self, record: dict[str, Any], where: str) -> Dialogue:
        """The hub has no ontology."""
        return parse_dialogue(record, None, where)

    def with_label(self, record: Record) -> Record:
        """Unlabelled, a turn of the user has no state."""
        found, ontology = record
        turns = found.get("dialogue") if isinstance(found, dict) else None
        if not isinstance(turns, list) or not any(map(_lacks_state, turns)):
            return record
        filled = [turn | {"state": []} if _lacks_state(turn) else turn for turn in turns]
        return {**found, "dialogue": filled}, ontology

    def misfits(
        self, examples: Sequence[Dialogue], tokenizer: Any, max_length: int
    ) -> dict[str, str]:
        """Dialogues with a value that the decoder could not write to its end."""
        values = _written_values(examples)
        ids = value_ids(values, tokenizer)
        long = {v: len(i) for v, i in zip(values, ids, strict=True) if len(i) >= LONGEST_VALUE}
        return {
            each.guid: f"({each.guid}): the value '{value}' has {long[value]} tokens; at most "
            f"{LONGEST_VALUE - 1} can be written"
            for each in examples
            for value in _written_values([each])
            if value in long
        }

    def encode(self, examples: Sequence[Dialogue], tokenizer: Any, max_length: int) -> UserTurns:
        """[CLS], all turns so far, [SEP]; in front of each turn a marker of who speaks.

        Of what is longer the end is kept; a turn that is cut keeps its marker.
        """
        rows, owners, turns = [], [], []
        for owner, spoken in enumerate(_spoken(examples, tokenizer)):
            for number, turn in enumerate(examples[owner].turns):
                if turn.role == USER:
                    kept = latest(spoken[: number + 1], max_length - 2)
                    rows.append([tokenizer.cls_token_id, *kept, tokenizer.sep_token_id])
                    owners.append(owner)
                    turns.append(number)
        values = _written_values(examples)
        ids = flat(rows, np.int32)
        return UserTurns(
            examples,
            ids=ids,
            types=np.zeros(len(ids), dtype=np.uint8),
            offsets=np.cumsum([0, *map(len, rows)]),
            labels=_labels(_states(examples), values),
            owners=np.array(owners, dtype=np.int64),
            turns=np.array(turns, dtype=np.int64),
            values=_padded(value_ids(values, tokenizer)),
            pieces=written_tokens(tokenizer),
        )

    def score(self, rows: Encoded[Dialogue], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        assert isinstance(rows, UserTurns)
        states = written_states(rows, outputs)
        return scores(rows.gold, states, snapped_states(rows, states))

    def predictions(
        self, rows: Encoded[Dialogue], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        """A line for each turn of the user; ``turn`` counts all turns of the dialogue, from 0."""
        assert isinstance(rows, UserTurns)
        states = written_states(rows, outputs)
        snapped = snapped_states(rows, states)
        for row, (gold, state) in enumerate(zip(rows.gold, states, strict=True)):
            line = {
                "guid": rows.examples[rows.owners[row]].guid,
                "turn": int(rows.turns[row]),
                "gold": gold,
                "pred": state,
            }
            yield line if snapped is None else {**line, "pred_snapped": snapped[row]}

    def confusion(
        self, rows: Encoded[Dialogue], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        return None

    def baseline(self, train: Sequence[Dialogue], dev: Sequence[Dialogue]) -> dict[str, float]:
        """Always the commonest state of the training split."""
        commonest = Counter(tuple(sorted(state)) for state in _states(train)).most_common(1)[0][0]
        gold = _states(dev)
        return scores(gold, [commonest] * len(gold), None)


def latest(turns: Sequence[Sequence[int]], room: int) -> list[int]:
    """The last ``room`` tokens of ``turns``; a turn that is cut keeps its first one, its marker."""
    kept: list[int] = []
    for turn in reversed(turns):
        free = room - len(kept)
        if free < min(2, len(turn)):
            break
        kept = [*(turn if len(turn) <= free else (turn[0], *turn[1 - free :])), *kept]
    return kept


def written_states(rows: UserTurns, outputs: Sequence[np.ndarray]) -> list[State]:
    """The state of each row, from a gate and token ids for each slot; empty values are none."""
    return [tuple(_state(row, rows.pieces)) for row in outputs]


def _state(output: np.ndarray, pieces: np.ndarray) -> Iterator[str]:
    for slot, (gate, *tokens) in zip(SLOTS, output.tolist(), strict=True):
        value = GATES[gate]
        if gate == POINTER:
            value = spelled(tokens[: tokens.index(END)] if END in tokens else tokens, pieces)
        if value not in ("", "none"):
            yield f"{slot}-{value}"


def snapped_states(rows: UserTurns, states: Sequence[State]) -> list[State] | None:
    """``states`` with the values of the ontology that are spelled most like theirs.

    See `Ontology.snap`. None where a dialogue has no ontology.
    """
    found = []
    for owner, state in zip(rows.owners.tolist(), states, strict=True):
        ontology = rows.examples[owner].ontology
        if ontology is None:
            return None
        pairs = map(slot_and_value, state)
        found.append(tuple(f"{slot}-{ontology.snap(slot, value)}" for slot, value in pairs))
    return found


def scores(
    gold: Sequence[State], written: Sequence[State], snapped: Sequence[State] | None
) -> dict[str, float]:
    """Official and conventional metrics of the values as they were written, then as snapped."""
    metrics = (wos_jga, wos_slot_micro_f1, wos_slot_micro_f1_pooled)
    values = {metric.__name__: metric(gold, written) for metric in metrics}
    if snapped is not None:
        values |= {f"{metric.__name__}_snapped": metric(gold, snapped) for metric in metrics}
    return values


def oracle(rows: UserTurns) -> list[np.ndarray]:
    """The outputs of a perfect model: the gold gates, and the tokens of the gold values."""
    labels = rows.labels_of(np.arange(len(rows)), np.empty(0), np.empty(0))
    return list(np.where(labels == IGNORED, END, labels))


def _spoken(examples: Sequence[Dialogue], tokenizer: Any) -> Iterator[list[list[int]]]:
    """Of each dialogue the turns as token ids, each with its marker in front."""
    numbers = _marker_ids(tokenizer)
    texts = [turn.text for each in examples for turn in each.turns]
    encoding = tokenizer(texts, add_special_tokens=False, split_special_tokens=True)
    tokens = iter(encoding["input_ids"])
    for each in examples:
        yield [[numbers[turn.role], *next(tokens)] for turn in each.turns]


def _marker_ids(tokenizer: Any) -> dict[str, int]:
    """Of each role. The tokenizer of a fine-tuned model has them; any other is to get them."""
    vocabulary = tokenizer.get_vocab()
    new = [marker for marker in MARKERS.values() if marker not in vocabulary]
    coming = {marker: len(tokenizer) + number for number, marker in enumerate(new)}
    return {role: (coming | vocabulary)[marker] for role, marker in MARKERS.items()}


def _lacks_state(turn: Any) -> bool:
    return isinstance(turn, dict) and turn.get("role") == USER and turn.get("state") is None


def _states(examples: Sequence[Dialogue]) -> list[State]:
    """Of all turns of the user, in order."""
    return [turn.state for each in examples for turn in each.turns if turn.role == USER]


def _written_values(examples: Sequence[Dialogue]) -> list[str]:
    """The values that are words, each once."""
    pairs = (slot_and_value(each) for state in _states(examples) for each in state)
    return list(dict.fromkeys(value for _, value in pairs if value not in NOT_WRITTEN))


def _labels(states: Sequence[State], values: Sequence[str]) -> np.ndarray:
    slots = {slot: number for number, slot in enumerate(SLOTS)}
    choices = {choice: number for number, choice in enumerate((*NOT_WRITTEN, *values))}
    labels = np.zeros((len(states), len(SLOTS)), dtype=np.int32)
    for row, state in enumerate(states):
        for slot, value in map(slot_and_value, state):
            labels[row, slots[slot]] = choices[value]
    return labels


def _padded(values: Sequence[Sequence[int]]) -> np.ndarray:
    """(values, longest + 1) token ids with END after each, and IGNORED after that."""
    longest = max(map(len, values), default=0)
    padded = np.full((len(values), longest + 1), IGNORED, dtype=np.int32)
    for row, ids in enumerate(values):
        padded[row, : len(ids) + 1] = [*ids, END]
    return padded


TASK = TrackingTask()
