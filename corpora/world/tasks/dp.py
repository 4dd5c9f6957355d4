"""DP: which eojeol each eojeol depends on, and how. We built the sentence, so we know the tree.

A sentence is a list of phrases; each is a run of eojeols whose last one heads the others, and which
depends on the eojeol that ends a later phrase. LEMMA and POS come from Kiwi (whose tags are
the Sejong tags of KLUE-DP, apart from the mark of irregular stems).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..facts import Event, draw_event
from ..korean import kiwi, write
from ..lexicon import Frame, topics

HEADER = """## 토큰, 레이블 구분자 : \\t
## 토큰 구분자 : \\n
## 문장 구분자 : \\n\\n
## 주석 : ##
## 칼럼명 : INDEX\tWORD_FORM\tLEMMA\tPOS\tHEAD\tDEPREL
"""


@dataclass(frozen=True)
class Phrase:
    """Eojeols, the label of the last, how many phrases further on its head is (0: the root)."""

    text: str
    label: str
    head: int
    inner: str = "NP"


def _simple(rng: random.Random, event: Event) -> list[Phrase]:
    verb = write("{v:었다}.", v=rng.choice(event.synonyms))
    thing = Phrase(write("{o:을}", o=event.what), "NP_OBJ", 1)
    adverbials = [Phrase(event.date, "NP_AJT", 0), Phrase(f"{event.city}에서", "NP_AJT", 0)]
    subject = Phrase(write("{w:은}", w=event.who), "NP_SBJ", 0)
    front = [subject, *rng.sample(adverbials, rng.randint(1, 2))]
    rng.shuffle(front)
    phrases = [*front, thing, Phrase(verb, "VP", 0, "VP")]
    last = len(phrases) - 1
    return [
        Phrase(p.text, p.label, last - index, p.inner) for index, p in enumerate(phrases[:-1])
    ] + [phrases[-1]]


def _relative(rng: random.Random, event: Event) -> list[Phrase]:
    verb = write("{v:은}", v=rng.choice(event.synonyms))
    return [
        Phrase(write("{w:이}", w=event.who), "NP_SBJ", 2),
        Phrase(write("{o:을}", o=event.what), "NP_OBJ", 1),
        Phrase(verb, "VP_MOD", 1, "VP"),
        Phrase("날은", "NP_SBJ", 1),
        Phrase(f"{event.date}이다.", "VNP", 0),
    ]


def _coordinated(rng: random.Random, event: Event) -> list[Phrase]:
    first = write("{v:었고}", v=rng.choice(event.verbs.sides[event.side]))
    return [
        Phrase(write("{w:은}", w=event.who), "NP_SBJ", 2),
        Phrase(write("{o:을}", o=event.what), "NP_OBJ", 1),
        Phrase(first, "VP", 3, "VP"),
        Phrase(write("{m:은}", m=event.frame.measure[0]), "NP_SBJ", 2),
        Phrase("모두", "AP", 1),
        Phrase(f"{event.amount}이었다.", "VNP", 0),
    ]


def _rows(phrases: list[Phrase]) -> list[tuple[str, int, str]]:
    """(eojeol, head from 1, label) of every eojeol; 0 heads the root."""
    ends, position = [], 0
    for phrase in phrases:
        position += len(phrase.text.split(" "))
        ends.append(position)
    rows: list[tuple[str, int, str]] = []
    for index, phrase in enumerate(phrases):
        *inner, last = phrase.text.split(" ")
        for eojeol in inner:
            label = "AP" if phrase.inner == "VP" else "NP"
            rows.append((eojeol, len(rows) + 2, label))
        head = ends[index + phrase.head] if phrase.head else 0
        rows.append((last, head, phrase.label))
    return rows


def _morphemes(sentence: str) -> list[tuple[str, str]]:
    """LEMMA and POS of every eojeol: morphemes joined by a space, tags by a plus sign."""
    columns: list[tuple[list[str], list[str]]] = [([], []) for _ in sentence.split(" ")]
    for token in kiwi().tokenize(sentence):
        eojeol = sentence.count(" ", 0, token.start)
        columns[eojeol][0].append(token.form)
        columns[eojeol][1].append(token.tag.split("-")[0])
    return [(" ".join(forms), "+".join(tags)) for forms, tags in columns]


def _sentence(rng: random.Random, frame: Frame) -> list[Phrase]:
    # a verb of several words has inner structure that the phrase does not describe
    while True:
        event = draw_event(rng, frame)
        if all(" " not in verb.lemma for verb in event.synonyms):
            return rng.choice((_simple, _relative, _coordinated))(rng, event)


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, str]:
    frames = [f for t in topics() for f in t.frames if f.transitive]
    frames = [f for f in frames if any(_plain(f, side) for side in (0, 1))]
    seen: set[str] = set()
    splits: dict[str, str] = {}
    for split, size in sizes.items():
        blocks: list[str] = []
        while len(blocks) < size:
            rows = _rows(_sentence(rng, rng.choice(frames)))
            sentence = " ".join(eojeol for eojeol, _, _ in rows)
            if sentence in seen:
                continue
            seen.add(sentence)
            lines = [f"## klue-dp-v1_{split}_{len(blocks):05}_kobert\t{sentence}"]
            for index, (row, morphemes) in enumerate(zip(rows, _morphemes(sentence), strict=True)):
                lines.append("\t".join(map(str, (index + 1, row[0], *morphemes, row[1], row[2]))))
            blocks.append("\n".join([*lines, ""]))
        splits[split] = HEADER + "\n".join(blocks)
    return splits


def _plain(frame: Frame, side: int) -> bool:
    return any(all(" " not in verb.lemma for verb in pair.sides[side]) for pair in frame.verbs)
