"""The words of the small world: what each topic's events are about, and who, where and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .korean import Predicate

FOLDER = Path(__file__).parent / "lexicon"
TOPICS = ("politics", "economy", "society", "life", "world", "tech", "sports")


@dataclass(frozen=True)
class Opposition:
    """Two sides that cannot both hold; the predicates of one side mean the same."""

    sides: tuple[tuple[Predicate, ...], tuple[Predicate, ...]]


@dataclass(frozen=True)
class Frame:
    """One kind of event: who does what, where, why, and which figure goes with it."""

    name: str
    topic: str
    orgs: tuple[str, ...]
    actors: tuple[str, ...]
    roles: tuple[str, ...]
    objects: tuple[str, ...]
    verbs: tuple[Opposition, ...]
    places: tuple[str, ...]
    reasons: tuple[tuple[str, ...], tuple[str, ...]]  # for either side of the verbs
    measure: tuple[str, str, int, int]  # its name, its unit, the least and the greatest figure
    local: bool  # whether it can happen in any town

    @property
    def transitive(self) -> bool:
        return bool(self.actors)


@dataclass(frozen=True)
class Aspect:
    """A side of a reviewed item, with the words that praise and the words that fault it."""

    name: str
    judgement: Opposition


@dataclass(frozen=True)
class Topic:
    key: str
    name: str
    quotes: tuple[str, ...]
    background: tuple[str, ...]
    events: tuple[str, ...]
    items: tuple[str, ...]
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Region:
    name: str
    cities: tuple[str, ...]


def _split(text: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _opposition(text: str, tag: str) -> Opposition:
    one, other = text.split("<>")
    sides = [tuple(Predicate(lemma, tag) for lemma in _split(side, "=")) for side in (one, other)]
    return Opposition((sides[0], sides[1]))


def _fields(lines: list[str]) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, value in pairs}


def _frame(block: str, topic: str) -> Frame:
    name, *lines = block.splitlines()
    field = _fields(lines)
    *measure, unit, low, high = field["measure"].rsplit(" ", 3)
    words = measure[0].split(" ")
    if words[-1] in ("억", "만"):  # 억 원, 만 개: the unit has two words
        unit, words = f"{words[-1]} {unit}", words[:-1]
    return Frame(
        name=name.strip(),
        topic=topic,
        orgs=_split(field["orgs"]),
        actors=_split(field["actors"]),
        roles=_split(field["roles"]),
        objects=_split(field["objects"]),
        verbs=tuple(_opposition(pair, "VV") for pair in _split(field["verbs"], ";")),
        places=_split(field["places"]),
        reasons=(_reasons(field["reasons"], "+"), _reasons(field["reasons"], "-")),
        measure=(" ".join(words), unit, int(low), int(high)),
        local="scope" not in field,
    )


def _reasons(text: str, sign: str) -> tuple[str, ...]:
    """The reasons for one side: unmarked, or marked + (for the first side) or - (the second)."""
    other = "-" if sign == "+" else "+"
    return tuple(r.lstrip("+-") for r in _split(text) if not r.startswith(other))


@cache
def topics() -> tuple[Topic, ...]:
    return tuple(_topic(key) for key in TOPICS)


def _topic(key: str) -> Topic:
    head, *blocks = (FOLDER / f"{key}.txt").read_text(encoding="utf-8").split("\n# ")
    field = _fields(head.splitlines())
    return Topic(
        key=key,
        name=field["topic"],
        quotes=_split(field["quotes"], ";"),
        background=_split(field["background"], ";"),
        events=_split(field["events"]),
        items=_split(field["items"]),
        frames=tuple(_frame(block, key) for block in blocks),
    )


@cache
def regions(file: str) -> tuple[Region, ...]:
    """The regions of `places` (home) or the countries of `foreign`, each with its cities."""
    lines = (FOLDER / f"{file}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(Region(name, _split(cities)) for name, cities in _fields(lines).items())


@cache
def aspects(item: str) -> tuple[Aspect, ...]:
    """What a review of the item judges."""
    lines = (FOLDER / "aspects.txt").read_text(encoding="utf-8").splitlines()
    parts = [part.split(" ", 1) for part in _split(_fields(lines)[item], ";")]
    return tuple(Aspect(name, _opposition(words, "VA")) for name, words in parts)


@cache
def names(field: str) -> tuple[str, ...]:
    """A list of `people.txt`: surnames, given, family (occupations), schools, religions."""
    lines = (FOLDER / "people.txt").read_text(encoding="utf-8").splitlines()
    return _split(_fields(lines)[field])
