"""The examples of a task, from the official files or from the hub, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from kobert_kit.errors import DataError
from kobert_kit.records import fingerprint_values
from kobert_kit.tasks.hub import load_hub, read_hub
from kobert_kit.tasks.official import official_file, read_official
from kobert_kit.tasks.task import Example, SentenceTask


@dataclass
class TaskData:
    """What is trained on, and what is scored."""

    train: list[Example]
    dev: list[Example]

    def fingerprint(self) -> str:
        """Hex digest of all examples, equal for the same content from files and from the hub."""
        splits = {"train": self.train, "dev": self.dev}
        return fingerprint_values({k: [astuple(e) for e in v] for k, v in splits.items()})


def load_data(task: SentenceTask, data_dir: Path | None, limit: int | None = None) -> TaskData:
    """Both splits; from the hub without ``data_dir``. ``limit`` keeps the first of each.

    Raises:
        DataError: a file or the hub does not give what the task needs; names the record.
    """
    if data_dir is None:
        splits = load_hub(task)
        train = _checked(read_hub(task, splits["train"], "train"), f"hub klue/{task.name} train")
        dev = _checked(read_hub(task, splits["validation"], "dev"), f"hub klue/{task.name} dev")
    else:
        paths = [official_file(task, data_dir, split) for split in ("train", "dev")]
        train, dev = (_checked(read_official(task, path), str(path)) for path in paths)
    return TaskData(train[:limit], dev[:limit])


def _checked(examples: Sequence[Example], where: str) -> list[Example]:
    if len(examples) < 2:
        raise DataError(f"{where}: {len(examples)} examples; at least 2 are needed")
    first: dict[str, int] = {}
    for number, example in enumerate(examples, start=1):
        if example.guid in first:
            raise DataError(
                f"{where}: the guid {example.guid} stands at record {first[example.guid]} and "
                f"again at record {number}"
            )
        first[example.guid] = number
    return list(examples)
