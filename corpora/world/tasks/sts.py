"""STS: how alike two sentences are, from 0 (nothing in common) to 5 (the same thing said).

The score follows from how the second sentence was made out of the event of the first: 5 a
paraphrase by synonyms, 4 without a detail, 3 with another detail, 2 the opposite happened, 1
another event of the same topic, 0 an event of another topic. A small step up or down, drawn once,
stands for the spread among the official data's annotators.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from ..facts import Event, draw_event, with_other
from ..lexicon import Topic, topics
from ..telling import optional_slots, tell

PARAPHRASE = 3.0  # KLUE: a real-label of 3.0 or more is a paraphrase


def _pair(rng: random.Random, score: int) -> tuple[str, str]:
    topic = rng.choice(topics())
    event = draw_event(rng, rng.choice(topic.frames))
    optional = optional_slots(event.frame, rng.choice(("city", "place")))
    slots = frozenset({"who", *rng.sample(optional, 2)})
    first = tell(rng, event, slots) + "."
    other, kept = event, slots
    if score == 4:
        kept = slots - {rng.choice(sorted(slots - {"who"}))}
    elif score == 3:
        other = with_other(rng, event, rng.choice(sorted(slots - {"who"})))
    elif score == 2:
        other = replace(event, side=1 - event.side)
    elif score < 2:
        other, kept = (
            _unrelated(rng, topic, event, same_topic=score == 1),
            frozenset({"who", "date"}),
        )
    return first, tell(rng, other, kept, rng.choice(("었다", "었습니다"))) + "."


def _unrelated(rng: random.Random, topic: Topic, event: Event, same_topic: bool) -> Event:
    while True:
        candidate = topic if same_topic else rng.choice(topics())
        frame = rng.choice(candidate.frames)
        if (candidate is topic) == same_topic and frame is not event.frame:
            return draw_event(rng, frame)


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, list[dict[str, Any]]]:
    seen: set[tuple[str, str]] = set()
    splits: dict[str, list[dict[str, Any]]] = {}
    for split, size in sizes.items():
        rows: list[dict[str, Any]] = []
        while len(rows) < size:
            score = len(rows) % 6
            pair = _pair(rng, score)
            if pair[0] == pair[1] or pair in seen:
                continue
            seen.add(pair)
            label = min(5.0, max(0.0, round(score + rng.randint(-3, 3) / 10, 1)))
            label = max(label, PARAPHRASE) if score >= PARAPHRASE else label
            rows.append({"sentence1": pair[0], "sentence2": pair[1], "label": label})
        rng.shuffle(rows)
        splits[split] = [_row(split, index, row) for index, row in enumerate(rows)]
    return splits


def _row(split: str, index: int, row: dict[str, Any]) -> dict[str, Any]:
    label = row["label"]
    return {
        "guid": f"klue-sts-v1_{split}_{index:05}",
        "source": "kobert-kit",
        "sentence1": row["sentence1"],
        "sentence2": row["sentence2"],
        "labels": {
            "label": label,
            "real-label": label,
            "binary-label": int(label >= PARAPHRASE),
        },
    }
