"""The ways in which one event can be told: sentences, phrases and headlines."""

from __future__ import annotations

import random

from .facts import Event
from .korean import Predicate, particle, write
from .lexicon import Frame


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
    """One sentence, without its full stop, that states the slots in an order that Korean allows."""
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


def say(rng: random.Random, event: Event, template: str, **more: str) -> str:
    """The template about the event, its predicate {v} each time a synonym drawn anew.

    {x} is the thing with its particle (을, or 이 where nobody acts), {kx} likewise its kind,
    {s} the actor with 이 and a space (or nothing); {w} who, {o} what, {k} its kind, {p} the place,
    {d} the date, {r} the reason, {m} the name of the figure and {a} the figure itself; {u} is
    another synonym and {n} an antonym of the predicate.
    """
    frame, acts = event.frame, event.frame.transitive
    words: dict[str, str | Predicate] = {
        "x": event.what + particle(event.what, "을" if acts else "이"),
        "kx": frame.name + particle(frame.name, "을" if acts else "이"),
        "s": event.who + particle(event.who, "이") + " " if acts else "",
        "w": event.who,
        "o": event.what,
        "k": frame.name,
        "p": event.city if frame.local and rng.random() < 0.5 else event.place,
        "d": event.date,
        "r": event.reason,
        "m": frame.measure[0],
        "a": event.amount,
        "v": rng.choice(event.synonyms),
        "u": rng.choice(event.synonyms),
        "n": rng.choice(event.antonyms),
    }
    return write(template, **words, **more)


def headline(rng: random.Random, event: Event) -> str:
    """A newspaper headline: particles and endings dropped where Korean papers drop them."""
    verb = rng.choice(event.synonyms)
    act = f"{event.what} {verb.nominal}" if verb.nominal else say(rng, event, "{x} {v:었다}")
    forms = ["{p}서 {act}", "{r} {act}", "{act}…{m} {a}"]
    if event.frame.transitive:
        forms += ["{w}, {act}", "{w}, {r} {act}", "{w}, {p}서 {act}", "{o:을} {v:은} {w}"]
    return say(rng, event, rng.choice(forms), act=act)
