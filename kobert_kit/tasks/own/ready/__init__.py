"""Tasks that come ready, each a TOML file in this folder."""

from __future__ import annotations

from pathlib import Path


def ready_tasks() -> dict[str, Path]:
    """The files by the names of their tasks."""
    return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}
