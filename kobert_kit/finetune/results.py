"""What a fine-tuning run leaves: scores, predictions, confusion, and the summary over seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.errors import DataError
from kobert_kit.finetune.best import best_place
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.records import RECORD_NAME, atomic_file, read_record, write_json
from kobert_kit.tasks.metrics import confusion_matrix
from kobert_kit.tasks.task import Task
from kobert_kit.training.contract import TrainResult

STAGE = "klue"
METRICS_NAME = "metrics.json"


def write_results(
    folder: Path,
    objective: TaskObjective,
    outputs: Sequence[np.ndarray],
    result: TrainResult,
    skipped: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Write what one seed gave: metrics.json (also returned), predictions.jsonl, confusion.json."""
    task, dev = objective.task, objective.dev
    scores = _scores(objective, outputs, result)
    if skipped:
        scores["skipped"] = {split: len(messages) for split, messages in skipped.items()}
    write_lines(folder / "predictions.jsonl", task.predictions(dev, outputs))
    if pair := task.confusion(dev, outputs):
        labels = task.head.labels
        write_json(
            folder / "confusion.json",
            {"labels": labels, "counts": confusion_matrix(*pair, labels)},
        )
    write_json(folder / METRICS_NAME, scores)
    return scores


def read_scores(seed: Path) -> dict[str, Any]:
    """What `write_results` left in the folder of a finished seed.

    Raises:
        DataError: it is not there any more, or damaged.
    """
    path = seed / METRICS_NAME
    try:
        scores: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        scores["last"][scores["headline"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"{path}: missing or damaged; delete the folder {seed} to have it run again"
        ) from None
    return scores


def summarise(task: Task[Any], output: Path) -> dict[str, Any]:
    """Mean, standard deviation (over n - 1) and best of all seeds finished in ``output``.

    The best seed is that with the highest headline metric; all its metrics are called so.

    Raises:
        DataError: what a seed left is damaged.
    """
    finished = {
        str(read_record(path.parent, STAGE).seed): read_scores(path.parent)
        for path in output.glob(f"seed-*/{RECORD_NAME}")
    }
    seeds = {seed: finished[seed] for seed in sorted(finished, key=int)}
    last = [scores["last"] for scores in seeds.values()]
    best = last[best_place(last, task.headline)]
    metrics = {}
    for name in last[0]:
        values = [scores[name] for scores in last]
        defined = None not in values
        metrics[name] = {
            "mean": float(np.mean(values)) if defined else None,
            "std": float(np.std(values, ddof=1)) if defined and len(values) > 1 else None,
            "best": best[name],
        }
    return {"task": task.name, "headline": task.headline, "metrics": metrics, "seeds": seeds}


def _scores(
    objective: TaskObjective, outputs: Sequence[np.ndarray], result: TrainResult
) -> dict[str, Any]:
    """The last epoch's scores, which are the headline, and the best epoch's beside them.

    The best epoch is picked on the very set that is scored, so it is optimistic.
    """
    task = objective.task
    epochs = [
        {"epoch": round(values["step"] / objective.steps_per_epoch, 2), **_plain(values)}
        for values in result.evaluations
    ]
    return {
        "task": task.name,
        "headline": task.headline,
        "last": _plain(task.score(objective.dev, outputs)),
        "best": epochs[best_place(epochs, task.headline)],
        "epochs": epochs,
        "examples": {
            "train": len(objective.train.examples),
            "dev": len(objective.dev.examples),
        },
        "seconds": round(result.seconds, 1),
        "tokens_per_second": round(result.tokens / result.seconds, 1),
    }


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> int:
    """One JSON object a line; returns how many there are."""
    texts = [json.dumps(line, ensure_ascii=False) + "\n" for line in lines]
    with atomic_file(path) as temporary:
        temporary.write_text("".join(texts), encoding="utf-8")
    return len(texts)


def _plain(values: dict[str, float]) -> dict[str, Any]:
    """Undefined values (NaN) as None, which JSON has."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}
