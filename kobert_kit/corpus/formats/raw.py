"""Records as they lie in files, cut out but neither decoded nor judged, and what became of a file.

Cutting is cheap, so one process does it for all workers, in order; what is inside is theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kobert_kit.corpus.formats.encodings import UTF8

LONGEST_RECORD = 1 << 25  # bytes; a longer line is no document, and would fill the memory
TOO_LONG = f"longer than {LONGEST_RECORD >> 20} MiB"


@dataclass(frozen=True, slots=True)
class Raw:
    """One record: bytes of a text or a line, or the fields of a row.

    ``file`` is the file's index, ``line`` its first line, or its row, from 1. ``problem`` says why
    there is no content, and ``size`` how many bytes it would have, as far as they were counted.
    """

    file: int
    line: int
    content: bytes | dict[str, object] = b""
    encoding: str = UTF8
    problem: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class FileEnd:
    """A file was read to its end, or to where its ``problem`` is."""

    file: int
    encoding: str
    problem: str = ""


def cut_lines(blocks: Iterable[bytes], longest: int) -> Iterator[tuple[int, bytes | None, int]]:
    r"""Lines without ``\n`` and ``\r``, None for one over ``longest``; their numbers from 1 in
    front of them, their bytes behind.

    A last line without an end is yielded only where the blocks end well.
    """
    number, pieces, size = 1, list[bytes](), 0
    for block in blocks:
        for place, piece in enumerate(block.split(b"\n")):
            if place:
                line = b"".join(pieces).removesuffix(b"\r") if size <= longest else None
                yield number, line, size
                number, pieces, size = number + 1, [], 0
            size += len(piece)
            if size <= longest:
                pieces.append(piece)
            else:
                pieces.clear()
    if size:
        line = b"".join(pieces).removesuffix(b"\r") if size <= longest else None
        yield number, line, size
