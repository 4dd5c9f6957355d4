"""Fine-tuning as one call: read, encode, train one model a seed, save each with its results."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kobert_kit.errors import UsageError
from kobert_kit.records import (
    Record,
    check_plan,
    claim_output,
    cleared_if_refused,
    finish_output,
    versions,
    write_json,
)
from kobert_kit.tasks.data import TaskData, load_data, without_misfits
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.model import (
    ModelFolder,
    build_classifier,
    default_learning_rate,
    open_model_folder,
    save_classifier,
)
from kobert_kit.tasks.objective import TaskObjective
from kobert_kit.tasks.results import METRICS_NAME, STAGE, summarise, write_results
from kobert_kit.tasks.task import Task
from kobert_kit.training.loop import train
from kobert_kit.training.settings import TrainSettings

SKIPPED_SHOWN = 20


@dataclass(frozen=True)
class FinetuneSettings:
    """The recipe; see `kobert-kit klue --help` for each.

    The defaults lie in the ranges that KLUE's paper searches, but for the learning rate of small
    models: None stands for `default_learning_rate` of the model's width. For ``max_length`` it
    stands for what the task says.
    """

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float | None = None
    warmup_share: float = 0.1
    weight_decay: float = 0.01
    max_length: int | None = None
    limit: int | None = None
    from_scratch: bool = False
    mixed_precision: str = "no"


@dataclass
class _Run:
    """What all seeds of one run share."""

    task: Task[Any]
    folder: ModelFolder
    data: TaskData[Any]
    train: Encoded[Any]
    dev: Encoded[Any]
    settings: FinetuneSettings
    threads: int | None
    say: Callable[[str], object]


def finetune(
    task: Task[Any],
    model: Path,
    data_dir: Path | None,
    output: Path,
    settings: FinetuneSettings,
    seeds: Sequence[int],
    say: Callable[[str], object],
    threads: int | None = None,
    strict: bool = True,
) -> dict[str, Any]:
    """Fine-tune ``model`` once a seed; a folder ``output/seed-N`` each.

    Returns, and leaves in ``output/metrics.json``, the mean and standard deviation of the metrics
    over all seeds finished in ``output``. Seeds that are finished already are not run again, and
    one that was stopped continues. Bad records are skipped and counted unless ``strict``.

    Raises:
        UsageError: ``output`` holds something else or was begun with other settings.
        DataError: the data or the model folder is not what the task needs.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UsageError("fine-tuning runs in one process; start it without torchrun")
    folder = open_model_folder(model)
    max_length = folder.max_length(settings.max_length, task.max_length)
    rate = settings.learning_rate or default_learning_rate(folder.config.hidden_size)
    settings = replace(settings, learning_rate=rate, max_length=max_length)
    data = load_data(task, data_dir, settings.limit, strict)
    data = without_misfits(task, data, folder.tokenizer, max_length, strict)
    _say_skipped(data, say)
    plan = Record(
        STAGE,
        settings={"task": task.name, **asdict(settings)},
        inputs={**folder.fingerprints(settings.from_scratch), "data": data.fingerprint()},
        versions=versions("torch", "transformers", "tokenizers", "accelerate", "datasets"),
    )
    with cleared_if_refused(output):
        claim_output(output, STAGE)
        check_plan(output, plan)
        train_rows, dev_rows = (
            task.encode(examples, folder.tokenizer, max_length)
            for examples in (data.train, data.dev)
        )
        run = _Run(task, folder, data, train_rows, dev_rows, settings, threads, say)
        for seed in seeds:
            _finetune_seed(run, output / f"seed-{seed}", seed, replace(plan, seed=seed))
    summary = summarise(task, output)
    write_json(output / METRICS_NAME, summary)
    plan.results = summary["metrics"]
    plan.seconds = sum(result["seconds"] for result in summary["seeds"].values())
    finish_output(output, plan)
    return summary


def _say_skipped(data: TaskData[Any], say: Callable[[str], object]) -> None:
    for split, messages in data.skipped.items():
        for message in messages[:SKIPPED_SHOWN]:
            say(message)
        count, more = len(messages), len(messages) - SKIPPED_SHOWN
        records = "bad record" if count == 1 else "bad records"
        say(f"{split}: {count} {records} skipped" + (f" ({more} not shown)" if more > 0 else ""))


def _finetune_seed(run: _Run, output: Path, seed: int, record: Record) -> None:
    task, settings = run.task, run.settings
    if claim_output(output, STAGE):
        run.say(f"{output} is finished already; its scores are used again")
        return
    objective = TaskObjective(
        task,
        run.train,
        run.dev,
        pad_id=run.folder.tokenizer.pad_token_id,
        takes_token_types=run.folder.takes_token_types,
        batch_size=settings.batch_size,
        seed=seed,
    )
    model = build_classifier(run.folder, task, settings.from_scratch, seed)
    assert settings.learning_rate is not None
    steps = settings.epochs * objective.steps_per_epoch
    result = train(
        model,
        objective,
        TrainSettings(
            learning_rate=settings.learning_rate,
            steps=steps,
            warmup_share=settings.warmup_share,
            weight_decay=settings.weight_decay,
            betas=(0.9, 0.999),
            evaluations=settings.epochs,
            seed=seed,
            threads=run.threads,
            mixed_precision=settings.mixed_precision,
        ),
        output,
        label=f"{task.name} seed {seed}",
    )
    scores = write_results(output, objective, objective.predicted(model), result, run.data.skipped)
    save_classifier(model, run.folder, task, output)
    record.results, record.seconds = scores["last"], result.seconds
    finish_output(output, record)
    shutil.rmtree(output / "checkpoints", ignore_errors=True)
