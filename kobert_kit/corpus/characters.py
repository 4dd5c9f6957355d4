"""Which classes of characters a text is made of."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

CLASSES = ("other", "space", "hangul", "jamo", "hanja", "latin", "digits", "emoji", "letters")
_NUMBER = {name: number for number, name in enumerate(CLASSES)}
_LAST = 0x3FFFF  # ideographs end here; what stands behind (tags, private use) is "other"

# Later ranges win over earlier ones, and all over what Unicode calls letters, digits and spaces.
_RANGES = {
    "latin": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x24F)),
    "hangul": ((0xAC00, 0xD7A3),),
    "jamo": ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xD7B0, 0xD7FB)),
    "hanja": ((0x2E80, 0x2FD5), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)),
    "emoji": ((0x2600, 0x27BF), (0x1F000, 0x1FAFF)),
}


@cache
def _table() -> NDArray[np.uint8]:
    table = np.zeros(_LAST + 2, np.uint8)
    for code in range(0x10000):
        char = chr(code)
        kind = "letters" if char.isalpha() else "digits" if char.isdigit() else ""
        table[code] = _NUMBER[kind or ("space" if char.isspace() else "other")]
    table[0x20000:_LAST] = _NUMBER["hanja"]
    for name, ranges in _RANGES.items():
        for first, last in ranges:
            table[first : last + 1] = _NUMBER[name]
    return table


def code_points(text: str) -> NDArray[np.uint32]:
    """The characters of ``text`` as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def count_classes(text: str) -> dict[str, int]:
    """Characters of ``text`` by class; ``letters`` are those of other scripts, jamo stand alone."""
    kinds = _table()[np.minimum(code_points(text), _LAST + 1)]
    counts = np.bincount(kinds, minlength=len(CLASSES))
    return dict(zip(CLASSES, counts.tolist(), strict=True))


def hangul_share(text: str) -> float:
    """Hangul, with jamo, among the letters of ``text``; 1 where there are none (emoji alone)."""
    counts = count_classes(text)
    hangul = counts["hangul"] + counts["jamo"]
    letters = hangul + counts["hanja"] + counts["latin"] + counts["letters"]
    return hangul / letters if letters else 1.0
