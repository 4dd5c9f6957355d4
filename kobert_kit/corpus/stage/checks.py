"""Filters that judge a whole document: each is made from its setting and says why one must go."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from kobert_kit.corpus.characters import hangul_share
from kobert_kit.corpus.stage.edits import whole_number
from kobert_kit.errors import UsageError
from kobert_kit.normalize import normalize_text

Check = Callable[[str], str]  # the reason for dropping a text, empty where it may stay


def _length(value: str) -> Check:
    """``MIN`` or ``MIN-MAX`` characters."""
    least, _, most = value.partition("-")
    low = whole_number("length", least, least=0)
    high = whole_number("length", most, least=low) if most else None

    def check(text: str) -> str:
        if len(text) < low:
            return "too short"
        return "too long" if high is not None and len(text) > high else ""

    return check


def _hangul(value: str) -> Check:
    """The least share of the letters that are Hangul."""
    try:
        least = float(value)
    except ValueError:
        least = -1
    if not 0 <= least <= 1:
        raise UsageError(f"--filter hangul={value}: not a share from 0 to 1")
    return lambda text: "too little Hangul" if hangul_share(text) < least else ""


def _profanity(value: str) -> Check:
    """A file of words, one a line; an eojeol that begins with one drops the document."""
    try:
        lines = Path(value).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--filter profanity={value}: cannot be read ({error})") from None
    words = [re.escape(normalize_text(word)) for line in lines if (word := line.strip())]
    if not words:
        raise UsageError(f"--filter profanity={value}: no words in it; write one a line")
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(words)})")
    return lambda text: "profanity" if pattern.search(text) else ""


CHECKS: dict[str, Callable[[str], Check]] = {
    "hangul": _hangul,
    "length": _length,
    "profanity": _profanity,
}
