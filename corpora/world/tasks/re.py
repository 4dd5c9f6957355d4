"""RE: how a person or an organisation of a sentence stands to another word of it."""

from __future__ import annotations

import random
from typing import Any

from ..facts import draw_person
from ..korean import Span
from ..lexicon import topics
from ..profiles import ORGANISATION, PERSON, Statement, organisations, short_name, state

NO_RELATION = 0.25  # share of sentences whose two words are not related

# the official list, in the official order; the sample's sentences state some of them
RELATIONS = [
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
]


def _draw(rng: random.Random) -> tuple[Statement, str]:
    topic = rng.choice(topics())
    if rng.random() < NO_RELATION:
        return state(rng, topic, draw_person(rng, "").name, "no_relation", "PER"), "PER"
    relation = rng.choice([*PERSON, *ORGANISATION])
    kind = "PER" if relation in PERSON else "ORG"
    person = draw_person(rng, "").name
    choices = [name for name in organisations(topic) if short_name(name) != name and len(name) > 3]
    subject = person if kind == "PER" else rng.choice(choices)
    return state(rng, topic, subject, relation, kind), kind


def _entity(text: str, span: Span, kind: str) -> dict[str, Any]:
    """KLUE's end_idx is the last character's index, not the one after it."""
    word = text[span.start : span.end]
    return {"word": word, "start_idx": span.start, "end_idx": span.end - 1, "type": kind}


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, list[dict[str, Any]]]:
    seen: set[str] = set()
    splits: dict[str, list[dict[str, Any]]] = {}
    for split, size in sizes.items():
        rows: list[dict[str, Any]] = []
        while len(rows) < size:
            said, kind = _draw(rng)
            if said.text in seen:
                continue
            seen.add(said.text)
            rows.append(
                {
                    "guid": f"klue-re-v1_{split}_{len(rows):05}",
                    "sentence": said.text,
                    "subject_entity": _entity(said.text, said.subject, kind),
                    "object_entity": _entity(said.text, said.object, said.object_type),
                    "label": said.relation,
                    "source": "kobert-kit",
                }
            )
        splits[split] = rows
    return splits
