"""The grid of KLUE's paper: a run for each learning rate, batch size and number of epochs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from kobert_kit.finetune.prepared import prepare
from kobert_kit.finetune.run import ENCODED, FinetuneSettings, check_settings, run_seeds
from kobert_kit.records import (
    Record,
    claim_output,
    cleared_if_refused,
    finish_output,
    reopen_output,
    versions,
)
from kobert_kit.tasks.task import Task

STAGE = "klue-grid"
LEARNING_RATES = (2e-5, 3e-5, 5e-5)
BATCH_SIZES = (16, 32)
EPOCHS = (2, 3, 4, 5)


@dataclass(frozen=True)
class Point:
    """One place in the grid. Other epochs are another run: the learning rate falls by them."""

    learning_rate: float
    batch_size: int
    epochs: int

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"lr-{self.learning_rate:.0e}_batch-{self.batch_size}_epochs-{self.epochs}"


def points() -> Iterator[Point]:
    """All 24 (Park et al. 2021, arXiv:2105.09680)."""
    return (Point(*values) for values in product(LEARNING_RATES, BATCH_SIZES, EPOCHS))


def search(
    task: Task[Any],
    model: Path,
    data_dir: Path | None,
    output: Path,
    settings: FinetuneSettings,
    seeds: Sequence[int],
    say: Callable[[str], object],
    threads: int | None = None,
    strict: bool = True,
) -> None:
    """`finetune` at every point, in a folder of ``output`` each; encoded once for all.

    What ``settings`` say of learning rate, batch size and epochs does not count. Finished seeds
    of a point are not run again.

    Raises:
        UsageError: ``output`` holds something else or was begun with other settings.
        DataError: the data or the model folder is not what the task needs.
    """
    check_settings(task, settings)
    cache = output / ENCODED
    prepared = prepare(
        task, model, data_dir, settings.max_length, settings.limit, strict, say, cache
    )
    done = []
    with cleared_if_refused(output):
        finished = claim_output(output, STAGE)
        for point in points():
            at = replace(settings, **vars(point))
            summary = run_seeds(prepared, output / point.name, at, seeds, say, threads, cache)
            if finished:  # and the first point did not refuse the settings
                reopen_output(output, STAGE)
                finished = False
            done.append({**vars(point), **summary["metrics"][task.headline]})
    finish_output(
        output,
        Record(
            STAGE,
            settings={"task": task.name},
            inputs={"data": prepared.data_digest, "tokenizer": prepared.tokenizer_digest},
            results={"headline": task.headline, "points": done},
            versions=versions("torch", "transformers", "tokenizers", "accelerate", "datasets"),
        ),
    )
