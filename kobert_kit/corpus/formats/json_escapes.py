"""Halves of surrogate pairs, which JSON can spell and UTF-8 cannot, where a parser trips on them.

They come from an emoji that was cut in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_PAIR = rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
_ESCAPE = re.compile(rb"(\\\\)|" + _PAIR + rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_CUT = re.compile(rb"(\\u[dD][89abAB][0-9a-fA-F]{2})?(\\(u[0-9a-fA-F]{0,3})?)?\Z")
_LONGEST = len(r"\ud83d\ude0")


def replace_halves(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks of a JSON file with the escape of U+FFFD for that of half a pair.

    The encoding may be any in which a backslash is one everywhere: UTF-8, cp949.
    """
    held = b""
    for block in blocks:
        block = held + block
        held = block[_whole(block) :]
        block = block[: len(block) - len(held)]
        yield _ESCAPE.sub(_put, block) if _SURROGATE.search(block) else block
    yield _ESCAPE.sub(_put, held)


def _put(match: re.Match[bytes]) -> bytes:
    return match[1] or match[2] or rb"\ufffd"


def _whole(block: bytes) -> int:
    """The length of ``block`` without what its end may have cut: an escape, or a pair of them."""
    cut = _CUT.search(block, max(0, len(block) - _LONGEST))
    assert cut is not None  # it may be empty
    end = cut.start()
    run = end - len(block[:end].rstrip(b"\\"))
    # The second of two backslashes begins nothing.
    return end - run % 2
