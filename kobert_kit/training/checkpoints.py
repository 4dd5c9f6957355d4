"""Checkpoints that are either whole or not there.

A checkpoint is a folder ``step-000000123`` with ``state.pt`` (tensors, loadable without
unpickling code) and ``state.json`` (plain values and the digest of ``state.pt``). It is written
aside and renamed. The newest two are kept, so that a damaged one costs one interval, not the run.
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

from kobert_kit.records import fingerprint_files, sync_path, write_json

log = logging.getLogger(__name__)
KEPT = 2


@dataclass
class Checkpoint:
    """``step`` finished optimizer steps in ``seconds``; ``state`` holds the tensors."""

    step: int
    seconds: float
    state: dict[str, Any]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write ``checkpoint`` under ``folder`` atomically and drop all but the newest two."""
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / f"step-{checkpoint.step:09d}"
    temporary = folder / f".{final.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        packed = io.BytesIO()  # written by us, so that a full disk is an OSError
        torch.save(checkpoint.state, packed)
        (temporary / "state.pt").write_bytes(packed.getbuffer())
        sync_path(temporary / "state.pt")
        plain = {
            "step": checkpoint.step,
            "seconds": checkpoint.seconds,
            "digest": fingerprint_files([temporary / "state.pt"]),
        }
        write_json(temporary / "state.json", plain)
        shutil.rmtree(final, ignore_errors=True)
        os.replace(temporary, final)
        sync_path(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    for old in sorted(folder.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old)


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest whole checkpoint under ``folder``, or None. Damaged ones are reported."""
    for path in sorted(folder.glob("step-*"), reverse=True):
        try:
            plain = json.loads((path / "state.json").read_text(encoding="utf-8"))
            if fingerprint_files([path / "state.pt"]) != plain["digest"]:
                raise ValueError("its digest does not match")
            state = torch.load(path / "state.pt", map_location="cpu", weights_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            log.warning("%s is damaged (%s); trying the one before it", path, error)
            continue
        return Checkpoint(plain["step"], plain["seconds"], state)
    return None
