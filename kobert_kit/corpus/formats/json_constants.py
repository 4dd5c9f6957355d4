"""Numbers that a parser of JSON fails on.

NaN and Infinity, which Python and others write, and those of more digits than Python reads.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator

_TOKEN = re.compile(rb'\\["\\]|"|NaN|-?Infinity|-?\d[\d.eE+-]*')
_CONSTANTS = (b"NaN", b"Infinity", b"-Infinity")
_NUMBER = b"+-.eE" + string.digits.encode()
_MAY_GO_ON = b"+-." + string.ascii_letters.encode() + string.digits.encode()
_LONGEST = 600  # characters of a number; Python reads integers of 640 digits, and more if told
_LONGEST_EXPONENT = 9  # digits; decimal reads 18
_SHAPE = bytes.maketrans(b"E123456789", b"e000000000")
# Without signs and the point, and what is before a short exponent.
_LONG_ONES = (b"0" * (_LONGEST - 20), b"e" + b"0" * (_LONGEST_EXPONENT + 1))


def null_constants(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks of a JSON file with null for NaN, Infinity, -Infinity, and numbers that are too
    long; in strings they stay.

    The encoding may be any in which a byte of ASCII is that character outside of strings, and a
    quote or backslash is one everywhere: UTF-8, cp949.
    """
    held, inside, goes_on = b"", False, False

    def put(match: re.Match[bytes]) -> bytes:
        nonlocal inside, goes_on
        token = match[0]
        if token == b'"':
            inside = not inside
        elif not inside and (token in _CONSTANTS or _is_too_long(token)):
            goes_on = len(token) > _LONGEST and match.end() == len(match.string)
            return b"null"
        return token

    for block in blocks:
        if goes_on:  # a number that is null already
            block = block.lstrip(_NUMBER)
            goes_on = not block
        block = held + block
        held = block[_whole(block) :]
        block = block[: len(block) - len(held)]
        if _has_one(block):
            block = _TOKEN.sub(put, block)
        elif block.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') % 2:
            inside = not inside
        yield block
    yield _TOKEN.sub(put, held)


def _has_one(block: bytes) -> bool:
    """Whether there may be something to replace, at little cost."""
    shape = block.translate(_SHAPE, b"+-.")
    return b"NaN" in block or b"Infinity" in block or any(long in shape for long in _LONG_ONES)


def _is_too_long(token: bytes) -> bool:
    exponent = token.lower().partition(b"e")[2].lstrip(b"+-")
    return len(token) > _LONGEST or len(exponent) > _LONGEST_EXPONENT


def _whole(block: bytes) -> int:
    """The length of ``block`` without what its end may have cut: an escape, or a number.

    What is longer than any number need not wait for more: it is too long already.
    """
    if (len(block) - len(block.rstrip(b"\\"))) % 2:
        return len(block) - 1
    whole = len(block.rstrip(_MAY_GO_ON))
    return whole if len(block) - whole <= _LONGEST else len(block)
