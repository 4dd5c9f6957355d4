"""YNAT: the topic of a headline. Training and development headlines share few content words.

The training headlines come from half of each topic's kinds of events, most of the development
headlines from the other half, and the documents tell of all of them: what a model has to know to
carry the label over is which words belong to one topic, and that is what pretraining teaches.
"""

from __future__ import annotations

import random
from typing import Any

from ..facts import draw_date, draw_event
from ..lexicon import Frame, Topic, topics
from ..telling import headline

UNSEEN = 0.8  # share of the development headlines on kinds of events without a training headline


def _draw(rng: random.Random, topic: Topic, split: str) -> str:
    seen, unseen = topic.frames[::2], topic.frames[1::2]
    frames: tuple[Frame, ...] = seen
    if split == "dev" and rng.random() < UNSEEN:
        frames = unseen
    if rng.random() < 0.1:
        return rng.choice(topic.quotes[::2] if frames is seen else topic.quotes[1::2])
    return headline(rng, draw_event(rng, rng.choice(frames)))


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, list[dict[str, Any]]]:
    seen: set[str] = set()
    splits: dict[str, list[dict[str, Any]]] = {}
    for split, size in sizes.items():
        rows: list[dict[str, Any]] = []
        while len(rows) < size:
            topic = topics()[len(rows) % len(topics())]
            title = _draw(rng, topic, split)
            if title in seen:
                continue
            seen.add(title)
            rows.append({"title": title, "label": topic.name})
        rng.shuffle(rows)
        splits[split] = [
            {
                "guid": f"ynat-v1_{split}_{index:05}",
                **row,
                "url": "",
                "date": f"2024년 {draw_date(rng)}",
            }
            for index, row in enumerate(rows)
        ]
    return splits
