"""Events of the small world, and the ways in which one event can be told."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from .korean import Predicate, number, particle, write
from .lexicon import Frame, Opposition, Topic, names, regions

WEEKDAYS = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")
TIMES = ("오전", "오후", "저녁", "새벽")
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

    @property
    def subject(self) -> str:
        return self.who if self.frame.transitive else self.what


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
    if kind < 0.4:
        return rng.choice(frame.actors)
    if kind < 0.75:
        return rng.choice(frame.orgs)
    return draw_person(rng, rng.choice(frame.roles)).title


def draw_event(rng: random.Random, frame: Frame) -> Event:
    city, region = draw_place(rng, frame.topic)
    _, _, low, high = frame.measure
    return Event(
        frame=frame,
        who=draw_actor(rng, frame),
        what=rng.choice(frame.objects),
        verbs=rng.choice(frame.verbs),
        side=rng.randrange(2),
        date=draw_date(rng),
        city=city,
        region=region,
        place=rng.choice(frame.places),
        reason=rng.choice(frame.reasons),
        figure=_round(rng.randint(low, high)),
    )


def _round(value: int) -> int:
    """Two leading digits, as people quote figures."""
    scale = 10 ** max(0, len(str(value)) - 2)
    return value // scale * scale


def another(rng: random.Random, frame: Frame, taken: str) -> Event:
    """An event of the same frame about another object."""
    while True:
        event = draw_event(rng, frame)
        if event.what != taken:
            return event


# --- telling ---------------------------------------------------------------------------------

def where(event: Event, slots: frozenset[str]) -> str:
    parts = [event.region] if "region" in slots else []
    parts += [event.city] if "city" in slots else []
    parts += [event.place] if "place" in slots else []
    return " ".join(parts)


def tell(
    rng: random.Random,
    event: Event,
    slots: frozenset[str],
    ending: str = "었다",
    verb: Predicate | None = None,
    what: str = "",
    topic_marked: bool | None = None,
) -> str:
    """One sentence (without its full stop) that states the slots, in an order that Korean allows."""
    verb = verb or rng.choice(event.synonyms)
    what = what or event.what
    marked = rng.random() < 0.5 if topic_marked is None else topic_marked
    adverbials = [f"{event.date}"] if "date" in slots else []
    spot = where(event, slots)
    if spot:
        adverbials.append(f"{spot}에서")
    if "reason" in slots:
        adverbials.insert(rng.randrange(len(adverbials) + 1), event.reason)
    predicate = write("{verb:" + ending + "}", verb=verb)
    if not event.frame.transitive:
        subject = what + particle(what, "은" if marked and not adverbials else "이")
        return " ".join([*adverbials, subject, predicate])
    thing = what + particle(what, "을")
    if "who" not in slots:
        return " ".join([*adverbials, thing, predicate])
    subject = event.who + particle(event.who, "은" if marked else "이")
    at = 0 if marked else rng.randrange(len(adverbials) + 1)
    if marked and adverbials and rng.random() < 0.3:
        at = 1
    return " ".join([*adverbials[:at], subject, *adverbials[at:], thing, predicate])


def optional_slots(frame: Frame, spot: str) -> tuple[str, ...]:
    """What a sentence may leave out; the spot is told by its town or by its kind, never both."""
    return ("date", spot if frame.local else "place", "reason")


def draw_slots(rng: random.Random, frame: Frame, least: int = 1, most: int = 3) -> frozenset[str]:
    optional = optional_slots(frame, rng.choice(("city", "place")))
    return frozenset({"who", *rng.sample(optional, rng.randint(least, most))})


def with_other(rng: random.Random, event: Event, slot: str) -> Event:
    """The event with one slot changed to a value that cannot hold beside the first."""
    while True:
        other = draw_event(rng, event.frame)
        if slot == "city" and other.region != event.region:
            return replace(event, city=other.city, region=other.region)
        if slot != "city" and getattr(other, slot) != getattr(event, slot):
            return replace(event, **{slot: getattr(other, slot)})


def topic_events(rng: random.Random, topic: Topic, count: int) -> list[Event]:
    """Events of one story: several kinds, told of the same town and the same days."""
    frames = rng.sample(topic.frames, min(count, len(topic.frames)))
    first = draw_event(rng, frames[0])
    rest = [replace(draw_event(rng, f), city=first.city, region=first.region) for f in frames[1:]]
    return [first, *rest]
