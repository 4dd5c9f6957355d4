"""Tables of fine-tuning runs, from the files that they left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from kobert_kit.errors import DataError
from kobert_kit.records import atomic_file
from kobert_kit.report.tables import score, table

MOST_COLUMNS = 8
SUMMARY = {"task", "headline", "metrics", "seeds"}  # what metrics.json of a run holds


@dataclass(frozen=True)
class Row:
    """One line of a comparison: a task's headline metric for each way of getting a model.

    Each is (mean, standard deviation); the standard deviation is None for one seed, the mean
    where the metric is undefined.
    """

    task: str
    metric: str
    pretrained: tuple[float | None, float | None]
    from_scratch: tuple[float | None, float | None]
    majority: float | None


def compare(rows: Sequence[Row]) -> str:
    """What pretraining gave: pretrained, from scratch and the majority class, a task a line."""
    return table(
        ["task", "metric", "pretrained", "from scratch", "majority class"],
        [
            [
                row.task,
                row.metric,
                score(*row.pretrained),
                score(*row.from_scratch),
                score(row.majority),
            ]
            for row in rows
        ],
    )


def headline(run: Path) -> tuple[float | None, float | None]:
    """Mean and standard deviation of a run's headline metric.

    Raises:
        DataError: ``run`` is no folder of a finished run.
    """
    summary = read_summary(run)
    values = summary["metrics"][summary["headline"]]
    return values["mean"], values["std"]


def describe(run: Path) -> str:
    """The scores of a run's seeds, their mean and standard deviation, as a table.

    The scores are those of the last epoch. "best epoch" is the headline metric of the epoch that
    did best on the very set it is scored on: an optimistic number. Its model is
    in seed-N/best.

    Raises:
        DataError: ``run`` is no folder of a finished run.
    """
    summary = read_summary(run)
    metrics, top = summary["metrics"], summary["headline"]
    rows = []
    for seed, values in summary["seeds"].items():
        last = [score(values["last"][name]) for name in metrics]
        rows.append([f"seed {seed}", *last, score(values["best"][top])])
    if len(rows) > 1:
        means = [score(values["mean"], values["std"]) for values in metrics.values()]
        best = [values["best"][top] for values in summary["seeds"].values()]
        rows.append(["mean ± std", *means, score(*_mean_and_std(best))])
        rows.append(["best seed", *(score(values["best"]) for values in metrics.values()), ""])
    head = [summary["task"], *metrics, "best epoch"]
    if len(head) > MOST_COLUMNS:  # a metric a line, which fits where a metric a column does not
        head, *rows = [list(line) for line in zip(head, *rows, strict=True)]
    return table(head, rows)


def _mean_and_std(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    defined = [value for value in values if value is not None]
    return (mean(defined), stdev(defined)) if len(defined) == len(values) else (None, None)


def write_confusion_tables(run: Path) -> None:
    """Write ``confusion.txt`` beside each seed's ``confusion.json``."""
    for path in sorted(run.glob("seed-*/confusion.json")):
        values = read_json(path)
        with atomic_file(path.with_suffix(".txt")) as temporary:
            text = confusion_table(values["labels"], values["counts"])
            temporary.write_text(text + "\n", encoding="utf-8")


def confusion_table(labels: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    """Counts with gold labels down and predicted ones across, and the recall of each label."""
    rows = [
        [label, *map(str, row), f"{100 * row[number] / sum(row):.1f} %" if any(row) else "-"]
        for number, (label, row) in enumerate(zip(labels, counts, strict=True))
    ]
    return table(["gold \\ predicted", *labels, "recall"], rows)


def read_summary(run: Path) -> dict[str, Any]:
    """The scores of a run over its seeds.

    Raises:
        DataError: ``run`` is no folder of a finished run, or its file is damaged.
    """
    path = run / "metrics.json"
    summary: Any = read_json(path)
    try:
        values = summary["metrics"][summary["headline"]]
        whole = summary.keys() >= SUMMARY and values.keys() >= {"mean", "std", "best"}
    except (AttributeError, KeyError, TypeError):
        whole = False
    if not whole:
        raise DataError(f"{path}: damaged; run the same klue command again to have it written anew")
    found: dict[str, Any] = summary
    return found


def read_json(path: Path) -> Any:
    """What a file of a run holds.

    Raises:
        DataError: it is not there, or not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path.parent}: no {path.name}; the run is not finished") from None
    except ValueError as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
