"""The five registers: news, encyclopedia, review, dialogue, notice. Each function writes a document.

A document says each fact more than once, in other words each time, as real texts do in headline,
body and summary; that is what lets a small model learn which words mean the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .facts import (
    Event,
    another,
    draw_date,
    draw_event,
    draw_person,
    draw_place,
    draw_slots,
    tell,
    topic_events,
    where,
)
from .korean import Predicate, particle, write
from .lexicon import Topic, aspects, names
from .profiles import ORGANISATION, PERSON, organisations, state


@dataclass(frozen=True)
class Document:
    title: str
    text: str


def headline(rng: random.Random, event: Event) -> str:
    """A newspaper headline: particles and endings dropped where Korean papers drop them."""
    verb = rng.choice(event.synonyms)
    spot = event.city if event.frame.local and rng.random() < 0.5 else event.place
    act = (
        f"{event.what} {verb.nominal}"
        if verb.nominal
        else event.what + particle(event.what, "을" if event.frame.transitive else "이")
        + " " + write("{v:었다}", v=verb)
    )  # fmt: skip
    forms = [f"{spot}서 {act}", f"{event.reason} {act}", f"{act}…{event.frame.measure[0]} {event.amount}"]
    if event.frame.transitive:
        forms += [f"{event.who}, {act}", f"{event.who}, {event.reason} {act}", f"{event.who}, {spot}서 {act}"]
        forms += [write("{o:을} {v:은} {w}", o=event.what, v=verb, w=event.who)]
    return rng.choice(forms)


def _restated(rng: random.Random, event: Event) -> list[str]:
    """The event once more: as a cleft sentence, by the opposite denied, by its kind, in short."""
    verb, opposite = rng.choice(event.synonyms), rng.choice(event.antonyms)
    thing = event.what + particle(event.what, "을" if event.frame.transitive else "이")
    kind = event.frame.name
    kind += particle(kind, "을" if event.frame.transitive else "이")
    subject = event.who + particle(event.who, "이") + " " if event.frame.transitive else ""
    spot = where(event, draw_slots(rng, event.frame, 2, 3) - {"date"}) or event.place
    said = write("{v:은}", v=verb)
    return [
        f"{subject}{thing} {said} 날은 {event.date}이다.",
        f"{subject}{thing} {said} 곳은 {spot}{particle(spot, '이다')}.",
        f"{thing} {write('{v:은}', v=opposite)} 것이 아니라 {said} 것이다.",
        f"{subject}{kind} {said} 셈이다.",
        f"다시 말해 {tell(rng, event, draw_slots(rng, event.frame))}.",
        f"{thing} {write('{v:지}', v=opposite)} 않고 {write('{v:었다}', v=verb)}.",
        f"{write('{m:은} {a:으로} 집계됐다.', m=event.frame.measure[0], a=event.amount)}",
    ]


def news(rng: random.Random, topic: Topic) -> Document:
    events = topic_events(rng, topic, 3)
    paragraphs = []
    for event in events:
        lead = tell(rng, event, draw_slots(rng, event.frame, 2, 3))
        ending = rng.choice((".", ".", "고 한다.", "고 관계자가 전했다."))
        paragraph = [lead + ending, *rng.sample(_restated(rng, event), 3)]
        if rng.random() < 0.6:
            speaker = draw_person(rng, rng.choice(event.frame.roles)).title
            quote = rng.choice(topic.quotes)
            paragraph.append(f"{speaker}{particle(speaker, '은')} “{quote}”라고 말했다.")
        if rng.random() < 0.5:
            paragraph.append(rng.choice(topic.background) + ".")
        paragraphs.append(" ".join(paragraph))
    summary = tell(rng, events[0], draw_slots(rng, events[0].frame, 1, 2))
    paragraphs.append(f"{rng.choice(('요약하면', '정리하면', '한마디로'))} {summary}.")
    return Document(headline(rng, events[0]), "\n".join(paragraphs))


def encyclopedia(rng: random.Random, topic: Topic) -> Document:
    return rng.choice((_term, _person, _organisation))(rng, topic)


def _term(rng: random.Random, topic: Topic) -> Document:
    """An article on a kind of thing: its examples, its words, their synonyms and opposites."""
    event = draw_event(rng, rng.choice(topic.frames))
    frame, thing = event.frame, event.what
    examples = rng.sample([name for name in frame.objects if name != thing], 3)
    lines = [
        write("{o:은} {k}의 하나이다.", o=thing, k=frame.name),
        write("{l} 등도 {k}에 든다.", l=", ".join(examples), k=frame.name),
    ]
    words = []
    for pair in frame.verbs:
        (one, same), (other, same_other) = (side[:2] for side in pair.sides)
        words.append(f"‘{one.lemma}’와 ‘{same.lemma}’는 뜻이 비슷하고, ‘{one.lemma}’와 ‘{other.lemma}’는 뜻이 반대이다.")
        words.append(f"‘{other.lemma}’는 ‘{same_other.lemma}’로 바꾸어 쓸 수 있다.")
    mark = "을" if frame.transitive else "이"
    told = another(rng, frame, thing)
    uses = [
        f"{thing}{particle(thing, mark)} {write('{v:은}', v=rng.choice(event.synonyms))} 예로는 {event.date}의 일이 있다.",
        f"{tell(rng, event, draw_slots(rng, frame))}.",
        f"{frame.measure[0]}{particle(frame.measure[0], '은')} {event.amount}이었다." if not event.amount.endswith("개국")
        else f"{frame.measure[0]}{particle(frame.measure[0], '은')} {event.amount}이었다.",
        f"이듬해에는 {tell(rng, told, draw_slots(rng, frame), topic_marked=False)}.",
        rng.choice(topic.background) + ".",
    ]  # fmt: skip
    return Document(thing, "\n".join([" ".join(lines), " ".join(words), " ".join(uses)]))


def _person(rng: random.Random, topic: Topic) -> Document:
    frame = rng.choice([f for f in topic.frames if f.transitive])
    person = draw_person(rng, rng.choice(frame.roles))
    relations = ["per:date_of_birth", "per:place_of_birth", "per:schools_attended", "per:employee_of"]
    relations += rng.sample([name for name in PERSON if name not in relations and name != "per:title"], 3)
    life = [state(rng, topic, person.name, relation, "PER").text for relation in relations]
    deeds = []
    for _ in range(3):
        event = draw_event(rng, frame)
        verb = rng.choice(event.synonyms)
        deeds.append(write("{d} {p:은} {o:을} {v:었다}.", d=event.date, p=person.title, o=event.what, v=verb))
        deeds.append(write("{o:을} {v:은} 곳은 {w:이다}.", o=event.what, v=rng.choice(event.synonyms), w=event.place))
    opening = write("{p:은} {t} 분야에서 일하는 {r:이다}.", p=person.name, t=topic.name, r=person.role)
    closing = f"평소 “{rng.choice(topic.quotes)}”라는 말을 자주 한다."
    return Document(person.name, "\n".join([" ".join([opening, *life]), " ".join([*deeds, closing])]))


def _organisation(rng: random.Random, topic: Topic) -> Document:
    frame = rng.choice([f for f in topic.frames if f.orgs])
    name = rng.choice(frame.orgs)
    history = [state(rng, topic, name, relation, "ORG").text for relation in ORGANISATION]
    deeds = []
    for _ in range(3):
        event = draw_event(rng, frame)
        verb, again = rng.choice(event.synonyms), rng.choice(event.synonyms)
        deeds.append(write("{d} {n:은} {r} {o:을} {v:었다}.", d=event.date, n=name, r=event.reason, o=event.what, v=verb))
        deeds.append(write("{n:이} {o:을} {v:은} 곳은 {w:이다}.", n=name, o=event.what, v=again, w=event.place))
    opening = write("{n:은} {t} 분야에서 {k:을} 다루는 단체이다.", n=name, t=topic.name, k=frame.name)
    return Document(name, "\n".join([" ".join([opening, *history]), " ".join(deeds)]))


def review(rng: random.Random, topic: Topic) -> Document:
    """What somebody liked and disliked about a thing, judged aspect by aspect."""
    item = rng.choice(topic.items)
    city, _ = draw_place(rng, topic.key)
    sides = [rng.randrange(2) for _ in aspects(item)]
    opening = rng.choice(
        ("{c}에서 {i:을} 이용해 보았어요.", "얼마 전 {c}에서 {i:을} 경험했어요.", "{i} 후기를 {c}에서 남겨요.")
    )
    paragraphs = [write(opening, c=city, i=item)]
    for aspect, side in zip(aspects(item), sides, strict=True):
        good, same = rng.sample(aspect.judgement.sides[side], 2)
        bad = rng.choice(aspect.judgement.sides[1 - side])
        said = [
            write("{i:은} {a:이} {g:었어요}.", i=item, a=aspect.name, g=good),
            write("{a:이} {b:지} 않고 {s:었어요}.", a=aspect.name, b=bad, s=same),
            write("{g:고} {s:은} {a:이라} 기억에 남아요.", g=good, s=same, a=aspect.name),
            write("{a:은} {g:어서} 남들에게도 {a} 이야기를 했어요.", g=good, a=aspect.name),
        ]
        paragraphs.append(" ".join(rng.sample(said, 3)))
    price = f"{rng.randint(3, 98)}만 원"
    paragraphs.append(f"든 돈은 {price}이었어요. {price}에 이 정도면 {'만족해요' if sum(sides) * 2 <= len(sides) else '아쉬워요'}.")
    event = draw_event(rng, rng.choice(topic.frames))
    paragraphs.append(f"마침 그날 {tell(rng, event, draw_slots(rng, event.frame, 1, 1) - {'date'}, '었어요', topic_marked=False)}.")
    return Document(f"{city} {item} 후기", "\n".join(paragraphs))


def dialogue(rng: random.Random, topic: Topic) -> Document:
    """Two people talk over the day's events; the answers repeat the facts in other words."""
    one, two = rng.sample(names("given"), 2)
    lines = []
    events = topic_events(rng, topic, 3)
    for event in events:
        thing = event.what + particle(event.what, "을" if event.frame.transitive else "이")
        spot = where(event, draw_slots(rng, event.frame, 3, 3) - {"date"}) or event.place
        said = write("{v:은}", v=rng.choice(event.synonyms))
        turns = [
            (f"{tell(rng, event, frozenset({'who'}), '었대요')}. 들었어요?", f"네, {tell(rng, event, draw_slots(rng, event.frame), '었다고')} 해요."),
            (f"{thing} {said} 게 언제예요?", f"{event.date}이에요. {event.date}에 {write('{v:었어요}', v=rng.choice(event.synonyms))}."),
            (f"{thing} {said} 곳이 어디예요?", f"{spot}{particle(spot, '이에요')}. {spot}에서 {write('{v:었어요}', v=rng.choice(event.synonyms))}."),
            (f"{thing} {write('{v:었나요}', v=rng.choice(event.antonyms))}?", f"아니요, {write('{v:지}', v=rng.choice(event.antonyms))} 않고 {write('{v:었어요}', v=rng.choice(event.synonyms))}."),
        ]  # fmt: skip
        if event.frame.transitive:
            turns.append((f"누가 {thing} {write('{v:었나요}', v=rng.choice(event.synonyms))}?", write("{w:이} {v:었어요}.", w=event.who, v=rng.choice(event.synonyms))))
        for question, answer in [turns[0], *rng.sample(turns[1:], 2)]:
            lines += [f"{one}: {question}", f"{two}: {answer}"]
    lines.append(f"{one}: {rng.choice(topic.quotes)}는 말이 떠오르네요." if rng.random() < 0.5 else f"{one}: 알려 줘서 고마워요.")
    return Document(f"{events[0].what} 이야기", "\n".join(lines))


def notice(rng: random.Random, topic: Topic) -> Document:
    """An announcement of an event, with its particulars said twice, and the news of the host."""
    what = rng.choice(topic.events)
    frame = rng.choice([f for f in topic.frames if f.orgs])
    host, city, date = rng.choice(frame.orgs), draw_place(rng, topic.key)[0], draw_date(rng)
    hour, fee, seats = rng.randint(9, 19), rng.randint(1, 9) * 1000, rng.randint(2, 30) * 10
    fee_text = f"{fee}원"
    open_air = Predicate(rng.choice(("열다", "개최하다", "마련하다")))
    words = {"h": host, "c": city, "d": date, "e": what}
    lines = [
        write("{h:이} {d} {c}에서 {e:을} ", **words) + write("{v:은다는}", v=open_air) if False else
        write("{h:은} {d} {c}에서 {e:을} 엽니다.", **words),
        f"일시: {date} {hour}시\n장소: {city} {rng.choice(frame.places)}\n참가비: {fee_text}\n정원: {seats}명",
        write("{e:은} {d} {t}시에 시작하며, 참가비는 {f:입니다}.", e=what, d=date, t=str(hour), f=fee_text),
        f"{seats}명까지 신청을 받습니다. 신청은 {date} 하루 전에 마감합니다.",
    ]  # fmt: skip
    event = draw_event(rng, frame)
    lines.append(f"{tell(rng, event, draw_slots(rng, frame, 2, 3), '었습니다')}. {tell(rng, event, draw_slots(rng, frame, 1, 2), '었습니다')}.")
    lines.append(f"{write('{k:을} 다루는 이번 {e}에 많은 관심을 바랍니다.', k=frame.name, e=what)} 문의: {host}")
    return Document(f"{host} {what} 안내", "\n".join(lines))


REGISTERS = {"news": news, "encyclopedia": encyclopedia, "review": review, "dialogue": dialogue, "notice": notice}
