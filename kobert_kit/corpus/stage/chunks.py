"""Chunks of a corpus on their way through the stage: documents, and all that was dropped so far.

A chunk is a file of compressed JSON lines (first the account, then a document a line) beside an
array file. Both are written aside and renamed, the chunk last: where it is, it is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.stage.filters import Tally
from kobert_kit.errors import DataError

Arrays = dict[str, NDArray[Any]]


class Kept(NamedTuple):
    """A document on its way: where it lies, what it is, and its size as read, in bytes of UTF-8.

    ``sentences`` are where its sentences begin, where they were asked for.
    """

    file: int
    line: int
    id: str
    title: str
    text: str
    size: int
    sentences: list[int] | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was left out, where it lies, and why. ``unit`` is a document, or a line of one."""

    file: int
    line: int
    reason: str
    size: int = 0
    unit: str = "document"
    detail: str = ""


@dataclass
class Account:
    """What became of all that is not among the documents of a chunk, and of the files it ended.

    ``read`` counts documents and their bytes by source, as they were cut from the files, before
    anything else was done with them. ``boilerplate`` counts lines that were dropped as such,
    ``overlaps`` documents with sentences of each evaluation file, and ``found`` names those
    sentences by number.
    """

    read: dict[str, list[int]] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    filters: dict[str, Tally] = field(default_factory=dict)
    boilerplate: dict[str, int] = field(default_factory=dict)
    overlaps: dict[str, int] = field(default_factory=dict)
    found: list[int] = field(default_factory=list)
    files: list[tuple[int, str, str]] = field(default_factory=list)  # file, encoding, problem

    def count_read(self, source: str, size: int) -> None:
        counts = self.read.setdefault(source, [0, 0])
        counts[0] += 1
        counts[1] += size

    def tally(self, name: str) -> Tally:
        return self.filters.setdefault(name, Tally())


def write_chunk(path: Path, documents: list[Kept], account: Account, arrays: Arrays) -> None:
    """Write a chunk to ``path`` and its arrays beside it."""
    # A worker whose parent was killed may live a moment longer: no two share a temporary file.
    beside = path.with_name(f".{path.name}.npz.{os.getpid()}.tmp")
    with beside.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)
    os.replace(beside, array_path(path))
    lines = [json.dumps(asdict(account), ensure_ascii=False)]
    lines += (json.dumps(document, ensure_ascii=False) for document in documents)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(compress("\n".join(lines).encode()))
    os.replace(temporary, path)


def array_path(path: Path) -> Path:
    """Where the arrays of the chunk at ``path`` lie."""
    return path.with_name(f"{path.name}.npz")


def read_arrays(path: Path) -> Arrays:
    """The arrays of the chunk at ``path``."""
    with np.load(array_path(path), allow_pickle=False) as arrays:
        return dict(arrays)


def read_chunk(path: Path) -> tuple[Account, Iterator[Kept]]:
    """The account and the documents of the chunk at ``path``.

    Raises:
        DataError: it is damaged, which a crash of the machine can do.
    """
    import zstandard

    try:
        content = zstandard.ZstdDecompressor().decompress(path.read_bytes())
    except zstandard.ZstdError as error:
        raise DataError(f"{path}: damaged ({error}); remove it and run the command again") from None
    first, *rest = content.decode().split("\n")
    return _account(json.loads(first)), (Kept(*json.loads(line)) for line in rest)


def _account(values: dict[str, Any]) -> Account:
    return Account(
        values["read"],
        [Dropped(**entry) for entry in values["dropped"]],
        {name: Tally(**tally) for name, tally in values["filters"].items()},
        values["boilerplate"],
        values["overlaps"],
        values["found"],
        [(file, encoding, problem) for file, encoding, problem in values["files"]],
    )


def compress(content: bytes, level: int = 1) -> bytes:
    """One zstandard frame that carries its size and a checksum; several may be joined."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True)
    compressed: bytes = compressor.compress(content)
    return compressed
