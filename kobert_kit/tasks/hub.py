"""Data sets of the Hugging Face hub, KLUE among them.

The hub's ``klue/klue`` numbers the labels of NLI and YNAT in another order than the official files,
so a label is read by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kobert_kit.errors import DataError, UsageError
from kobert_kit.tasks.task import E, Task

KLUE = "klue/klue"  # huggingface_hub 2 finds no data set without its owner
HUB_SPLITS = {"train": "train", "dev": "validation"}


def hub_place(task: Task[Any]) -> tuple[str, str]:
    """Path and configuration of the data set; a task of one's own says its ``hub``.

    Raises:
        UsageError: it is not on the hub.
    """
    # re-plain and dp-gold-pos are the data of re and dp.
    place: tuple[str, str] | None = getattr(task, "hub", (KLUE, task.name.partition("-")[0]))
    if place is None:
        raise UsageError(f"--task {task.name}: not read from the hub; name --data-dir")
    return place


def hub_name(task: Task[Any]) -> str:
    """The data set, for messages."""
    return f"hub {':'.join(hub_place(task))}"


def load_hub(task: Task[Any]) -> Any:
    """The hub's splits of ``task`` (a `datasets.DatasetDict`), downloaded or from its cache.

    Raises:
        UsageError: the task is not on the hub.
        DataError: the hub cannot be reached and the cache does not hold it, or it lacks a split.
    """
    import datasets

    path, config = hub_place(task)
    try:
        splits = datasets.load_dataset(path, config)
    except Exception as error:  # connection, HTTP, cache: every library in between has its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"the hub's data set {path}:{config} could not be loaded ({reason}); check the "
            "connection, or download the official files and name their folder with --data-dir"
        ) from None
    if missing := [name for name in HUB_SPLITS.values() if name not in splits]:
        raise DataError(
            f"{hub_name(task)}: no split '{missing[0]}', only {', '.join(map(str, splits))}; "
            "download its files and name their folder with --data-dir"
        )
    return splits


def read_hub(task: Task[E], dataset: Any, split: str) -> list[E]:
    """The examples of one split (a `datasets.Dataset`); ``split`` is for messages.

    Raises:
        DataError: a record is not one of this task.
    """
    return [task.parse_hub(row, where) for where, row in hub_records(task, dataset, split)]


def hub_records(task: Task[Any], dataset: Any, split: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of one split with labels by name, each with where it stands."""
    # A label is a column of its own, or a list in one; STS has its score in a nested one.
    names: dict[str, list[str]] = {}
    for column, feature in dataset.features.items():
        found = getattr(feature, "names", None) or getattr(
            getattr(feature, "feature", None), "names", None
        )
        if found:
            names[column] = found
    for number, row in enumerate(dataset, start=1):
        named = {column: _named(row[column], names[column]) for column in names}
        yield f"{hub_name(task)} {split}: record {number}", row | named


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    return names[value] if 0 <= value < len(names) else value
