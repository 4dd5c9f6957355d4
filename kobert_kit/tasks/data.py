"""The examples of a task, from the official files or from the hub, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from kobert_kit.console import counted
from kobert_kit.errors import DataError
from kobert_kit.records import fingerprint_values
from kobert_kit.tasks.formats.files import find_files
from kobert_kit.tasks.hub import HUB_SPLITS, hub_name, hub_records, load_hub
from kobert_kit.tasks.task import HasGuid, Task

E = TypeVar("E", bound=HasGuid)
Raw = tuple[str, Any]


@dataclass
class TaskData(Generic[E]):
    """What is trained on, and what is scored; ``skipped`` says what is wrong with each bad record
    that is in neither."""

    train: list[E]
    dev: list[E]
    skipped: dict[str, list[str]] = field(default_factory=dict)

    def fingerprint(self) -> str:
        """Hex digest of all examples, equal for the same content from files and from the hub."""
        splits: dict[str, list[Any]] = {"train": self.train, "dev": self.dev}
        return fingerprint_values({k: [astuple(e) for e in v] for k, v in splits.items()})


def load_data(
    task: Task[E], data_dir: Path | None, limit: int | None = None, strict: bool = True
) -> TaskData[E]:
    """Both splits; from the hub without ``data_dir``. ``limit`` keeps the first of each.

    Bad records are skipped where ``strict`` does not hold.

    Raises:
        DataError: a file or the hub does not give what the task needs; names the record.
    """
    kept: dict[str, list[E]] = {}
    skipped: dict[str, list[str]] = {}
    if data_dir is None:
        splits = load_hub(task)
        for split, name in HUB_SPLITS.items():
            records = hub_records(task, splits[name], split)
            where = f"{hub_name(task)} {split}"
            kept[split], skipped[split] = read_examples(records, task.parse_hub, where, strict)
    else:
        for split, paths in find_files(task.files, data_dir).items():
            records = chain.from_iterable(map(task.records, paths))
            where = ", ".join(map(str, paths))
            kept[split], skipped[split] = read_examples(records, task.parse, where, strict)
    bad = {split: messages for split, messages in skipped.items() if messages}
    return TaskData(kept["train"][:limit], kept["dev"][:limit], bad)


def find_misfits(
    task: Task[E], data: TaskData[E], tokenizer: Any, max_length: int
) -> dict[str, dict[str, str]]:
    """What is wrong with the examples of each split that do not fit, by guid."""
    return {
        split: task.misfits(examples, tokenizer, max_length)
        for split, examples in (("train", data.train), ("dev", data.dev))
    }


def leave_out(
    task: Task[E], data: TaskData[E], found: dict[str, dict[str, str]], strict: bool
) -> TaskData[E]:
    """``data`` without the examples that `find_misfits` ``found``, which are skipped.

    Raises:
        DataError: there are any and ``strict`` holds, or hardly anything else.
    """
    kept: dict[str, list[E]] = {}
    skipped = dict(data.skipped)
    for split, examples in (("train", data.train), ("dev", data.dev)):
        misfits = found[split]
        messages = [f"{task.name} {split} {message}" for message in misfits.values()]
        kept[split] = [each for each in examples if each.guid not in misfits]
        if messages and (strict or len(kept[split]) < 2):
            raise DataError(messages[0])
        if messages:
            skipped[split] = [*skipped.get(split, []), *messages]
    return TaskData(kept["train"], kept["dev"], skipped)


def read_examples(
    records: Iterable[Raw],
    parse: Callable[[Any, str], E],
    where: str,
    strict: bool,
    fewest: int = 2,
) -> tuple[list[E], list[str]]:
    """The good examples, in order, and what is wrong with the others.

    Raises:
        DataError: one is bad and ``strict`` holds, or fewer than ``fewest`` are good.
    """
    examples: list[E] = []
    skipped: list[str] = []
    first: dict[str, int] = {}
    for number, (place, record) in enumerate(records, start=1):
        try:
            example = parse(record, place)
            if example.guid in first:
                raise DataError(
                    f"{where}: the guid {example.guid} stands at record {first[example.guid]} and "
                    f"again at record {number}"
                )
        except DataError as error:
            if strict:
                raise
            skipped.append(str(error))
        else:
            first[example.guid] = number
            examples.append(example)
    if len(examples) < fewest:
        reason = f"; the first bad record: {skipped[0]}" if skipped else ""
        raise DataError(
            f"{where}: {counted(len(examples), 'example')}; at least {fewest} needed{reason}"
        )
    return examples, skipped
