"""Encoded text as flat arrays in shards, written once and memory-mapped after that.

A shard is a folder ``shard-00000`` with, as ``.npy`` files,

- ``ids`` (tokens,): token ids without special tokens, uint16 where the vocabulary allows;
- ``marks`` (tokens,) uint8: what each token begins, as bits EOJEOL, MORPHEME and SENTENCE;
- ``offsets`` (documents + 1,) int64: where each document begins in ``ids``;
- ``draws`` (documents,) float64: `held_out_draw` of each, held out where it is below the share;

and, as its completion marker, ``shard.json`` with the counts. It is written aside and renamed, so
a shard that is there is whole.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kobert_kit.errors import DataError
from kobert_kit.records import sync_path, write_json

ARRAYS = ("ids", "marks", "offsets", "draws")
MARKER = "shard.json"

# An eojeol without its punctuation, which is a word of its own; a surface morpheme; a sentence.
# What begins an eojeol begins a morpheme, too.
EOJEOL, MORPHEME, SENTENCE = 1, 2, 4


@dataclass(frozen=True)
class Shard:
    """One shard's arrays; see the module's text for their shapes."""

    ids: np.ndarray
    marks: np.ndarray
    offsets: np.ndarray
    draws: np.ndarray

    @property
    def counts(self) -> dict[str, int]:
        return {"documents": len(self.draws), "tokens": len(self.ids)}


def shard_path(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:05d}"


def write_shard(path: Path, shard: Shard) -> None:
    """Write ``shard`` as the folder ``path``, which is there only when it is whole."""
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        for name in ARRAYS:
            with (temporary / f"{name}.npy").open("wb") as stream:
                np.save(stream, getattr(shard, name))
                stream.flush()
                os.fsync(stream.fileno())
        write_json(temporary / MARKER, shard.counts)
        os.replace(temporary, path)
        sync_path(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def open_shards(folder: Path) -> list[Shard]:
    """All shards of ``folder``, memory-mapped, in order.

    Raises:
        DataError: one is missing between the others, or damaged; names it.
    """
    paths = sorted(folder.glob("shard-*"))
    for number, path in enumerate(paths):
        if path != shard_path(folder, number):
            raise DataError(f"{shard_path(folder, number)}: missing; run prepare again")
    return [_open(path) for path in paths]


def _open(path: Path) -> Shard:
    try:
        expected = json.loads((path / MARKER).read_text(encoding="utf-8"))
        # Plain views of the mapped files: slicing a memmap costs several times as much.
        arrays = {name: np.asarray(np.load(path / f"{name}.npy", mmap_mode="r")) for name in ARRAYS}
        shard = Shard(**arrays)
        if shard.counts != expected or len(shard.marks) != len(shard.ids):
            raise ValueError(f"{shard.counts} where {MARKER} says {expected}")
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: damaged ({error}); remove it and run again") from None
    return shard
