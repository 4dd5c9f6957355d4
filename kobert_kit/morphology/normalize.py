"""Unicode normalisation that remembers where every character came from.

NFC, and conjoining jamo that stand alone (ᄏᄏ, typed or left over by damaged text) become the
compatibility jamo that people type (ㅋㅋ). Never NFKC, which does the opposite.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple


def _compatibility_jamo() -> dict[str, str]:
    """Modern conjoining jamo -> the compatibility letter of the same name.

    Initial and final consonants become the same letter: HANGUL CHOSEONG KIYEOK and HANGUL
    JONGSEONG KIYEOK are both HANGUL LETTER KIYEOK. Archaic jamo stay as they are.
    """
    table = {}
    for code in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A8, 0x11C3)):
        letter = unicodedata.name(chr(code)).split("SEONG ")[1]
        table[chr(code)] = unicodedata.lookup(f"HANGUL LETTER {letter}")
    return table


COMPATIBILITY_JAMO = _compatibility_jamo()
_TRANSLATION = str.maketrans(COMPATIBILITY_JAMO)
_CONJOINING = re.compile("[\u1100-\u11ff]")


class Normalized(NamedTuple):
    """Normalised ``text``; its character i stands for ``original[starts[i]:ends[i]]``."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def normalize_text(text: str) -> str:
    """The normalised text alone, for work that needs no offsets."""
    text = unicodedata.normalize("NFC", text)
    return text.translate(_TRANSLATION) if _CONJOINING.search(text) else text


def normalize(text: str) -> Normalized:
    """Normalise ``text`` and map every character of the result to its source."""
    if unicodedata.is_normalized("NFC", text):
        # NFC changes nothing, and jamo are replaced one by one.
        return Normalized(normalize_text(text), range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _segments(text):
        source = text[start:end]
        part = unicodedata.normalize("NFC", source)
        parts.append(part)
        if part == source:
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(part))
            ends.extend([end] * len(part))
    return Normalized("".join(parts).translate(_TRANSLATION), starts, ends)


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Spans that NFC treats independently: a starter, and all that can combine with it."""
    start = 0
    for position in range(1, len(text)):
        char = text[position]
        if unicodedata.combining(char):
            continue
        segment = text[start:position]
        if unicodedata.normalize("NFC", segment + char) == (
            unicodedata.normalize("NFC", segment) + unicodedata.normalize("NFC", char)
        ):
            yield start, position
            start = position
    if text:
        yield start, len(text)
