"""Files as a stream of blocks and lines of bytes, compressed or not.

The four decompressors share one loop rather than the libraries' file objects, because those
differ where it matters: zstandard's takes a truncated file for a whole one.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from kobert_kit.corpus.files import compression_of
from kobert_kit.errors import DataError

BLOCK_BYTES = 1 << 16
_PIECE_BYTES = 1 << 7  # so few cost little time, for the calls are cheap

Advance = Callable[[int], object]


class Damaged(Exception):
    """A compressed file ends early or holds what is not of its format."""


class Decompressor(Protocol):
    """What the incremental decompressors of zlib, bz2, lzma and zstandard have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def read_blocks(path: Path, advance: Advance) -> Iterator[bytes]:
    """The content of a file, block by block, decompressed by its suffix.

    ``advance`` is told the bytes on disk that each step consumed.

    Raises:
        Damaged: the compressed file is truncated or corrupt; all before was yielded.
        DataError: the file cannot be read.
    """
    try:
        with path.open("rb", buffering=0) as stream:
            yield from decompress(_raw_blocks(stream.read, advance), compression_of(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _raw_blocks(read: Callable[[int], bytes], advance: Advance) -> Iterator[bytes]:
    while block := read(BLOCK_BYTES):
        yield block
        advance(len(block))


def decompress(blocks: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """``blocks`` without their ``compression``, a suffix; as they are where it is empty.

    Raises:
        Damaged: they are truncated or corrupt; all before was yielded.
    """
    if not compression:
        yield from blocks
        return
    held, size, damage = list[bytes](), 0, None
    try:
        for piece in _decompressed(blocks, compression):
            held.append(piece)
            size += len(piece)
            if size >= BLOCK_BYTES:
                yield b"".join(held)
                held, size = [], 0
    except Damaged as error:
        damage = error
    if size:
        yield b"".join(held)
    if damage:
        raise damage


def _decompressed(blocks: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """What comes of a few bytes at a time, for of a call that meets damage nothing comes."""
    start, error_type = _codec(compression)
    # A file may hold several compressed streams end to end, with zero bytes between them.
    current: Decompressor | None = start()
    try:
        for block in _pieces(blocks):
            while block := block if current else block.lstrip(b"\0"):
                current = current or start()
                yield current.decompress(block)
                if not current.eof:
                    break
                block, current = current.unused_data, None
    except error_type as error:
        raise Damaged(str(error)) from None
    if current:
        raise Damaged("the file ends early")


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        for at in range(0, len(block), _PIECE_BYTES):
            yield block[at : at + _PIECE_BYTES]


def _codec(compression: str) -> tuple[Callable[[], Decompressor], type[Exception]]:
    """What makes a fresh decompressor, and the error it raises on damage."""
    if compression == ".gz":
        return lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), zlib.error
    if compression == ".bz2":
        return bz2.BZ2Decompressor, OSError
    if compression == ".xz":
        return lzma.LZMADecompressor, lzma.LZMAError
    import zstandard

    # The widest window, so that files written with --long are read too.
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return decompressor.decompressobj, zstandard.ZstdError


def read_lines(path: Path, advance: Advance) -> Iterator[tuple[int, bytes]]:
    r"""Lines of a file with their numbers from 1, without ``\n``, ``\r\n`` and byte order mark.

    Raises:
        DataError: the file cannot be read, or is truncated or damaged; all whole lines before
            that were yielded.
    """
    number = 0
    try:
        for number, line in enumerate(_split(read_blocks(path, advance)), 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            yield number, line.removesuffix(b"\r")
    except Damaged as error:
        raise DataError(
            f"{path}: the compressed file is truncated or damaged after line {number:,} ({error}); "
            "repair it or leave it out"
        ) from None


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    pieces: list[bytes] = []  # of the line that is not complete yet, however long
    for block in blocks:
        first, *others = block.split(b"\n")
        pieces.append(first)
        for piece in others:
            yield b"".join(pieces)
            pieces = [piece]
    if last := b"".join(pieces):
        yield last
