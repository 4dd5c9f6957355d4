"""Writing Korean: particles by the coda of the word before them, endings by Kiwi, templates.

A template such as ``"{who:이} {what:을} {verb:었다}"`` is filled slot by slot. A noun's form is the
particle as written after a consonant (이, 을, 은, 과, 으로, 이다, ...); a predicate's form is the
name of an ending in `ENDINGS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

PARTICLES = {  # after a consonant: after a vowel
    "이": "가",
    "을": "를",
    "은": "는",
    "과": "와",
    "으로": "로",
    "이다": "다",
    "이었다": "였다",
    "이고": "고",
    "이며": "며",
    "이라": "라",
    "이면": "면",
    "이에요": "예요",
    "이라고도": "라고도",
}

ENDINGS = {  # Kiwi's morphemes of each
    "었다": (("었", "EP"), ("다", "EF")),
    "었습니다": (("었", "EP"), ("습니다", "EF")),
    "었어요": (("었", "EP"), ("어요", "EF")),
    "었대요": (("었", "EP"), ("대요", "EF")),
    "었나요": (("었", "EP"), ("나요", "EF")),
    "었고": (("었", "EP"), ("고", "EC")),
    "었다고": (("었", "EP"), ("다고", "EC")),
    "었다는": (("었", "EP"), ("다는", "ETM")),
    "고": (("고", "EC"),),
    "지": (("지", "EC"),),
    "어서": (("어서", "EC"),),
    "는": (("는", "ETM"),),
    "은": (("ᆫ", "ETM"),),
}


@dataclass(frozen=True)
class Predicate:
    """A verb or adjective by its dictionary form, e.g. 통과시키다."""

    lemma: str
    tag: str = "VV"

    @property
    def nominal(self) -> str:
        """The action as a noun, as headlines say it: 가결하다 -> 가결; "" where there is none."""
        for light in ("하다", "시키다"):
            if (
                self.lemma.endswith(light)
                and " " not in self.lemma
                and len(self.lemma) - len(light) > 1
            ):
                return self.lemma[: -len(light)]
        return ""


@dataclass(frozen=True)
class Span:
    """Where a slot's word stands in a text, in code points, without its particle."""

    slot: str
    start: int
    end: int


@cache
def kiwi() -> Any:
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1)


def coda(word: str) -> int:
    """The index of the final consonant of the last syllable (0: none, 8: ㄹ).

    A syllable is 0xAC00 + 28 * (onset and vowel) + coda (Unicode, section 3.12).
    """
    last = word.rstrip("”’\"'》)")[-1]
    if last.isdigit():
        return (21, 8, 0, 16, 0, 0, 1, 8, 8, 0)[int(last)]
    return (ord(last) - 0xAC00) % 28 if "가" <= last <= "힣" else 0


def particle(word: str, form: str) -> str:
    """The shape that the particle `form` takes after `word`."""
    if form not in PARTICLES:
        return form
    final = coda(word)
    without = final in (0, 8) if form == "으로" else final == 0
    return PARTICLES[form] if without else form


@cache
def inflect(predicate: Predicate, form: str) -> str:
    """The predicate with the ending `form`; `지 않았다` and the like are written with spaces."""
    first, *rest = form.split(" ")
    lemma, tag = predicate.lemma, predicate.tag
    if lemma.endswith(("스럽다", "롭다")):
        tag += "-I"  # Kiwi's tag for a stem that drops its ㅂ
    elif lemma == "닫다":
        tag += "-R"  # and for one that keeps its ㄷ, unlike 걷다
    if first == "은" and lemma.endswith(("있다", "없다")):
        first = "는"
    joined: str = kiwi().join([(lemma[:-1], tag), *ENDINGS[first]])
    return " ".join([joined, *rest])


_SLOT = re.compile(r"\{(\w+)(?::([^}]+))?\}")


def fill(template: str, **words: str | Predicate) -> tuple[str, list[Span]]:
    """The template's text, and where each noun slot stands in it."""
    text, spans, position = "", [], 0
    for match in _SLOT.finditer(template):
        text += template[position : match.start()]
        position = match.end()
        slot, form = match[1], match[2] or ""
        word = words[slot]
        if isinstance(word, Predicate):
            text += inflect(word, form)
        else:
            spans.append(Span(slot, len(text), len(text) + len(word)))
            text += word + particle(word, form)
    return text + template[position:], spans


def write(template: str, **words: str | Predicate) -> str:
    """The template's text."""
    return fill(template, **words)[0]


def number(value: int) -> str:
    """Digits in groups of ten thousand, as Korean reads them: 1만 2천, 34만 5600, 870."""
    ten_thousands, rest = divmod(value, 10_000)
    if not ten_thousands:
        return str(value)
    if not rest:
        return f"{ten_thousands}만"
    return f"{ten_thousands}만 {rest}"
