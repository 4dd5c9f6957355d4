"""KLUE from the Hugging Face hub.

The hub's ``klue`` numbers the labels of NLI and YNAT in another order than the official files, so
a label is read by its name.
"""

from __future__ import annotations

from typing import Any

from kobert_kit.errors import DataError
from kobert_kit.tasks.parse import parse_record
from kobert_kit.tasks.task import Example, SentenceTask


def load_hub(task: SentenceTask) -> Any:
    """The hub's splits of ``task`` (a `datasets.DatasetDict`), downloaded or from its cache.

    Raises:
        DataError: the hub cannot be reached and the cache does not hold it.
    """
    import datasets

    try:
        return datasets.load_dataset("klue", task.name)
    except Exception as error:  # connection, HTTP, cache: every library in between has its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            f"the hub's data set klue/{task.name} could not be loaded ({reason}); check the "
            "connection, or download the official files and name their folder with --data-dir"
        ) from None


def read_hub(task: SentenceTask, dataset: Any, split: str) -> list[Example]:
    """The examples of one split (a `datasets.Dataset`); ``split`` is for messages.

    Raises:
        DataError: a record is not one of this task.
    """
    # Only a flat field can be a ClassLabel of ours; STS has its score in a nested one.
    feature = dataset.features.get(task.hub_label[0])
    names = getattr(feature, "names", None)
    examples = []
    for number, row in enumerate(dataset, start=1):
        if names is not None and 0 <= row[task.hub_label[0]] < len(names):
            row = row | {task.hub_label[0]: names[row[task.hub_label[0]]]}
        where = f"hub klue/{task.name} {split}: record {number}"
        examples.append(parse_record(task, row, where, task.hub_label))
    return examples
