"""Fine-tuning as one call: read, encode, train one model a seed, save each with its results."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kobert_kit.errors import UsageError
from kobert_kit.finetune.balance import balanced, check_balanced
from kobert_kit.finetune.best import BestEpoch
from kobert_kit.finetune.model import build_classifier, default_learning_rate, save_classifier
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.finetune.prepared import Prepared, prepare
from kobert_kit.finetune.results import METRICS_NAME, STAGE, summarise, write_results
from kobert_kit.records import (
    Record,
    check_plan,
    claim_output,
    cleared_if_refused,
    finish_output,
    versions,
    write_json,
    write_record,
)
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.own.tasks import label_digest
from kobert_kit.tasks.task import Task
from kobert_kit.tokenizer.loading import tokenizer_fingerprint
from kobert_kit.training.loop import train
from kobert_kit.training.settings import TrainSettings

BEST, ENCODED = "best", "encoded"


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
    early_stop: int | None = None
    class_balanced: bool = False


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
    check_settings(task, settings)
    cache = output / ENCODED
    prepared = prepare(
        task, model, data_dir, settings.max_length, settings.limit, strict, say, cache
    )
    return run_seeds(prepared, output, settings, seeds, say, threads, cache)


def check_settings(task: Task[Any], settings: FinetuneSettings) -> None:
    """Raises UsageError for what can be refused before anything is read."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UsageError("fine-tuning runs in one process; start it without torchrun")
    if settings.class_balanced:
        check_balanced(task)


def run_seeds(
    prepared: Prepared,
    output: Path,
    settings: FinetuneSettings,
    seeds: Sequence[int],
    say: Callable[[str], object],
    threads: int | None,
    cache: Path,
) -> dict[str, Any]:
    """`finetune` on what is ``prepared``; encoded data are kept in the folder ``cache``."""
    task, folder = prepared.task, prepared.folder
    rate = settings.learning_rate or default_learning_rate(folder.config.hidden_size)
    settings = replace(settings, learning_rate=rate, max_length=prepared.max_length)
    plan = Record(
        STAGE,
        settings={"task": task.name, **asdict(settings), **_headline(task)},
        inputs={
            **folder.fingerprints(settings.from_scratch),
            "data": prepared.data_digest,
            **label_digest(task),
        },
        versions=versions("torch", "transformers", "tokenizers", "accelerate", "datasets"),
    )
    with cleared_if_refused(output):
        claim_output(output, STAGE)
        check_plan(output, plan)
        for seed in seeds:
            place = output / f"seed-{seed}"
            if claim_output(place, STAGE):
                say(f"{place} is finished already; its scores are used again")
            else:
                # First, so that a model without weights is refused with nothing written.
                model = build_classifier(folder, task, settings.from_scratch, seed)
                rows = prepared.rows(cache)
                record = replace(plan, seed=seed)
                _run_seed(prepared, model, rows, place, settings, threads, record)
    summary = summarise(task, output)
    write_json(output / METRICS_NAME, summary)
    plan.results = summary["metrics"]
    plan.seconds = sum(result["seconds"] for result in summary["seeds"].values())
    finish_output(output, plan)
    return summary


def _run_seed(
    prepared: Prepared,
    model: Any,
    rows: tuple[Encoded[Any], Encoded[Any]],
    output: Path,
    settings: FinetuneSettings,
    threads: int | None,
    record: Record,
) -> None:
    task, folder, seed = prepared.task, prepared.folder, record.seed
    assert seed is not None and settings.learning_rate is not None
    train_rows, dev_rows = rows
    objective = TaskObjective(
        task,
        train_rows,
        dev_rows,
        pad_id=folder.tokenizer.pad_token_id,
        takes_token_types=folder.takes_token_types,
        batch_size=settings.batch_size,
        seed=seed,
        head=balanced(task.head, train_rows.labels) if settings.class_balanced else task.head,
    )
    best = BestEpoch(output / "checkpoints", task.headline, settings.early_stop)
    result = train(
        model,
        objective,
        TrainSettings(
            learning_rate=settings.learning_rate,
            steps=settings.epochs * objective.steps_per_epoch,
            warmup_share=settings.warmup_share,
            weight_decay=settings.weight_decay,
            betas=(0.9, 0.999),
            evaluations=settings.epochs,
            seed=seed,
            threads=threads,
            mixed_precision=settings.mixed_precision,
        ),
        output,
        label=f"{task.name} seed {seed}",
        watch=best,
    )
    outputs = objective.predicted(model)
    scores = write_results(output, objective, outputs, result, prepared.data.skipped)
    record.seconds = result.seconds
    save_classifier(model, folder, task, output)
    shutil.rmtree(output / BEST, ignore_errors=True)
    if best.restore(model, result.evaluations):
        save_classifier(model, folder, task, output / BEST)
        write_record(output / BEST, _with_results(record, scores["best"], output / BEST))
    finish_output(output, _with_results(record, scores["last"], output))
    shutil.rmtree(output / "checkpoints", ignore_errors=True)


def _headline(task: Task[Any]) -> dict[str, str]:
    """By which metric the best epochs of all seeds are picked, where a file says it."""
    return {} if task.name in TASKS else {"headline": task.headline}


def _with_results(record: Record, scores: dict[str, Any], folder: Path) -> Record:
    return replace(record, results={**scores, "tokenizer": tokenizer_fingerprint(folder)})
