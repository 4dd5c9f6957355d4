"""Dialogues with the state after each turn of the user, as Wizard of Seoul lays them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.tasks.formats.official import json_records
from kobert_kit.tasks.formats.ontology import FILE_NAME, Ontology, read_ontology
from kobert_kit.tasks.formats.parse import guid_of, looks_like, short, text_of

TASK_NAME = "wos"
USER, SYSTEM = "user", "sys"

# The order is that of the classifier's slots.
SLOTS = (
    *("관광-경치 좋은", "관광-교육적", "관광-도보 가능", "관광-문화 예술", "관광-역사적"),
    *("관광-이름", "관광-종류", "관광-주차 가능", "관광-지역"),
    *("숙소-가격대", "숙소-도보 가능", "숙소-수영장 유무", "숙소-스파 유무", "숙소-예약 기간"),
    *("숙소-예약 명수", "숙소-예약 요일", "숙소-이름", "숙소-인터넷 가능", "숙소-조식 가능"),
    *("숙소-종류", "숙소-주차 가능", "숙소-지역", "숙소-헬스장 유무", "숙소-흡연 가능"),
    *("식당-가격대", "식당-도보 가능", "식당-야외석 유무", "식당-예약 명수", "식당-예약 시간"),
    *("식당-예약 요일", "식당-이름", "식당-인터넷 가능", "식당-종류", "식당-주류 판매"),
    *("식당-주차 가능", "식당-지역", "식당-흡연 가능"),
    *("지하철-도착지", "지하철-출발 시간", "지하철-출발지"),
    *("택시-도착 시간", "택시-도착지", "택시-종류", "택시-출발 시간", "택시-출발지"),
)


@dataclass(frozen=True)
class Turn:
    """What ``role``, user or sys, says.

    ``state`` is what the user wants by then, as "domain-slot-value" strings, at most one value for
    each slot; empty for the system's turns.
    """

    role: str
    text: str
    state: tuple[str, ...]


@dataclass(frozen=True)
class Dialogue:
    """``ontology`` is None where none lies beside the dialogues, as on the hub."""

    guid: str
    turns: tuple[Turn, ...]
    ontology: Ontology | None


Record = tuple[Any, Ontology | None]


def dialogue_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Each record of a file, with the ontology that lies beside the file, if there is one.

    Raises:
        DataError: one of the two files cannot be read, or is cut off; names it.
    """
    beside = path.parent / FILE_NAME
    ontology = read_ontology(beside) if beside.is_file() else None
    for where, record in json_records(path, TASK_NAME):
        yield where, (record, ontology)


def parse_dialogue(record: Any, ontology: Ontology | None, where: str) -> Dialogue:
    """The dialogue in a record.

    A value of a state need not be in the ontology: the official dev split has names and times
    that are not. A slot must be, and a slot that is only ever yes or no must have such a value.

    Raises:
        DataError: a field is missing or wrong; says where, and its guid.
    """
    guid = guid_of(TASK_NAME, record, where)
    where = f"{where} ({guid})"
    turns = record.get("dialogue")
    if not isinstance(turns, list):
        raise DataError(f"{where}: no list 'dialogue'{looks_like(TASK_NAME, record)}")
    read = [_turn(each, ontology, f"{where}: turn {n}") for n, each in enumerate(turns, start=1)]
    if not any(turn.role == USER for turn in read):
        raise DataError(f"{where}: no turn of the user, so there is no state to track")
    return Dialogue(guid, tuple(read), ontology)


def slot_and_value(text: str) -> tuple[str, str]:
    """Of "domain-slot-value" the slot, "domain-slot", and the value, which may have hyphens.

    Raises:
        ValueError: ``text`` has fewer than three parts.
    """
    domain, name, value = text.split("-", 2)
    return f"{domain}-{name}", value


def _turn(turn: Any, ontology: Ontology | None, where: str) -> Turn:
    role = turn.get("role") if isinstance(turn, dict) else None
    if role not in (USER, SYSTEM):
        raise DataError(f"{where}: 'role' is {short(role)}; expected {USER} or {SYSTEM}")
    text = text_of(TASK_NAME, turn, "text", where)
    if role == SYSTEM:
        return Turn(role, text, ())
    state = turn.get("state")
    if not isinstance(state, list):
        raise DataError(f"{where}: no list 'state' beside what the user says")
    pairs = [_checked(each, ontology, where) for each in state]
    found: dict[str, str] = {}
    for slot, value in pairs:
        if found.setdefault(slot, value) != value:
            raise DataError(f"{where}: '{slot}' is {short(found[slot])} and {short(value)}")
    return Turn(role, text, tuple(f"{slot}-{value}" for slot, value in pairs if value != "none"))


def _checked(text: Any, ontology: Ontology | None, where: str) -> tuple[str, str]:
    try:
        slot, value = slot_and_value(encodable(text))
    except (ValueError, TypeError, AttributeError):
        slot = value = ""
    if not value.strip():
        raise DataError(f"{where}: {short(text)} in 'state' is no 'domain-slot-value'")
    if slot not in SLOTS or (ontology is not None and slot not in ontology):
        raise DataError(f"{where}: the ontology has no slot '{slot}' ({short(text)} in 'state')")
    if ontology is not None and ontology.closed(slot) and value not in ontology.values(slot):
        wanted = ", ".join(ontology.values(slot))
        raise DataError(f"{where}: '{slot}' is {short(value)}; expected one of {wanted}")
    return slot, value
