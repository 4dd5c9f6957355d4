"""What a model that reads nothing scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kobert_kit.tasks.data import load_data
from kobert_kit.tasks.task import Task


def majority(task: Task[Any], data_dir: Path | None) -> dict[str, float]:
    """Dev metrics of always saying what is most usual in the training split."""
    data = load_data(task, data_dir, strict=False)
    return task.baseline(data.train, data.dev)
