"""Encoded data kept in a run's folder, for the seeds and runs that come later.

What is kept says of what it was made: the examples, the tokenizer, the task, the length, this
code and the libraries. It is used where all of them are the same and its digest is right; else
the data are encoded again. It is deleted with the folder that it lies in.
"""

from __future__ import annotations

import importlib
import io
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import kobert_kit
from kobert_kit.records import (
    atomic_file,
    fingerprint_files,
    fingerprint_values,
    versions,
    write_json,
)
from kobert_kit.tasks.encode import Encoded

log = logging.getLogger(__name__)
MISFITS = "misfits.json"
OWN = "kobert_kit."  # the modules whose classes are kept


def encode_once(
    encode: Callable[[], Encoded[Any]],
    examples: Sequence[Any],
    key: str,
    folder: Path,
    name: str,
) -> Encoded[Any]:
    """What ``folder`` keeps as ``name`` under ``key``, or what ``encode`` makes, kept from now on.

    ``examples`` are put into what is read; they are not kept. Rows that hold more than arrays of
    numbers are not kept either.
    """
    if (kept := _read(folder, name, key, examples)) is not None:
        return kept
    rows = encode()
    arrays = {field.name: getattr(rows, field.name) for field in fields(rows)}
    del arrays["examples"]
    plain = all(
        isinstance(value, np.ndarray) and value.dtype != object for value in arrays.values()
    )
    if plain and type(rows).__module__.startswith(OWN):
        _write(folder, name, key, type(rows), arrays)
    return rows


def read_misfits(folder: Path, key: str) -> dict[str, dict[str, str]] | None:
    """What `keep_misfits` left in ``folder``; None where it is missing, or of something else."""
    try:
        kept = json.loads((folder / MISFITS).read_text(encoding="utf-8"))
        found: dict[str, dict[str, str]] = kept["misfits"]
        return found if kept["key"] == key and kept["digest"] == fingerprint_values(found) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_misfits(folder: Path, key: str, misfits: dict[str, dict[str, str]]) -> None:
    """Finding them takes as long as encoding."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = fingerprint_values(misfits)
    write_json(folder / MISFITS, {"key": key, "digest": digest, "misfits": misfits})


def cache_key(**parts: str | int) -> str:
    """Hex digest of ``parts``, of the code that encodes, and of the libraries that it uses."""
    made_by = versions("tokenizers", "transformers", "numpy", "kiwipiepy", "kiwipiepy_model")
    return fingerprint_values({**parts, "code": _code(), "versions": made_by})


@lru_cache(maxsize=1)
def _code() -> str:
    """Digest of this package's source: its version is not raised with every change."""
    return fingerprint_files(sorted(Path(kobert_kit.__file__).parent.rglob("*.py")))


def _write(
    folder: Path, name: str, key: str, kind: type[Encoded[Any]], arrays: dict[str, np.ndarray]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    np.savez(packed, **arrays)  # type: ignore[arg-type]
    path = folder / f"{name}.npz"
    with atomic_file(path) as temporary:
        temporary.write_bytes(packed.getbuffer())
    made = {"key": key, "module": kind.__module__, "class": kind.__qualname__}
    write_json(path.with_suffix(".json"), {**made, "digest": fingerprint_files([path])})


def _read(folder: Path, name: str, key: str, examples: Sequence[Any]) -> Encoded[Any] | None:
    path = folder / f"{name}.npz"
    try:
        made = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if made["key"] != key:
            return None
        if made["digest"] != fingerprint_files([path]):
            raise ValueError("its digest does not match")
        if not made["module"].startswith(OWN):
            raise ValueError(f"{made['module']} is not ours")
        with np.load(path, allow_pickle=False) as arrays:
            kind = getattr(importlib.import_module(made["module"]), made["class"])
            rows: Encoded[Any] = kind(examples=examples, **arrays)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s is damaged (%s); the data are encoded again", path, error)
        return None
    log.info("%s: encoded before", path)
    return rows
