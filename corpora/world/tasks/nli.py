"""NLI: whether a hypothesis follows from a premise, contradicts it, or neither.

The hypothesis is drawn before the label is applied, in the same way for all three labels, so that
it does not give the label away, and the premise is then made to fit:

- entailment: the premise says all that the hypothesis says, perhaps by a synonym, a narrower word,
  a town for its region, or by denying the opposite;
- contradiction: the opposite happened, or on another day, or elsewhere;
- neutral: the premise is about something else, or leaves out a detail of the hypothesis.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from ..facts import Event, draw_event, draw_place, with_other
from ..korean import write
from ..lexicon import Frame, Opposition, aspects, topics
from ..telling import optional_slots, tell

LABELS = ("entailment", "contradiction", "neutral")
REVIEWS = 0.1  # share of pairs about a reviewed thing, not an event
AFFIRMED = 0.85  # share of hypotheses that something went ahead, whatever the label
DENIALS = 0.06  # share of hypotheses that deny the opposite
WIDER = 0.2  # share of hypotheses that name the kind of thing only
UNRELATED = 0.7  # share of neutral pairs whose premise is about another topic
UNSEEN = 0.7  # share of development pairs on kinds of events without a training pair


@dataclass(frozen=True)
class Pair:
    premise: str
    hypothesis: str
    label: str


def frames(split: str) -> list[Frame]:
    """Kinds of events: the first five of each topic for training, the last three for dev alone."""
    return [f for t in topics() for f in (t.frames[:5] if split == "train" else t.frames[5:])]


def _other_side(event: Event) -> Event:
    return replace(event, side=1 - event.side)


def _hypothesis(rng: random.Random, event: Event, slots: frozenset[str], wide: bool) -> str:
    what = event.frame.name if wide else event.what
    if rng.random() < DENIALS:
        verb = rng.choice(event.antonyms)
        return tell(rng, event, slots, "지 않았다", verb, what) + "."
    return tell(rng, event, slots, "었다", None, what) + "."


def _elsewhere(rng: random.Random, frame: Frame) -> Frame:
    """A kind of event of another topic."""
    return rng.choice(rng.choice([t for t in topics() if t.key != frame.topic]).frames)


def event_pair(rng: random.Random, frame: Frame, label: str) -> Pair:
    event = draw_event(rng, frame, side=int(rng.random() >= AFFIRMED))
    spot = rng.choice(("city", "place")) if frame.local else "place"
    detail, spare, _ = rng.sample(optional_slots(frame, spot), 3)
    said = frozenset({"who", detail})
    wide = rng.random() < WIDER
    claimed = said
    if "city" in said and rng.random() < 0.4:
        claimed = said - {"city"} | {"region"}
    hypothesis = _hypothesis(rng, event, claimed, wide)
    premise, told = event, said | ({spare} if rng.random() < 0.5 else set())
    if label == "contradiction":
        slot = rng.choice(["verb"] * 6 + sorted(said & {"date", "city", "place"}))
        premise = _other_side(event) if slot == "verb" else with_other(rng, event, slot)
    elif label == "neutral":
        if rng.random() < UNRELATED:
            premise = draw_event(rng, _elsewhere(rng, frame), event.side)
            told = frozenset(
                {"who", *rng.sample(optional_slots(premise.frame, "place"), len(told) - 1)}
            )
        else:
            told = frozenset({"who"})
    ending = rng.choice(("었다", "었다", "었습니다"))
    return Pair(tell(rng, premise, told, ending) + ".", hypothesis, label)


def _clause(rng: random.Random, name: str, judgement: Opposition, side: int, ending: str) -> str:
    return write("{a:이} {g:" + ending + "}", a=name, g=rng.choice(judgement.sides[side]))


def review_pair(rng: random.Random, items: list[str], label: str) -> Pair:
    item = rng.choice(items)
    kinds = aspects(item)
    target = rng.choice(kinds)
    side = int(rng.random() >= AFFIRMED)
    others = [kind for kind in kinds if kind is not target]
    held = 1 - side if label == "contradiction" else side
    told = rng.sample(others, 2) if label == "neutral" else [target, rng.choice(others)]
    premise_aspects = [(kind, held) for kind in told]
    rng.shuffle(premise_aspects)
    clauses = [
        _clause(rng, kind.name, kind.judgement, which, "었고" if index == 0 else "었다")
        for index, (kind, which) in enumerate(premise_aspects)
    ]
    city, _ = draw_place(rng, "")
    premise = write("{c}에서 이용한 {i:은} ", c=city, i=item) + " ".join(clauses) + "."
    claim = _clause(rng, target.name, target.judgement, side, "었다")
    return Pair(premise, write("{i:은} ", i=item) + claim + ".", label)


def draw_pair(rng: random.Random, split: str, label: str) -> Pair:
    part = "dev" if split == "dev" and rng.random() < UNSEEN else "train"
    if rng.random() < REVIEWS:
        items = [i for t in topics() for i in (t.items[:3] if part == "train" else t.items[3:])]
        return review_pair(rng, items, label)
    return event_pair(rng, rng.choice(frames(part)), label)


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, list[dict[str, Any]]]:
    seen: set[tuple[str, str]] = set()
    splits: dict[str, list[dict[str, Any]]] = {}
    for split, size in sizes.items():
        pairs: list[Pair] = []
        while len(pairs) < size:
            pair = draw_pair(rng, split, LABELS[len(pairs) % 3])
            if (pair.premise, pair.hypothesis) not in seen:
                seen.add((pair.premise, pair.hypothesis))
                pairs.append(pair)
        rng.shuffle(pairs)
        splits[split] = [_row(split, index, pair) for index, pair in enumerate(pairs)]
    return splits


def _row(split: str, index: int, pair: Pair) -> dict[str, Any]:
    """The official keys; author and the four votes agree, because the label follows by rule."""
    votes = dict.fromkeys(("author", "label2", "label3", "label4", "label5"), pair.label)
    return {
        "guid": f"klue-nli-v1_{split}_{index:05}",
        "source" if split == "dev" else "genre": "kobert-kit",
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "gold_label": pair.label,
        **votes,
    }
