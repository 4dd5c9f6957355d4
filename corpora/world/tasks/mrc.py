"""MRC: questions on a news passage whose answers are spans of it, or that it does not answer.

KLUE's question types: 1 rewords one sentence, 2 needs more than one, 3 cannot be answered.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from ..facts import Event, another, topic_events
from ..lexicon import Topic, topics
from ..telling import say, tell


def _passage(rng: random.Random, topic: Topic) -> tuple[str, list[Event]]:
    events = [event for event in topic_events(rng, topic, 4) if event.frame.transitive]
    sentences = []
    for event in events:
        lead = tell(rng, event, frozenset({"who", "date", "place"}))
        figure = say(rng, event, "{m:은} {a:으로} 집계됐다.")
        sentences.append(f"{lead}. {figure}")
        sentences.append(rng.choice(topic.background) + ".")
    return " ".join(dict.fromkeys(sentences)), events


def _questions(rng: random.Random, event: Event) -> list[tuple[int, str, str]]:
    """(question type, question, answer) on one event, by a synonym of the word in the passage."""
    return [
        (1, say(rng, event, "{w:이} {o:을} {v:은} 날은 언제인가?"), event.date),
        (1, say(rng, event, "{o:을} {v:은} 것은 누구인가?"), event.who),
        (1, say(rng, event, "{w:이} {o:을} {v:은} 곳은 어디인가?"), event.place),
        (2, say(rng, event, "{w:이} {o:을} {v:은} 일에서 {m:은} 얼마였는가?"), event.amount),
    ]


def _unanswerable(rng: random.Random, event: Event) -> tuple[str, str]:
    """A question about a thing that the passage does not mention, and the answer it tempts to."""
    other = another(rng, event.frame, event.what)
    question = say(rng, replace(other, who=event.who), "{w:이} {o:을} {v:은} 날은 언제인가?")
    return question, event.date


def _item(rng: random.Random, split: str, index: int, topic: Topic) -> dict[str, Any]:
    context, events = _passage(rng, topic)
    asked = [question for event in events[:2] for question in rng.sample(_questions(rng, event), 1)]
    qas = []
    for kind, question, answer in asked:
        if context.count(answer) == 1:
            span = {"text": answer, "answer_start": context.index(answer)}
            qas.append(_qa(question, kind, [span], []))
    question, tempting = _unanswerable(rng, events[-1])
    span = {"text": tempting, "answer_start": context.index(tempting)}
    qas.append(_qa(question, 3, [], [span]))
    for number, qa in enumerate(qas):
        qa["guid"] = f"klue-mrc-v1_{split}_{index:05}_{number}"
    return {
        "title": events[0].what,
        "news_category": topic.name,
        "source": "kobert-kit",
        "paragraphs": [{"context": context, "qas": qas}],
    }


def _qa(question: str, kind: int, answers: list[Any], plausible: list[Any]) -> dict[str, Any]:
    impossible = not answers
    row = {
        "question": question,
        "question_type": kind,
        "is_impossible": impossible,
        "answers": answers,
    }
    return {**row, "plausible_answers": plausible} if impossible else row


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, dict[str, Any]]:
    splits: dict[str, dict[str, Any]] = {}
    for split, size in sizes.items():
        data = [_item(rng, split, index, topics()[index % len(topics())]) for index in range(size)]
        splits[split] = {"version": "v1.1", "data": data}
    return splits
