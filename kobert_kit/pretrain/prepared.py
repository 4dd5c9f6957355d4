"""Encoded text as flat arrays in shards, written once and memory-mapped after that.

A shard is a folder ``shard-00000`` with, as ``.npy`` files,

- ``ids`` (tokens,): token ids without special tokens, uint16 where the vocabulary allows;
- ``words`` (tokens,) bool: the token begins a masking unit (eojeol or morpheme);
- ``offsets`` (documents + 1,): where each document begins in ``ids``;
- ``held_out`` (documents,) bool: the document is kept for evaluation.

It is written aside and renamed, so a shard that is there is whole.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kobert_kit.errors import DataError

ARRAYS = ("ids", "words", "offsets", "held_out")


@dataclass(frozen=True)
class Shard:
    """One shard's arrays; see the module's text for their shapes."""

    ids: np.ndarray
    words: np.ndarray
    offsets: np.ndarray
    held_out: np.ndarray


def shard_path(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:05d}"


def write_shard(path: Path, shard: Shard) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    for name in ARRAYS:
        with (temporary / f"{name}.npy").open("wb") as stream:
            np.save(stream, getattr(shard, name))
            stream.flush()
            os.fsync(stream.fileno())
    os.replace(temporary, path)


def open_shards(folder: Path) -> list[Shard]:
    """All shards of ``folder``, memory-mapped, in order.

    Raises:
        DataError: a shard's file is missing or is not an array.
    """
    shards = []
    for path in sorted(folder.glob("shard-*")):
        try:
            arrays = {name: np.load(path / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: damaged ({error}); remove it and run again") from None
        shards.append(Shard(**arrays))
    return shards
