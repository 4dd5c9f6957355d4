"""Checkpoints that are either whole or not there.

A checkpoint is a folder ``step-000000123`` with ``state.pt`` (tensors, loadable without
unpickling code) and ``state.json`` (plain values, and a digest of them and ``state.pt``). It is
written aside and renamed. The newest two are kept, so that a damaged one costs one interval, not
the run.
"""

from __future__ import annotations

import io
import json
import logging
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kobert_kit.records import fingerprint_files, fingerprint_values, sync_path, write_json

log = logging.getLogger(__name__)
KEPT = 2


@dataclass
class Checkpoint:
    """``step`` finished optimizer steps in ``seconds``; ``state`` holds the tensors."""

    step: int
    seconds: float
    state: dict[str, Any]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write ``checkpoint`` under ``folder`` atomically; keep it and the one before it alone.

    Those of later steps are damaged, or the run would have gone on from them; kept as the newest
    they would push this one out. What a kill left half-written goes as well.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".step-*.tmp"):
        shutil.rmtree(left, ignore_errors=True)
    final = folder / f"step-{checkpoint.step:09d}"
    temporary = folder / f".{final.name}.tmp"
    temporary.mkdir()
    try:
        packed = io.BytesIO()  # written by us, so that a full disk is an OSError
        torch.save(checkpoint.state, packed)
        (temporary / "state.pt").write_bytes(packed.getbuffer())
        sync_path(temporary / "state.pt")
        plain = {"step": checkpoint.step, "seconds": checkpoint.seconds}
        digest = _digest(temporary, plain)
        write_json(temporary / "state.json", plain | {"digest": digest})
        shutil.rmtree(final, ignore_errors=True)
        os.replace(temporary, final)
        sync_path(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    there = sorted(folder.glob("step-*"))
    kept = [path for path in there if path <= final][-KEPT:]
    for other in there:
        if other not in kept:
            shutil.rmtree(other)


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest whole checkpoint under ``folder``, or None. Damaged ones are reported."""
    found = sorted(folder.glob("step-*"), reverse=True)
    for path in found:
        try:
            plain = json.loads((path / "state.json").read_text(encoding="utf-8"))
            if _digest(path, plain) != plain["digest"]:
                raise ValueError("its digest does not match")
            state = torch.load(path / "state.pt", map_location="cpu", weights_only=True)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            log.warning("%s is damaged (%s); trying the one before it", path, error)
            continue
        return Checkpoint(plain["step"], plain["seconds"], state)
    if found:
        log.warning("%s holds no whole checkpoint: the run starts again from step 0", folder)
    return None


def _digest(path: Path, plain: dict[str, Any]) -> str:
    tensors = fingerprint_files([path / "state.pt"])
    return fingerprint_values({**plain, "digest": tensors})
