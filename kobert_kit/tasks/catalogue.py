"""The tasks by name."""

from __future__ import annotations

from typing import Any

from kobert_kit.errors import UsageError
from kobert_kit.tasks import dependency, mrc, ner, nli, relation, sts, ynat
from kobert_kit.tasks.task import Task

_ALL = (
    nli.TASK,
    sts.TASK,
    ynat.TASK,
    ner.TASK,
    mrc.TASK,
    relation.TASK,
    relation.PLAIN,
    dependency.TASK,
    dependency.GOLD_POS,
)
TASKS: dict[str, Task[Any]] = {task.name: task for task in _ALL}


def get_task(name: str) -> Task[Any]:
    """The task called ``name``.

    Raises:
        UsageError: there is none.
    """
    if name not in TASKS:
        raise UsageError(f"--task {name}: one of {', '.join(TASKS)}")
    return TASKS[name]
