"""The tasks by name."""

from __future__ import annotations

from kobert_kit.errors import UsageError
from kobert_kit.tasks import nli, sts, ynat
from kobert_kit.tasks.task import SentenceTask

TASKS: dict[str, SentenceTask] = {task.name: task for task in (nli.TASK, sts.TASK, ynat.TASK)}


def get_task(name: str) -> SentenceTask:
    """The task called ``name``.

    Raises:
        UsageError: there is none.
    """
    if name not in TASKS:
        raise UsageError(f"--task {name}: one of {', '.join(TASKS)}")
    return TASKS[name]
