"""Filters that mend a text: each is made from its setting and maps a text to a text.

They run in the order of ``EDITS``: entities first, because they may spell anything that the others
look for, and white space last, because the others may leave some behind.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from kobert_kit.corpus.stage.personal import mask_numbers
from kobert_kit.errors import UsageError
from kobert_kit.normalize import normalize_text

Edit = Callable[[str], str]

PERSONAL = "personal"
WITHOUT_VALUE = ("entities", "nfc", "control", PERSONAL, "spaces")
MASKS = {"urls": "[URL]", "emails": "[EMAIL]"}

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
# Controls but \t \n, line and paragraph separators, soft hyphen, zero-width and directional marks,
# byte order marks, tags. Not the joiners U+200C and U+200D.
_CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_LINE_SEPARATOR = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
# A joiner stays after a letter of the scripts that spell with it (Arabic and its kin, Indic,
# Burmese, Khmer, Mongolian), and U+200D between emoji.
_JOINED = "\u0600-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_JOINER = re.compile(
    f"(?<![{_JOINED}])\u200c|(?<![{_JOINED}\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d"
    f"|(?<![{_JOINED}])\u200d(?=\\s|$)|[\u200c\u200d](?=[가-힣])"
)
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_LINE_END = re.compile(r" \n\s*|\n\s+")
# The punctuation after an address is the sentence's.
_URL = re.compile(
    r"(?:https?://|ftp://|(?<![a-z0-9])www\.)[^\s<>\"'“”‘’)\]}가-힣ㄱ-ㅎ]+(?<![.,;:!?…·‥。、])",
    re.IGNORECASE,
)
_URL_HINTS = ("://", "ww.", "WW.")
# A Hangul name counts, but not the Hangul before an address in Latin letters. No versions
# (name@1.2.3-beta.one) and no pictures (name@2x.png).
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])"
    r"(?:[A-Za-z0-9_.+-]{1,64}|(?<![가-힣])[A-Za-z0-9_.+-]{0,64}[가-힣]{1,32}[0-9_.+-]{0,32})"
    r"@(?!v?\d{1,9}(?:\.\d|x\.))(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_DIGITS = 9  # of a setting; longer ones say nothing, and regular expressions cannot count so far


def _entities(value: str) -> Edit:
    return lambda text: (
        _ENTITY.sub(lambda found: html.unescape(found.group()), text) if "&" in text else text
    )


def _nfc(value: str) -> Edit:
    return normalize_text


def _control(value: str) -> Edit:
    def edit(text: str) -> str:
        text = _CONTROL.sub("", _LINE_SEPARATOR.sub("\n", text))
        return _JOINER.sub("", text) if "\u200d" in text or "\u200c" in text else text

    return edit


def _replaced(pattern: re.Pattern[str], hints: tuple[str, ...], name: str, value: str) -> Edit:
    """Texts without any of ``hints`` cannot match, and pass untouched. Brackets that would be left
    empty are dropped too."""
    if value not in ("mask", "drop"):
        raise UsageError(f"--filter {name}={value}: not mask or drop")
    mask = MASKS[name] if value == "mask" else ""
    if value == "drop":
        what = pattern.pattern
        pattern = re.compile(rf"\((?:{what})\)|\[(?:{what})\]|<(?:{what})>|{what}", pattern.flags)

    def edit(text: str) -> str:
        return pattern.sub(mask, text) if any(hint in text for hint in hints) else text

    return edit


def _urls(value: str) -> Edit:
    return _replaced(_URL, _URL_HINTS, "urls", value)


def _emails(value: str) -> Edit:
    return _replaced(_EMAIL, ("@",), "emails", value)


def _repeats(value: str) -> Edit:
    most = whole_number("repeats", value, least=1)
    # Not digits, whose repetition is the number.
    run = re.compile(rf"([^\d\s])\1{{{most},}}")
    return lambda text: run.sub(lambda found: found.group(1) * most, text)


def _personal(value: str) -> Edit:
    def edit(text: str) -> str:
        if "@" in text:
            text = _EMAIL.sub(MASKS["emails"], text)
        return mask_numbers(text)

    return edit


def _spaces(value: str) -> Edit:
    return lambda text: _LINE_END.sub("\n", _SPACES.sub(" ", text.strip()))


EDITS: dict[str, Callable[[str], Edit]] = {
    "entities": _entities,
    "nfc": _nfc,
    "control": _control,
    "urls": _urls,
    "emails": _emails,
    PERSONAL: _personal,
    "repeats": _repeats,
    "spaces": _spaces,
}


def whole_number(name: str, value: str, least: int) -> int:
    """The setting ``value`` of the filter ``name`` as a number.

    Raises:
        UsageError: it is none, or below ``least``.
    """
    number = int(value) if value.isascii() and value.isdecimal() and len(value) <= _DIGITS else -1
    if number < least:
        raise UsageError(f"--filter {name}={value}: not a whole number from {least} on")
    return number
