"""The tasks by name: KLUE's, the ready-made ones, and those of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kobert_kit.errors import DataError, UsageError
from kobert_kit.tasks import dependency, mrc, ner, nli, relation, sts, wos, ynat
from kobert_kit.tasks.own.description import read_description
from kobert_kit.tasks.own.ready import ready_tasks
from kobert_kit.tasks.own.tasks import task_of
from kobert_kit.tasks.own.toml_table import near
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
    wos.TASK,
)
TASKS: dict[str, Task[Any]] = {task.name: task for task in _ALL}


def get_task(name: str) -> Task[Any]:
    """The task called ``name``, or that of the TOML file ``name``.

    Raises:
        UsageError: there is none.
        DataError: the file does not describe a task; names the key.
    """
    if name in TASKS:
        return TASKS[name]
    ready = ready_tasks()
    if not name.endswith(".toml") and name not in ready:
        known = [*TASKS, *ready]
        raise UsageError(
            f"--task {name}: one of {', '.join(known)}, or a file of your own that ends in .toml"
            f"{near(name, known)}"
        )
    description = read_description(ready.get(name) or Path(name))
    if description.name in TASKS:
        raise DataError(f"{name}: 'name' is {description.name}, which is a task of KLUE's")
    return task_of(description)
