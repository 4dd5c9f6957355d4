"""NER: people (PS), places (LC), organisations (OG), dates (DT), times (TI), quantities (QT)."""

from __future__ import annotations

import random

from ..facts import draw_event, draw_person
from ..korean import Span, fill
from ..lexicon import Frame, topics

HEADER = """## 토큰, 레이블 구분자 : \\t
## 토큰 구분자 : \\n
## 문장 구분자 : \\n\\n
## 주석 : ##
## 컬럼명 : CHAR\tNE_TAG
"""

TAGS = {"p": "PS", "c": "LC", "g": "OG", "d": "DT", "t": "TI", "n": "QT"}
TEMPLATES = (
    "{p} {r:이} {d} {c}에서 {o:을} {v:었다}.",
    "{d} {g:은} {c}에서 {o:을} {v:었다}.",
    "{g:이} {o:을} {v:었다고} {p} {r:이} {t}에 밝혔다.",
    "{m:은} {n:이며}, {p} {r:이} {c}에서 이를 확인했다.",
    "{c}에 본부를 둔 {g:은} {d} {t}에 {o:을} {v:었다}.",
    "{p} {r:과} {q} {r2:은} {d} {o:을} {v:었다}.",
    "{o:을} {v:은} 곳은 {c:이고}, {m:은} {n:이었다}.",
    "{t}에 {c:을} 떠난 {p} {r:은} {g:을} 찾았다.",
    "{g}에 따르면 {d} {m:은} {n:이었다}.",
)
CLOCK = ("오전", "오후")


def _sentence(rng: random.Random, frame: Frame) -> tuple[str, list[Span]]:
    event = draw_event(rng, frame)
    first, second = (draw_person(rng, rng.choice(frame.roles)) for _ in range(2))
    return fill(
        rng.choice(TEMPLATES),
        p=first.name,
        r=first.role,
        q=second.name,
        r2=second.role,
        d=event.date,
        c=event.city,
        g=rng.choice(frame.orgs),
        t=f"{rng.choice(CLOCK)} {rng.randint(1, 12)}시",
        o=event.what,
        v=rng.choice(event.synonyms),
        m=frame.measure[0],
        n=event.amount,
    )


def _render(guid: str, text: str, spans: list[Span]) -> str:
    """The sentence with its entities marked inline, then a character and its tag a line."""
    tags, marked, position = ["O"] * len(text), "", 0
    entities = {**TAGS, "q": "PS"}
    for span in spans:
        tag = entities.get(span.slot)
        if tag is None:
            continue
        marked += f"{text[position : span.start]}<{text[span.start : span.end]}:{tag}>"
        position = span.end
        tags[span.start : span.end] = [f"I-{tag}"] * (span.end - span.start)
        tags[span.start] = f"B-{tag}"
    lines = [f"{character}\t{tag}" for character, tag in zip(text, tags, strict=True)]
    return "\n".join([f"## {guid}\t{marked}{text[position:]}", *lines, ""])


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, str]:
    frames = [f for t in topics() for f in t.frames if f.transitive and f.orgs]
    seen: set[str] = set()
    splits: dict[str, str] = {}
    for split, size in sizes.items():
        blocks: list[str] = []
        while len(blocks) < size:
            text, spans = _sentence(rng, rng.choice(frames))
            if text not in seen:
                seen.add(text)
                blocks.append(_render(f"klue-ner-v1_{split}_{len(blocks):05}_kobert", text, spans))
        splits[split] = HEADER + "\n".join(blocks)
    return splits
