"""WoS: task-oriented dialogues with the state after each of the user's turns.

A state entry is `domain-slot-value`; the ontology lists every value that a slot may take.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from ..korean import write
from ..lexicon import regions

HOURS = tuple(f"{hour:02}:{minute:02}" for hour in range(8, 22) for minute in (0, 30))
DAYS = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")
PRICES = ("저렴", "적당", "비싼")
RESTAURANTS = ("두레밥상", "솔향식당", "고운부엌", "옛골한정식", "바다식탁", "달빛국수", "들꽃분식")
HOTELS = ("구름호텔", "은하호텔", "솔숲민박", "바람길펜션", "한옥스테이", "파도호텔")
SIGHTS = ("은하미술관", "달빛궁", "나무화랑", "솔바람수목원", "햇살공원", "온새미로박물관")
COUNTS = tuple(str(count) for count in range(1, 9))
PLACES = tuple(region.cities[0] for region in regions("places"))


@dataclass(frozen=True)
class Slot:
    """A slot, its values, and the words in which a user asks for one."""

    name: str
    values: tuple[str, ...]
    request: str


@dataclass(frozen=True)
class Domain:
    name: str
    search: tuple[Slot, ...]
    names: tuple[str, ...]
    booking: tuple[Slot, ...]
    thing: str


AREA = Slot("지역", PLACES, "{v}에 있는 곳")
PRICE = Slot("가격대", PRICES, "가격대는 {v}")
DAY = Slot("예약 요일", DAYS, "{v}")
PEOPLE = Slot("예약 명수", COUNTS, "{v}명")
DOMAINS = (
    Domain(
        "식당",
        (AREA, PRICE, Slot("종류", ("한식당", "중식당", "일식당", "양식당"), "종류는 {v}")),
        RESTAURANTS,
        (DAY, Slot("예약 시간", HOURS, "{v}"), PEOPLE),
        "식당",
    ),
    Domain(
        "숙소",
        (AREA, PRICE, Slot("종류", ("호텔", "민박", "펜션", "게스트 하우스"), "종류는 {v}")),
        HOTELS,
        (DAY, Slot("예약 기간", COUNTS, "{v}박"), PEOPLE),
        "숙소",
    ),
    Domain(
        "관광",
        (AREA, Slot("종류", ("박물관", "공원", "미술관", "궁궐"), "종류는 {v}")),
        SIGHTS,
        (),
        "관광지",
    ),
)
TAXI = Domain(
    "택시",
    (
        Slot("출발지", PLACES, "{v}에서 출발"),
        Slot("도착지", PLACES, "{v}에 도착"),
        Slot("출발 시간", HOURS, "{v}"),
    ),
    (),
    (),
    "택시",
)


def ontology() -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for domain in (*DOMAINS, TAXI):
        for slot in (*domain.search, *domain.booking):
            values[f"{domain.name}-{slot.name}"] = ["none", "dontcare", *slot.values]
        if domain.names:
            values[f"{domain.name}-이름"] = ["none", "dontcare", *domain.names]
    return dict(sorted(values.items()))


class Conversation:
    """The turns so far and the state that the user's turns add up to."""

    def __init__(self) -> None:
        self.turns: list[dict[str, Any]] = []
        self.state: dict[str, str] = {}

    def user(self, text: str, **said: str) -> None:
        self.state.update(said)
        entries = sorted(f"{slot}-{value}" for slot, value in self.state.items())
        self.turns.append({"role": "user", "text": text, "state": entries})

    def system(self, text: str) -> None:
        self.turns.append({"role": "sys", "text": text})


def _ask(rng: random.Random, talk: Conversation, domain: Domain) -> None:
    """The user looks for a place, is offered one, and takes it."""
    first, second = rng.sample(domain.search, 2)
    values = {slot.name: rng.choice(slot.values) for slot in (first, second)}
    if second.name == "가격대" and rng.random() < 0.3:
        values[second.name] = "dontcare"
    wish = _wish(first, values[first.name]), _wish(second, values[second.name])
    talk.user(
        write("{t:을} 찾고 있어요. ", t=domain.thing)
        + write("{w:이고}, {x:이면} 좋겠어요.", w=wish[0], x=wish[1]),
        **{f"{domain.name}-{name}": value for name, value in values.items()},
    )
    name = rng.choice(domain.names)
    talk.system(write("조건에 맞는 {t:으로} {n:을} 추천합니다. 어떠세요?", t=domain.thing, n=name))
    if not domain.booking:
        talk.user(
            write("{n:이} 좋겠네요. 그곳으로 할게요.", n=name), **{f"{domain.name}-이름": name}
        )
        talk.system("네, 즐거운 시간 보내세요. 더 필요하신 것이 있나요?")
        return
    booked = {slot.name: rng.choice(slot.values) for slot in domain.booking}
    words = ", ".join(_wish(slot, booked[slot.name]) for slot in domain.booking)
    talk.user(
        write("네, {n:으로} 할게요. ", n=name)
        + f"{words}{'으로' if words.endswith('명') else '로'} 예약해 주세요.",
        **{
            f"{domain.name}-이름": name,
            **{f"{domain.name}-{key}": value for key, value in booked.items()},
        },
    )
    talk.system("예약을 마쳤습니다. 더 도와드릴 일이 있나요?")


def _wish(slot: Slot, value: str) -> str:
    if value == "dontcare":
        return f"{slot.name}는 상관없는 곳"
    if slot.name == "가격대":
        return {
            "저렴": "가격대가 저렴한 곳",
            "적당": "가격대가 적당한 곳",
            "비싼": "가격대가 비싼 곳",
        }[value]
    return slot.request.replace("{v}", value)


def _taxi(rng: random.Random, talk: Conversation) -> None:
    start, end = rng.sample(PLACES, 2)
    hour = rng.choice(HOURS)
    talk.user(
        f"택시도 불러 주세요. {start}에서 출발해서 {end}까지 갈 거예요.",
        **{"택시-출발지": start, "택시-도착지": end},
    )
    talk.system("몇 시에 출발하시나요?")
    talk.user(f"{hour}에 출발할게요.", **{"택시-출발 시간": hour})
    talk.system(f"{hour}에 {start}에서 출발하는 택시를 예약했습니다.")


def _dialogue(rng: random.Random, guid: str) -> dict[str, Any]:
    talk = Conversation()
    chosen = rng.sample(DOMAINS, rng.randint(1, 2))
    for domain in chosen:
        _ask(rng, talk, domain)
    names = [domain.name for domain in chosen]
    if rng.random() < 0.4:
        _taxi(rng, talk)
        names.append(TAXI.name)
    state = talk.turns[-2]["state"]
    talk.turns.append({"role": "user", "text": "아니요, 고맙습니다.", "state": state})
    talk.turns.append({"role": "sys", "text": "이용해 주셔서 감사합니다."})
    return {"guid": guid, "domains": names, "dialogue": talk.turns}


def examples(rng: random.Random, sizes: dict[str, int]) -> dict[str, list[dict[str, Any]]]:
    return {
        split: [_dialogue(rng, f"wos-v1_{split}_{index:05}") for index in range(size)]
        for split, size in sizes.items()
    }
