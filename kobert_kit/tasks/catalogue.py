"""The tasks by name."""

from __future__ import annotations

from typing import Any

from kobert_kit.errors import UsageError
from kobert_kit.tasks import mrc, ner, nli, sts, ynat
from kobert_kit.tasks.task import Task

TASKS: dict[str, Task[Any]] = {
    t.name: t for t in (nli.TASK, sts.TASK, ynat.TASK, ner.TASK, mrc.TASK)
}


def get_task(name: str) -> Task[Any]:
    """The task called ``name``.

    Raises:
        UsageError: there is none.
    """
    if name not in TASKS:
        raise UsageError(f"--task {name}: one of {', '.join(TASKS)}")
    return TASKS[name]
