"""Lives of people and organisations, a relation a sentence, for the encyclopedia and for RE."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .facts import draw_date, draw_person, draw_place
from .korean import Span, fill
from .lexicon import Frame, Topic, names

YEARS = (1948, 2003)


@dataclass(frozen=True)
class Statement:
    """A sentence that states one relation of KLUE-RE between its slots `s` and `o`."""

    relation: str
    text: str
    subject: Span
    object: Span
    object_type: str


# relation: type of the object, and sentences in which {s} stands in that relation to {o}
PERSON = {
    "per:date_of_birth": (
        "DAT",
        ("{s:은} {o}에 태어났다.", "{s:이} 태어난 날은 {o:이다}."),
    ),
    "per:place_of_birth": (
        "LOC",
        ("{s:은} {o}에서 태어났다.", "{s}의 고향은 {o:이다}."),
    ),
    "per:place_of_residence": (
        "LOC",
        ("{s:은} 지금 {o}에 산다.", "{s:은} {o}에 집을 얻어 살고 있다."),
    ),
    "per:schools_attended": (
        "ORG",
        ("{s:은} {o:을} 졸업했다.", "{s:은} {o}에서 공부했다."),
    ),
    "per:employee_of": (
        "ORG",
        ("{s:은} {o}에서 일한다.", "{s:은} {o}에 들어가 오래 일했다."),
    ),
    "per:title": (
        "POH",
        ("{s:은} {o:으로} 활동하고 있다.", "{s}의 직업은 {o:이다}."),
    ),
    "per:spouse": (
        "PER",
        ("{s:은} {o:과} 결혼했다.", "{s}의 배우자는 {o:이다}."),
    ),
    "per:siblings": (
        "PER",
        ("{s:은} {o:과} 남매 사이이다.", "{s}에게는 동생 {o:이} 있다."),
    ),
    "per:parents": (
        "PER",
        ("{s}의 어머니는 {o:이다}.", "{s:은} 아버지 {o} 밑에서 자랐다."),
    ),
    "per:children": (
        "PER",
        ("{s:은} 아들 {o:을} 두었다.", "{s}의 딸은 {o:이다}."),
    ),
    "per:colleagues": (
        "PER",
        ("{s:은} 동료 {o:과} 함께 일한다.", "{s:과} {o:은} 같은 부서의 동료이다."),
    ),
    "per:religion": (
        "ORG",
        ("{s}의 종교는 {o:이다}.", "{s:은} {o:을} 믿는다."),
    ),
}
ORGANISATION = {
    "org:founded": (
        "DAT",
        ("{s:은} {o}에 세워졌다.", "{s:이} 문을 연 해는 {o:이다}."),
    ),
    "org:place_of_headquarters": (
        "LOC",
        ("{s:은} {o}에 본부를 두고 있다.", "{s}의 본부는 {o}에 있다."),
    ),
    "org:founded_by": (
        "PER",
        ("{s:은} {o:이} 세웠다.", "{s:을} 세운 사람은 {o:이다}."),
    ),
    "org:top_members/employees": (
        "PER",
        ("{s}의 대표는 {o:이다}.", "{o:이} {s}의 대표를 맡고 있다."),
    ),
    "org:number_of_employees/members": (
        "NOH",
        ("{s}에는 {o:이} 소속되어 있다.", "{s}의 구성원은 모두 {o:이다}."),
    ),
    "org:alternate_names": (
        "ORG",
        ("{s}의 다른 이름은 {o:이다}.", "{s:은} {o:이라고도} 불린다."),
    ),
}
UNRELATED = {
    "PER": ("{s:과} {o:은} 서로 만난 적이 없다.", "{s:은} {o:이} 쓴 글을 읽었다."),
    "LOC": ("{s:은} 지난달 {o:을} 다녀왔다.", "{s:은} {o:을} 지나는 길에 소식을 들었다."),
    "ORG": ("{s:은} {o} 앞을 지나갔다.", "{s:은} {o}에 관한 기사를 읽었다."),
    "DAT": ("{s:은} {o}에 열린 행사를 구경했다.", "{s:은} {o}까지 답장을 기다렸다."),
}


def _object(rng: random.Random, topic: Topic, frame: Frame, relation: str, kind: str) -> str:
    if kind == "DAT":
        year = f"{rng.randint(*YEARS)}년"
        return year if relation == "org:founded" else f"{year} {draw_date(rng)}"
    if kind == "LOC":
        return draw_place(rng, "")[0]
    if kind == "PER":
        return draw_person(rng, "").name
    if kind == "NOH":
        return f"{rng.randint(12, 980)}명"
    if kind == "POH":
        return rng.choice((*frame.roles, *names("family")))
    if relation == "per:schools_attended":
        return rng.choice(names("schools"))
    if relation == "per:religion":
        return rng.choice(names("religions"))
    return rng.choice(organisations(topic))


def organisations(topic: Topic) -> list[str]:
    return sorted({org for frame in topic.frames for org in frame.orgs})


def short_name(organisation: str) -> str:
    """How people clip the name: 한결은행 -> 한결, 국회 민생위원회 -> 민생위원회."""
    *_, last = organisation.split(" ")
    return last if last != organisation else organisation[:2]


def state(
    rng: random.Random, topic: Topic, subject: str, relation: str, subject_type: str
) -> Statement:
    """One sentence that states the relation (`no_relation`: none) of the subject."""
    frame = rng.choice(topic.frames)
    if relation == "no_relation":
        kind = rng.choice(("PER", "LOC", "ORG", "DAT"))
        templates: tuple[str, ...] = UNRELATED[kind]
    else:
        kind, templates = (PERSON if subject_type == "PER" else ORGANISATION)[relation]
    word = subject
    while word == subject:
        named_short = relation == "org:alternate_names"
        word = short_name(subject) if named_short else _object(rng, topic, frame, relation, kind)
    text, spans = fill(rng.choice(templates), s=subject, o=word)
    at = {span.slot: span for span in spans}
    return Statement(relation, text, at["s"], at["o"], kind)
