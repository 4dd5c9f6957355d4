"""Events of the small world: who did what, when, where and why."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from .korean import Predicate, number
from .lexicon import Frame, Opposition, Topic, names, regions

DAYS_IN_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True)
class Person:
    name: str
    role: str

    @property
    def title(self) -> str:
        return f"{self.name} {self.role}"


@dataclass(frozen=True)
class Event:
    """Who did what, when, where and why; `side` picks the half of the opposition that holds."""

    frame: Frame
    who: str
    what: str
    verbs: Opposition
    side: int
    date: str
    city: str
    region: str
    place: str
    reason: str
    figure: int

    @property
    def synonyms(self) -> tuple[Predicate, ...]:
        return self.verbs.sides[self.side]

    @property
    def antonyms(self) -> tuple[Predicate, ...]:
        return self.verbs.sides[1 - self.side]

    @property
    def amount(self) -> str:
        return number(self.figure) + self.frame.measure[1]


def draw_date(rng: random.Random) -> str:
    month = rng.randrange(12)
    return f"{month + 1}월 {rng.randint(1, DAYS_IN_MONTH[month])}일"


def draw_person(rng: random.Random, role: str) -> Person:
    return Person(rng.choice(names("surnames")) + rng.choice(names("given")), role)


def draw_place(rng: random.Random, topic: str) -> tuple[str, str]:
    """A city and the region (abroad: the country) it lies in."""
    region = rng.choice(regions("foreign" if topic == "world" else "places"))
    return rng.choice(region.cities), region.name


def draw_actor(rng: random.Random, frame: Frame) -> str:
    """A group, an organisation, or a person with a role."""
    kind = rng.random()
    if not frame.transitive:
        return ""
    if kind < 0.5:
        return rng.choice(frame.actors)
    if kind < 0.82:
        return rng.choice(frame.orgs)
    return draw_person(rng, rng.choice(frame.roles)).title


def draw_event(rng: random.Random, frame: Frame, side: int | None = None) -> Event:
    """An event of the frame; `side` 0 is the going ahead, the more, the praise; 1 the reverse."""
    city, region = draw_place(rng, frame.topic)
    _, _, low, high = frame.measure
    side = rng.randrange(2) if side is None else side
    return Event(
        frame=frame,
        who=draw_actor(rng, frame),
        what=rng.choice(frame.objects),
        verbs=rng.choice(frame.verbs),
        side=side,
        date=draw_date(rng),
        city=city,
        region=region,
        place=rng.choice(frame.places),
        reason=rng.choice(frame.reasons[side]),
        figure=_round(rng.randint(low, high)),
    )


def _round(value: int) -> int:
    """Two leading digits, as people quote figures."""
    return round(value, min(0, 2 - len(str(value))))


def another(rng: random.Random, frame: Frame, taken: str) -> Event:
    """An event of the same frame about another object."""
    while True:
        event = draw_event(rng, frame)
        if event.what != taken:
            return event


def with_other(rng: random.Random, event: Event, slot: str) -> Event:
    """The event with one slot changed to a value that cannot hold beside the first."""
    while True:
        other = draw_event(rng, event.frame)
        if slot == "city" and other.region != event.region:
            return replace(event, city=other.city, region=other.region)
        if slot != "city" and getattr(other, slot) != getattr(event, slot):
            return replace(event, **{slot: getattr(other, slot)})


def topic_events(rng: random.Random, topic: Topic, count: int) -> list[Event]:
    """Events of one story: several kinds in one town, all going ahead or all going back."""
    frames = rng.sample(topic.frames, min(count, len(topic.frames)))
    side = rng.randrange(2)
    first = draw_event(rng, frames[0], side)
    rest = [draw_event(rng, frame, side) for frame in frames[1:]]
    return [first, *(replace(event, city=first.city, region=first.region) for event in rest)]
