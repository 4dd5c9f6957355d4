"""Encoded text as flat arrays in shards, written once and memory-mapped after that.

A shard is a folder ``shard-00000`` with, as ``.npy`` files,

- ``ids`` (tokens,): token ids without special tokens, uint16 where the vocabulary allows;
- ``marks`` (tokens,) uint8: what each token begins, as bits EOJEOL, MORPHEME and SENTENCE;
- ``offsets`` (documents + 1,) int64: where each document begins in ``ids``;
- ``draws`` (documents,) float64: `held_out_draw` of each, held out where it is below the share;

and, as its completion marker, ``shard.json`` with the counts, the fingerprint of what it was made
from, and the digest of its files. It is written aside and renamed, so a shard that is there is
whole.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.errors import DataError
from kobert_kit.records import fingerprint_files, sync_path, write_json

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


def write_shard(path: Path, shard: Shard, source: str) -> None:
    """Write ``shard`` as the folder ``path``, which is there only when it is whole.

    ``source`` is the fingerprint of what it was made from.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        for name in ARRAYS:
            with (temporary / f"{name}.npy").open("wb") as stream:
                np.save(stream, getattr(shard, name))
                stream.flush()
                os.fsync(stream.fileno())
        made = shard.counts | {"source": source, "digest": _digest(temporary)}
        write_json(temporary / MARKER, made)
        os.replace(temporary, path)
        sync_path(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_source(path: Path, source: str) -> None:
    """Check that the shard at ``path`` was made from what has the fingerprint ``source``.

    Raises:
        DataError: it was not, or its marker cannot be read.
    """
    if _marker(path).get("source") != source:
        raise DataError(
            f"{path}: made from another corpus or with another tokenizer; remove it and run again"
        )


def open_shards(folder: Path) -> list[Shard]:
    """All shards of ``folder``, memory-mapped, in order; each is read once, to be checked.

    Raises:
        DataError: one is missing between the others, or damaged; names it.
    """
    paths = sorted(folder.glob("shard-*"))
    for number, path in enumerate(paths):
        if path != shard_path(folder, number):
            raise DataError(f"{shard_path(folder, number)}: missing; run prepare again")
    return [_open(path) for path in paths]


def _open(path: Path) -> Shard:
    made = _marker(path)
    try:
        if _digest(path) != made["digest"]:
            raise ValueError(f"not what {MARKER} says was written")
        # Plain views of the mapped files: slicing a memmap costs several times as much.
        arrays = {name: np.asarray(np.load(path / f"{name}.npy", mmap_mode="r")) for name in ARRAYS}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise DataError(f"{path}: damaged ({error}); remove it and run again") from None
    return Shard(**arrays)


def _marker(path: Path) -> dict[str, Any]:
    try:
        made = json.loads((path / MARKER).read_text(encoding="utf-8"))
        if not isinstance(made, dict):
            raise ValueError("not an object")
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: damaged ({MARKER}: {error}); remove it and run again") from None
    return made


def _digest(path: Path) -> str:
    return fingerprint_files(path / f"{name}.npy" for name in ARRAYS)
