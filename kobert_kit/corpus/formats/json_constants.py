"""NaN and Infinity, which Python and others write into JSON, where a parser knows no such thing."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator

_CONSTANT = re.compile(rb'\\["\\]|"|NaN|-?Infinity')
_LONGEST = len(b"-Infinity")
_LETTERS = b"-" + string.ascii_letters.encode()


def null_constants(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks of a JSON file with null for NaN, Infinity and -Infinity; in strings they stay.

    The encoding may be any in which a byte of ASCII is that character outside of strings, and a
    quote or backslash is one everywhere: UTF-8, cp949.
    """
    held, inside = b"", False

    def put(match: re.Match[bytes]) -> bytes:
        nonlocal inside
        if match[0] == b'"':
            inside = not inside
        elif not inside and not match[0].startswith(b"\\"):
            return b"null"
        return match[0]

    for block in blocks:
        block = held + block
        held = block[_whole(block) :]
        block = block[: len(block) - len(held)]
        if b"NaN" in block or b"Infinity" in block:
            block = _CONSTANT.sub(put, block)
        elif block.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') % 2:
            inside = not inside
        yield block
    yield _CONSTANT.sub(put, held)


def _whole(block: bytes) -> int:
    """The length of ``block`` without what its end may have cut: an escape, or a constant."""
    if (len(block) - len(block.rstrip(b"\\"))) % 2:
        return len(block) - 1
    return max(len(block.rstrip(_LETTERS)), len(block) - _LONGEST)
