"""Unicode normalisation that remembers where every character came from.

- Full-width and half-width forms (Ａ％, ﾻ) become the characters that they are forms of (A%, ㅋ).
- NFC.
- Conjoining jamo that stand alone (ᄏᄏ, typed or left over by damaged text) become the
  compatibility jamo that people type (ㅋㅋ). Never NFKC, which does the opposite.

Zero-width and control characters are kept: dropping one would leave a character of the text that no
piece stands for. Cleaning a corpus of them is the corpus' business.
"""

from __future__ import annotations

import contextlib
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


def _width_forms() -> dict[str, str]:
    """Full-width and half-width forms -> the character without the width in its name.

    Half-width katakana stay: their voice marks are characters of their own.
    """
    table = {}
    for code in range(0xFF01, 0xFFEF):
        name = unicodedata.name(chr(code), "")
        plain = name.removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
        if "KATAKANA LETTER" in name:
            continue
        with contextlib.suppress(KeyError):
            table[chr(code)] = unicodedata.lookup(plain)
    return table


COMPATIBILITY_JAMO = _compatibility_jamo()
WIDTH_FORMS = _width_forms()
_TO_COMPATIBILITY = str.maketrans(COMPATIBILITY_JAMO)
_TO_PLAIN_WIDTH = str.maketrans(WIDTH_FORMS)
_CONJOINING = re.compile("[\u1100-\u11ff]")
_WIDTH = re.compile("[\uff01-\uffee]")


class Normalized(NamedTuple):
    """Normalised ``text``; its character i stands for ``original[starts[i]:ends[i]]``.

    The spans are in order and cover the original without overlap. Where one character of the
    original becomes two, the second has an empty span.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def normalize_text(text: str) -> str:
    """The normalised text alone, for work that needs no offsets."""
    text = unicodedata.normalize("NFC", _plain_width(text))
    return text.translate(_TO_COMPATIBILITY) if _CONJOINING.search(text) else text


def _plain_width(text: str) -> str:
    return text.translate(_TO_PLAIN_WIDTH) if _WIDTH.search(text) else text


def normalize(text: str) -> Normalized:
    """Normalise ``text`` and map every character of the result to its source."""
    text = _plain_width(text)  # one for one, so places stay
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
        # What NFC leaves in place at the end (a mark that composes with nothing) is itself.
        kept = _common_suffix(source, part)
        changed = end - kept
        if len(part) > kept:
            # The first stands for all that changed, and further ones for nothing.
            more = len(part) - kept - 1
            starts += [start, *[changed] * more]
            ends += [changed] * (more + 1)
        starts.extend(range(changed, end))
        ends.extend(range(changed + 1, end + 1))
    return Normalized("".join(parts).translate(_TO_COMPATIBILITY), starts, ends)


def _common_suffix(source: str, part: str) -> int:
    """How many characters at the end are the same; not all of one where the other has more."""
    if source == part:
        return len(source)
    most = min(len(source), len(part)) - 1
    return next((n for n in range(most) if source[-1 - n] != part[-1 - n]), most)


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
