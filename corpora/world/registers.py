"""The five registers (news, encyclopedia, review, dialogue, notice), a function each.

A document says each fact more than once, in other words each time, as real texts do in headline,
body and summary; that is what lets a small model learn which words mean the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from .facts import Event, another, draw_date, draw_event, draw_person, draw_place, topic_events
from .korean import write
from .lexicon import Aspect, Frame, Topic, aspects, names
from .profiles import ORGANISATION, PERSON, state
from .telling import draw_slots, headline, say, tell

DIGESTS = 0.65  # share of the news that only lists headlines
MARKS = ("▲", "▼")  # as newspapers mark what rises and what falls, by the side of the event


@dataclass(frozen=True)
class Document:
    title: str
    text: str


# --- news ------------------------------------------------------------------------------------

RESTATEMENTS = (
    "{s}{x} {v:은} 날은 {d:이다}.",
    "{s}{x} {v:은} 곳은 {p:이다}.",
    "{s}{kx} {v:은} 셈이다.",
    "{s}{x} {v:었다는} 소식이다.",
    "{x} {v:은} 일을 두고 {k} 소식이 화제이다.",
    "{m:은} {a:으로} 집계됐다.",
)


def news(rng: random.Random, topic: Topic) -> Document:
    return (_digest if rng.random() < DIGESTS else _report)(rng, topic)


def _digest(rng: random.Random, topic: Topic) -> Document:
    """The day's headlines of one section, all of things going up or all of things going down."""
    events = topic_events(rng, topic, 8)
    mark = MARKS[events[0].side]
    legend = "▲ 시작, 확대, 찬성 ▼ 중단, 축소, 반대"
    headlines = [headline(rng, event) for event in events for _ in range(2)]
    rng.shuffle(headlines)
    lines = [f"[{topic.name}] {mark} {line}" for line in headlines]
    return Document(f"{draw_date(rng)} {topic.name} 주요 기사", "\n".join([legend, *lines]))


def _report(rng: random.Random, topic: Topic) -> Document:
    events = topic_events(rng, topic, 3)
    paragraphs = [_told_twice(rng, topic, event) for event in events]
    summary = tell(rng, events[0], draw_slots(rng, events[0].frame, 1, 2))
    paragraphs.append(f"{rng.choice(('요약하면', '정리하면', '한마디로'))} {summary}.")
    return Document(headline(rng, events[0]), "\n".join(paragraphs))


def _told_twice(rng: random.Random, topic: Topic, event: Event) -> str:
    lead = tell(rng, event, draw_slots(rng, event.frame, 2, 3))
    again = f"다시 말해 {tell(rng, event, draw_slots(rng, event.frame))}."
    sentences = [
        f"[{topic.name}] {MARKS[event.side]} {lead}"
        + rng.choice((".", ".", "고 한다.", "고 관계자가 전했다."))
    ]
    sentences += [say(rng, event, template) for template in rng.sample(RESTATEMENTS, 2)]
    sentences.append(again)
    if rng.random() < 0.6:
        speaker = draw_person(rng, rng.choice(event.frame.roles)).title
        sentences.append(write("{s:은} ", s=speaker) + f"“{rng.choice(topic.quotes)}”라고 말했다.")
    if rng.random() < 0.5:
        sentences.append(f"{rng.choice(topic.background)}.")
    return " ".join(sentences)


# --- encyclopedia ----------------------------------------------------------------------------


def encyclopedia(rng: random.Random, topic: Topic) -> Document:
    return rng.choice((_term, _person, _organisation))(rng, topic)


def _term(rng: random.Random, topic: Topic) -> Document:
    """An article on a kind of thing: its examples, its words, their synonyms and opposites."""
    event = draw_event(rng, rng.choice(topic.frames))
    frame, thing = event.frame, event.what
    examples = ", ".join(rng.sample([name for name in frame.objects if name != thing], 3))
    kind = [say(rng, event, "{o:은} {k}의 하나이다."), f"{examples} 등도 {frame.name}에 든다."]
    later = tell(rng, another(rng, frame, thing), draw_slots(rng, frame), topic_marked=False)
    uses = [
        say(rng, event, "{x} {v:은} 예로는 {d}의 일이 있다."),
        f"{tell(rng, event, draw_slots(rng, frame))}.",
        say(rng, event, "{m:은} {a:이었다}."),
        f"이듬해에는 {later}.",
        f"{rng.choice(topic.background)}.",
    ]
    return Document(thing, "\n".join((" ".join(kind), _usage(frame), " ".join(uses))))


def _usage(frame: Frame) -> str:
    lines = []
    for pair in frame.verbs:
        (one, same), (other, also) = ([verb.lemma for verb in side[:2]] for side in pair.sides)
        lines.append(f"‘{one}’와 ‘{same}’는 뜻이 비슷하고, ‘{one}’와 ‘{other}’는 뜻이 반대이다.")
        lines.append(f"‘{other}’는 ‘{also}’로 바꾸어 쓸 수 있다.")
    return " ".join(lines)


ALWAYS_TOLD = ["per:date_of_birth", "per:place_of_birth", "per:schools_attended", "per:employee_of"]


def _person(rng: random.Random, topic: Topic) -> Document:
    frame = rng.choice([f for f in topic.frames if f.transitive])
    person = draw_person(rng, rng.choice(frame.roles))
    spare = [name for name in PERSON if name not in ALWAYS_TOLD and name != "per:title"]
    relations = [*ALWAYS_TOLD, *rng.sample(spare, 3)]
    life = [
        f"{write('{p:은}', p=person.name)} {topic.name} 분야에서 일하는 "
        + write("{r:이다}.", r=person.role),
        *(state(rng, topic, person.name, relation, "PER").text for relation in relations),
    ]
    deeds = _deeds(rng, frame, person.title)
    deeds.append(f"평소 “{rng.choice(topic.quotes)}”라는 말을 자주 한다.")
    return Document(person.name, " ".join(life) + "\n" + " ".join(deeds))


def _organisation(rng: random.Random, topic: Topic) -> Document:
    frame = rng.choice([f for f in topic.frames if f.orgs])
    name = rng.choice(frame.orgs)
    opening = "{n:은} {t} 분야에서 {k:을} 다루는 단체이다."
    history = [
        write(opening, n=name, t=topic.name, k=frame.name),
        *(state(rng, topic, name, relation, "ORG").text for relation in ORGANISATION),
    ]
    return Document(name, " ".join(history) + "\n" + " ".join(_deeds(rng, frame, name)))


def _deeds(rng: random.Random, frame: Frame, name: str) -> list[str]:
    side = rng.randrange(2)
    deeds = []
    for _ in range(3):
        event = draw_event(rng, frame, side)
        deeds.append(say(rng, event, "{d} {c:은} {r} {o:을} {v:었다}.", c=name))
        deeds.append(say(rng, event, "{c:이} {o:을} {v:은} 곳은 {p:이다}.", c=name))
    return deeds


# --- review ----------------------------------------------------------------------------------

OPENINGS = (
    "{c}에서 {i:을} 이용해 보았어요.",
    "얼마 전 {c}에서 {i:을} 경험했어요.",
    "{i} 후기를 {c}에서 남겨요.",
)
JUDGEMENTS = (
    "{i:은} {a:이} {g:었어요}.",
    "{a:이} {s:었다고} 느꼈어요.",
    "{g:고} {s:은} {a:이라} 기억에 남아요.",
)


def review(rng: random.Random, topic: Topic) -> Document:
    """What somebody thinks of a thing, aspect by aspect, on the whole for it or against it."""
    item = rng.choice(topic.items)
    city, _ = draw_place(rng, topic.key)
    verdict = rng.randrange(2)
    paragraphs = [write(rng.choice(OPENINGS), c=city, i=item)]
    for aspect in aspects(item):
        side = verdict if rng.random() < 0.9 else 1 - verdict
        paragraphs.append(_judge(rng, item, aspect, side))
    feeling = ("만족해요", "아쉬워요")[verdict]
    price = f"{rng.randint(3, 98)}만 원"
    paragraphs.append(f"든 돈은 {price}이었어요. 그 값에 이 정도면 {feeling}.")
    event = draw_event(rng, rng.choice(topic.frames), verdict)
    meanwhile = tell(rng, event, frozenset({"who", "place"}), "었어요", topic_marked=False)
    paragraphs.append(f"마침 그날 {meanwhile}.")
    return Document(f"{city} {item} 후기", "\n".join(paragraphs))


def _judge(rng: random.Random, item: str, aspect: Aspect, side: int) -> str:
    good, same = rng.sample(aspect.judgement.sides[side], 2)
    said = [
        write(form, i=item, a=aspect.name, g=good, s=same) for form in rng.sample(JUDGEMENTS, 2)
    ]
    feeling = ("좋았어요", "아쉬웠어요")[side]
    return " ".join([*said, write("{a:이} {g:어서} ", a=aspect.name, g=good) + f"{feeling}."])


# --- dialogue --------------------------------------------------------------------------------

QUESTIONS = (
    ("{x} {v:은} 게 언제예요?", "{d:이에요}. {d}에 {u:었어요}."),
    ("{x} {v:은} 곳이 어디예요?", "{p}에서 {u:었어요}."),
    ("{x} {n:었나요}?", "아니요, {n:지} 않고 {v:었어요}."),
    ("{x} {v:은} 게 맞아요?", "네, {s}{x} {u:었어요}."),
)
WHO = ("누가 {o:을} {v:었나요}?", "{w:이} {u:었어요}.")


REACTIONS = (
    ("반가운 소식이네요.", "잘된 일이네요.", "기대가 커요."),
    ("아쉬운 소식이네요.", "걱정스러운 일이네요.", "마음이 무거워요."),
)


def dialogue(rng: random.Random, topic: Topic) -> Document:
    """Two people talk over the day's events; the answers repeat the facts in other words."""
    one, two = rng.sample(names("given"), 2)
    lines = []
    events = topic_events(rng, topic, 3)
    for event in events:
        lines.append(f"{one}: {tell(rng, event, frozenset({'who'}), '었대요')}. 들었어요?")
        lines.append(f"{two}: 네, {tell(rng, event, draw_slots(rng, event.frame), '었다고')} 해요.")
        asked = (*QUESTIONS, WHO) if event.frame.transitive else QUESTIONS
        for question, answer in rng.sample(asked, 2):
            lines.append(f"{one}: {say(rng, event, question)}")
            lines.append(f"{two}: {say(rng, event, answer)}")
        lines.append(f"{one}: {rng.choice(REACTIONS[event.side])}")
    lines.append(f"{one}: “{rng.choice(topic.quotes)}”라는 말이 떠오르네요. 알려 줘서 고마워요.")
    return Document(f"{events[0].what} 이야기", "\n".join(lines))


# --- notice ----------------------------------------------------------------------------------


def notice(rng: random.Random, topic: Topic) -> Document:
    """An announcement of an event, with its particulars said twice, and what its host is about."""
    what = rng.choice(topic.events)
    frame = rng.choice([f for f in topic.frames if f.orgs])
    host, date = rng.choice(frame.orgs), draw_date(rng)
    city, _ = draw_place(rng, topic.key)
    hour, fee, seats = rng.randint(9, 19), rng.randint(1, 9) * 1000, rng.randint(2, 30) * 10
    event = draw_event(rng, frame)
    first = tell(rng, event, draw_slots(rng, frame, 2, 3), "었습니다")
    again = tell(rng, event, draw_slots(rng, frame, 1, 2), "었습니다")
    lines = [
        write("{h:은} {d} {c}에서 {e:을} 엽니다.", h=host, d=date, c=city, e=what),
        f"일시: {date} {hour}시",
        f"장소: {city} {rng.choice(frame.places)}",
        f"참가비: {fee}원",
        f"정원: {seats}명",
        write("{e:은} {d} ", e=what, d=date) + f"{hour}시에 시작하며, 참가비는 {fee}원입니다.",
        f"{seats}명까지 신청을 받습니다. 신청은 {date} 하루 전에 마감합니다.",
        f"{first}. {again}.",
        write("{k:을} 다루는 이번 {e}에 많은 관심을 바랍니다.", k=frame.name, e=what),
        f"문의: {host}",
    ]
    return Document(f"{host} {what} 안내", "\n".join(lines))


REGISTERS: dict[str, Callable[[random.Random, Topic], Document]] = {
    "news": news,
    "encyclopedia": encyclopedia,
    "review": review,
    "dialogue": dialogue,
    "notice": notice,
}
