"""Wizard of Seoul: the state of a dialogue after each turn of the user.

A state is a list of "domain-slot-value" strings, those with the value none left out. Strings are
compared whole. Turns of all dialogues follow one another.
"""

from __future__ import annotations

from collections.abc import Sequence

from kobert_kit.tasks.metrics.checks import check_pairs

State = Sequence[str]


def wos_jga(gold: Sequence[State], pred: Sequence[State]) -> float:
    """Joint goal accuracy: share of turns whose whole state is right, 0 to 100 (section 3.8).

    Order and repetition do not matter; two empty states are equal.

    Raises:
        ValueError: no turn (the baseline has 0 there), a turn too few or too many, a state that is
            one string.
    """
    _check(gold, pred)
    return 100.0 * sum(set(g) == set(p) for g, p in zip(gold, pred, strict=True)) / len(gold)


def wos_slot_micro_f1(gold: Sequence[State], pred: Sequence[State]) -> float:
    """Mean over turns of the F1 of the turn's slots, 0 to 100 (KLUE, section 3.8).

    The official quirks: for all its name every turn weighs the same, and an empty state that is
    predicted empty has 1; a string listed twice counts twice.

    Raises:
        ValueError: as ``wos_jga``.
    """
    _check(gold, pred)
    return 100.0 * sum(_turn_f1(g, p) for g, p in zip(gold, pred, strict=True)) / len(gold)


def wos_slot_micro_f1_pooled(gold: Sequence[State], pred: Sequence[State]) -> float:
    """Conventional: one F1 of the slots of all turns together, 0 to 100; 0 where there is none.

    Raises:
        ValueError: as ``wos_jga``.
    """
    _check(gold, pred)
    pairs = [(set(g), set(p)) for g, p in zip(gold, pred, strict=True)]
    total = sum(len(g) + len(p) for g, p in pairs)
    return 200.0 * sum(len(g & p) for g, p in pairs) / total if total else 0.0


def _turn_f1(gold: State, pred: State) -> float:
    """F1, 0 to 1: hits and misses counted over gold's list, false alarms over the prediction's."""
    if not gold:
        return float(not pred)
    known, found = set(gold), set(pred)
    hits = sum(slot in found for slot in gold)
    false_alarms = sum(slot not in known for slot in pred)
    return 2.0 * hits / (hits + false_alarms + len(gold))


def _check(gold: Sequence[State], pred: Sequence[State]) -> None:
    check_pairs(gold, pred)
    for number, states in enumerate(zip(gold, pred, strict=True)):
        if any(isinstance(state, str) for state in states):
            raise ValueError(f"turn {number}: a string, not a list of strings")
