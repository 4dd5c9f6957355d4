"""Archives as folders of files: zip, and tar in any compression, read as a stream.

A member has the path of its archive with its own name behind: ``news.zip/2019/a.jsonl``. What
could leave the folder that it is unpacked to, or is a link, is refused and never read.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kobert_kit.corpus.files import Refuse, format_of, pass_over, readable_path
from kobert_kit.corpus.formats.compression import BLOCK_BYTES, Advance, Damaged, read_blocks
from kobert_kit.corpus.formats.zip_files import walk_zip
from kobert_kit.errors import DataError

ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz")
UNREAD = (".7z", ".rar", ".egg", ".alz")
UNPACK = "which is not read; unpack it first"


class Entry(NamedTuple):
    """A member by its name, and its content; ``problem`` says why it cannot be read."""

    name: str
    problem: str
    blocks: Iterator[bytes]


def walk(archive: Path, advance: Advance) -> Iterator[Entry]:
    """The members of ``archive`` that are no folders, in its order; read each before the next.

    Raises:
        Damaged: the archive is; its members before that were yielded.
        DataError: it cannot be read.
    """
    if format_of(archive, ARCHIVES) == ".zip":
        for member in walk_zip(archive, advance):
            yield Entry(*member)
    else:
        yield from _walk_tar(archive, advance)


def list_members(
    archive: Path,
    formats: tuple[str, ...],
    refuse: Refuse,
    passed: Callable[[Path], None] = pass_over,
) -> list[Path]:
    """The members of ``archive`` in one of ``formats``; hidden and other ones are passed over.

    ``refuse`` is told of each that must not or cannot be read, and of damage to the archive;
    ``passed`` of each in no such format.
    """
    found: dict[Path, None] = {}
    last = "its first member"
    try:
        for entry in walk(archive, _ignore):
            last = entry.name
            path = member_path(archive, entry.name)
            if problem := entry.problem or _forbidden(entry.name):
                refuse(path, problem)
            elif _is_hidden(entry.name):
                continue
            elif not format_of(path, formats):
                passed(path)
            else:
                if path in found:
                    refuse(path, "a second member of this name; only the first is read")
                found[path] = None
    except Damaged as error:
        refuse(archive, f"truncated or damaged at {last} ({error}); what follows is not read")
    except DataError as error:
        refuse(archive, str(error).removeprefix(f"{archive}: "))
    return list(found)


def member_path(archive: Path, name: str) -> Path:
    """Where a member lies, as the ledger names it."""
    return Path(f"{archive}/{'/'.join(part for part in _parts(name) if part != '.')}")


def _ignore(consumed: int) -> None:
    """The progress that nobody watches."""


def _parts(name: str) -> list[str]:
    return re.split(r"[/\\]", name)  # Windows' own tools write backslashes


def _forbidden(name: str) -> str:
    """Why a member must not be read, by its name."""
    if not name:
        return "a member without a name; it is not read"
    if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name) or ".." in _parts(name):
        return f"its name ({name}) leads out of the archive; it is not read"
    if format_of(Path(name), ARCHIVES) or name.lower().endswith(UNREAD):
        return f"an archive in an archive, {UNPACK}"
    return ""


def _is_hidden(name: str) -> bool:
    return any(part == "__MACOSX" or (part[:1] == "." and part != ".") for part in _parts(name))


class _Stream:
    """Blocks as the file that tarfile reads."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._held = blocks, b""
        self.last = b""  # what was read last

    def read(self, size: int) -> bytes:
        parts, have = [self._held], len(self._held)
        while have < size and (block := next(self._blocks, None)) is not None:
            parts.append(block)
            have += len(block)
        data = b"".join(parts)
        self.last, self._held = data[:size], data[size:]
        return self.last


def _walk_tar(archive: Path, advance: Advance) -> Iterator[Entry]:
    stream = _Stream(read_blocks(archive, advance))
    try:
        with tarfile.open(fileobj=stream, mode="r|") as tar:  # type: ignore[call-overload]
            while (member := tar.next()) is not None:
                tar.members.clear()  # which would grow
                if not member.isdir():
                    yield Entry(
                        readable_path(member.name), _tar_problem(member), _data(tar, member)
                    )
    except tarfile.TarError as error:
        raise Damaged(str(error)) from None
    # The end is marked by a block of zeros, and tarfile does not mind where it is missing.
    if bytes(tarfile.BLOCKSIZE) not in stream.last:
        raise Damaged("the archive ends early")


def _tar_problem(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return f"a link (to {readable_path(member.linkname)}), which is not followed"
    if member.issparse():
        return "a file with holes; unpack it first"
    return "" if member.isfile() else "neither a file nor a folder"


def _data(tar: Any, member: tarfile.TarInfo) -> Iterator[bytes]:
    """The content, which comes next in the stream; extractfile would lose what precedes damage."""
    left = member.size
    try:
        while left:
            block = tar.fileobj.read(min(left, BLOCK_BYTES))
            if not block:
                raise Damaged("the archive ends early")
            left -= len(block)
            yield block
    except tarfile.TarError as error:
        raise Damaged(str(error)) from None
