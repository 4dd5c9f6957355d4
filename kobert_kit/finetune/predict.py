"""Predictions of a fine-tuned model for a file of its task, with or without labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator

from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.model import ModelFolder, open_classifier
from kobert_kit.finetune.objective import EVALUATION_BATCH_SIZE, TaskObjective
from kobert_kit.finetune.results import STAGE, read_scores, write_lines
from kobert_kit.records import RECORD_NAME, Record, check_place, read_record
from kobert_kit.tasks.catalogue import TASKS, get_task
from kobert_kit.tasks.data import read_examples
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.mrc import AnswerTask
from kobert_kit.tasks.own.ready import ready_tasks
from kobert_kit.tasks.own.tasks import label_digest
from kobert_kit.tasks.task import Task
from kobert_kit.tokenizer.loading import tokenizer_fingerprint


@dataclass
class Predicted:
    """``lines`` predictions were written; ``skipped`` says what is wrong with other records.

    ``scores`` are the task's metrics where every example has a label, else empty.
    """

    lines: int
    skipped: list[str]
    scores: dict[str, float] = field(default_factory=dict)


def predict(
    file: Path,
    model: Path,
    output: Path,
    say: Callable[[str], object],
    threads: int | None = None,
    strict: bool = False,
    described: str | None = None,
) -> Predicted:
    """Write to ``output`` the lines that predictions.jsonl would have for the examples of ``file``.

    ``file`` has the layout of the official files of the task that ``model`` was fine-tuned on; a
    record may lack its label, and its line then lacks "gold". ``model`` is a folder `seed-N` or
    `best` of a run, or a run, which stands for its seed that did best on dev. Records that are
    bad or do not fit are skipped unless ``strict``. ``described`` is the TOML file of a task of
    one's own, which the folder knows by name only.

    Raises:
        DataError: ``model`` is no fine-tuned model, or ``file`` holds nothing for its task.
        UsageError: ``output`` cannot be written.
    """
    _check_output(output, file)
    if threads is not None:
        torch.set_num_threads(threads)
    path = finetuned_folder(model, say)
    record = read_record(path, STAGE)
    task = _task(record, described)
    _check_tokenizer(path, record)
    examples, unlabelled, skipped = _read(task, file, strict)
    folder, classifier = open_classifier(path, task)
    max_length = record.settings["max_length"]
    misfits = task.misfits(examples, folder.tokenizer, max_length)
    if misfits and (strict or len(misfits) == len(examples)):
        raise DataError(f"{file} {next(iter(misfits.values()))}")
    examples = [each for each in examples if each.guid not in misfits]
    skipped += [f"{file} {message}" for message in misfits.values()]

    rows = task.encode(examples, folder.tokenizer, max_length)
    outputs = _outputs(task, rows, folder, classifier, record.settings["mixed_precision"])
    written = write_lines(output, _without_gold(task.predictions(rows, outputs), unlabelled))
    scores = {} if unlabelled or len(examples) < 2 else task.score(rows, outputs)
    return Predicted(written, skipped, scores)


def _check_output(output: Path, file: Path) -> None:
    """Makes its folder.

    Raises:
        UsageError: ``output`` is no place for a file, or is ``file``, which would be lost.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output {output}: cannot be written ({error.strerror})") from None
    check_place(output, "--output")
    if output.exists() and output.samefile(file):
        raise UsageError(f"--output {output}: the file to predict; name another")


def _task(record: Record, described: str | None) -> Task[Any]:
    """The task that the model was fine-tuned on."""
    name = record.settings["task"]
    if described is None and name not in (*TASKS, *ready_tasks()):
        raise UsageError(
            f"--model: it was fine-tuned on {name}, a task of your own; name its file, --task "
            f"{name}.toml"
        )
    task = get_task(described or name)
    if task.name != name:
        raise UsageError(f"--task {described}: the model was fine-tuned on {name}")
    if any(record.inputs.get(key, digest) != digest for key, digest in label_digest(task).items()):
        raise UsageError(
            f"--task {described or name}: the model was fine-tuned with other labels, or with "
            "these in another order; name the file as it was then"
        )
    if isinstance(task, AnswerTask) and "null_threshold" in record.results:
        return replace(task, may_lack_answer=True, tuned=record.results["null_threshold"])
    return task


def _read(task: Task[Any], file: Path, strict: bool) -> tuple[list[Any], set[str], list[str]]:
    """The examples of ``file``, the guids of those without a label, and what was skipped."""
    unlabelled: set[str] = set()

    def parse(raw: Any, where: str) -> Any:
        labelled = task.with_label(raw)
        example = task.parse(labelled, where)
        if labelled is not raw:
            unlabelled.add(example.guid)
        return example

    examples, skipped = read_examples(task.records(file), parse, str(file), strict, fewest=1)
    return examples, unlabelled, skipped


def _outputs(
    task: Task[Any], rows: Encoded[Any], folder: ModelFolder, classifier: Any, precision: str
) -> list[np.ndarray]:
    """What the head gives for each of ``rows``, as fine-tuning evaluates."""
    pad_id, types = folder.tokenizer.pad_token_id, folder.takes_token_types
    objective = TaskObjective(task, rows, rows, pad_id, types, EVALUATION_BATCH_SIZE, seed=0)
    accelerator = Accelerator(mixed_precision=precision)
    with accelerator.autocast():
        return objective.predicted(classifier.to(accelerator.device))


def _without_gold(
    lines: Iterator[dict[str, Any]], unlabelled: set[str]
) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line["guid"] in unlabelled:
            line.pop("gold", None)
        yield line


def finetuned_folder(path: Path, say: Callable[[str], object]) -> Path:
    """``path``, or where it is a run its best seed: by the last epoch, on dev.

    Raises:
        DataError: it is neither.
    """
    if (path / "config.json").is_file() and (path / RECORD_NAME).is_file():
        return path
    seeds = {each.parent: _headline(each.parent) for each in path.glob(f"seed-*/{RECORD_NAME}")}
    if not seeds:
        raise DataError(
            f"--model {path}: no fine-tuned model; name a folder seed-N that `kobert-kit klue` "
            "finished, or the one that holds it"
        )
    best = max(sorted(seeds), key=lambda seed: seeds[seed])
    if len(seeds) > 1:
        say(f"of {len(seeds)} seeds, {best} did best on dev; name another's folder to have it")
    return best


def _headline(seed: Path) -> float:
    metrics = read_scores(seed)
    value = metrics["last"][metrics["headline"]]
    return float("-inf") if value is None else float(value)


def _check_tokenizer(path: Path, record: Record) -> None:
    """Raises DataError where the folder's tokenizer is not the one that was saved with it."""
    saved = record.results.get("tokenizer")
    if saved is not None and saved != tokenizer_fingerprint(path):
        raise DataError(
            f"--model {path}: its tokenizer is not the one that the model was fine-tuned with; "
            "put that one back, or fine-tune again"
        )
