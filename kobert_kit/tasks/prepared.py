"""The data of a task and the model folder that is fine-tuned on it, read and checked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kobert_kit.tasks.data import TaskData, load_data, without_misfits
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.model import ModelFolder, open_model_folder
from kobert_kit.tasks.task import Task

SKIPPED_SHOWN = 20


@dataclass
class Prepared:
    """What all runs on the same data and model share; encoded when it is first asked for."""

    task: Task[Any]
    folder: ModelFolder
    data: TaskData[Any]
    max_length: int
    _rows: tuple[Encoded[Any], Encoded[Any]] | None = field(default=None, repr=False)

    def rows(self) -> tuple[Encoded[Any], Encoded[Any]]:
        """Train and dev."""
        if self._rows is None:
            train, dev = (
                self.task.encode(examples, self.folder.tokenizer, self.max_length)
                for examples in (self.data.train, self.data.dev)
            )
            self._rows = train, dev
        return self._rows


def prepare(
    task: Task[Any],
    model: Path,
    data_dir: Path | None,
    max_length: int,
    limit: int | None,
    strict: bool,
    say: Callable[[str], object],
) -> Prepared:
    """Open ``model`` and read both splits; what is skipped is said.

    Raises:
        UsageError: the model has no positions for ``max_length`` tokens.
        DataError: the data or the model folder is not what the task needs.
    """
    folder = open_model_folder(model)
    folder.check_length(max_length)
    data = load_data(task, data_dir, limit, strict)
    data = without_misfits(task, data, folder.tokenizer, max_length, strict)
    _say_skipped(data, say)
    return Prepared(task, folder, data, max_length)


def _say_skipped(data: TaskData[Any], say: Callable[[str], object]) -> None:
    for split, messages in data.skipped.items():
        for message in messages[:SKIPPED_SHOWN]:
            say(message)
        count, more = len(messages), len(messages) - SKIPPED_SHOWN
        records = "bad record" if count == 1 else "bad records"
        say(f"{split}: {count} {records} skipped" + (f" ({more} not shown)" if more > 0 else ""))
