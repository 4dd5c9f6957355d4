"""The members of a zip file; of one that has lost its end, with the list of them, what is left."""

from __future__ import annotations

import contextlib
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from kobert_kit.corpus.formats.compression import BLOCK_BYTES, Advance, Damaged
from kobert_kit.errors import DataError

Member = tuple[str, str, Iterator[bytes]]  # name, problem, content

_ENCRYPTED, _SIZE_BEHIND, _NAME_IS_UTF8 = 1 << 0, 1 << 3, 1 << 11  # flags of a member
_STORED, _DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
_HEADER = struct.Struct("<4s5H3I2H")  # APPNOTE.TXT 4.3.7
_SIGNATURE = b"PK\x03\x04"
_LONGEST_DESCRIPTOR = 24  # bytes between a member and the next header
_ZIP64 = 0xFFFFFFFF
# What zipfile raises on damage: its own error, and those of what it unpacks numbers and names with.
_DAMAGE = (zipfile.BadZipFile, struct.error, ValueError, IndexError, OverflowError, EOFError)


def walk_zip(path: Path, advance: Advance) -> Iterator[Member]:
    """The members of a zip file that are no folders.

    Raises:
        Damaged: its list of members is; those found without it were yielded.
        DataError: it cannot be read.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (*_DAMAGE, NotImplementedError) as error:
        yield from _walk_remains(path, advance)
        raise Damaged(str(error)) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    with archive:
        for info in archive.infolist():
            if not info.filename.endswith("/"):  # is_dir fails on an empty name
                yield _name(info.filename, info.flag_bits), _problem(info), _data(archive, info)
                advance(info.compress_size)


def _problem(info: zipfile.ZipInfo) -> str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link, which is not followed"
    return "encrypted; unpack it first" if info.flag_bits & _ENCRYPTED else ""


def _name(name: str, flags: int) -> str:
    """Where nothing says how a name is encoded, zipfile takes it for cp437; it may be Korean."""
    if flags & _NAME_IS_UTF8:
        return name
    for encoding in ("utf-8", "cp949"):
        with contextlib.suppress(UnicodeError):
            return name.encode("cp437").decode(encoding)
    return name


def _data(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(info) as stream:
            while block := stream.read(BLOCK_BYTES):
                yield block
    except NotImplementedError:
        raise Damaged("compressed by a method that is not known here; unpack it first") from None
    except (*_DAMAGE, zlib.error, lzma.LZMAError, OSError) as error:
        raise Damaged(str(error) or "it ends early") from None


class _Local(NamedTuple):
    """What the header before a member says."""

    name: str
    flags: int
    method: int
    size: int


def _walk_remains(path: Path, advance: Advance) -> Iterator[Member]:
    """Members by the headers before each, as far as they follow one another."""
    with path.open("rb") as stream:
        while member := _next_member(stream):
            before, problem = stream.tell(), _remains_problem(member)
            content = _inflated(stream) if member.method == _DEFLATED else _stored(stream, member)
            if problem and not member.size:
                raise Damaged(f"{member.name}: {problem}")
            if problem:
                stream.seek(member.size, 1)
                content = iter(())
            if not member.name.endswith("/"):
                yield member.name, problem, content
            for _ in content:  # which nobody wanted
                pass
            advance(stream.tell() - before)


def _remains_problem(member: _Local) -> str:
    if member.flags & _ENCRYPTED:
        return "encrypted; unpack it first"
    if member.method == _DEFLATED:  # whose end shows in itself
        return ""
    if member.method != _STORED or member.flags & _SIZE_BEHIND:
        return "not to be read without the archive's list of members"
    return ""


def _next_member(stream: IO[bytes]) -> _Local | None:
    place = stream.tell()
    at = stream.read(_LONGEST_DESCRIPTOR + len(_SIGNATURE)).find(_SIGNATURE)
    if at < 0:
        return None
    stream.seek(place + at)
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    _, _, flags, method, _, _, _, size, _, name_size, extra_size = _HEADER.unpack(header)
    raw, extra = stream.read(name_size), stream.read(extra_size)
    if size == _ZIP64:
        size = _long_size(extra)
    name = raw.decode("utf-8" if flags & _NAME_IS_UTF8 else "cp437", "replace")
    return _Local(_name(name, flags), flags, method, size)


def _long_size(extra: bytes) -> int:
    """The compressed size in the field of large files: the second of its numbers."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == 1 and length >= 16 and len(extra) >= 20:
            return int(struct.unpack_from("<Q", extra, 12)[0])
        extra = extra[4 + length :]
    return 0


def _inflated(stream: IO[bytes]) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        while not decompressor.eof:
            block = stream.read(BLOCK_BYTES)
            if not block:
                raise Damaged("the archive ends early")
            yield decompressor.decompress(block)
    except zlib.error as error:
        raise Damaged(str(error)) from None
    stream.seek(-len(decompressor.unused_data), 1)


def _stored(stream: IO[bytes], member: _Local) -> Iterator[bytes]:
    size = member.size
    while size:
        block = stream.read(min(size, BLOCK_BYTES))
        if not block:
            raise Damaged("the archive ends early")
        size -= len(block)
        yield block
