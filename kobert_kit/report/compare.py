"""One table over fine-tuning runs, with what KLUE's authors published beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kobert_kit.errors import DataError
from kobert_kit.records import RECORD_NAME, read_record
from kobert_kit.report.klue import read_summary
from kobert_kit.report.published import PUBLISHED, SOURCE
from kobert_kit.report.tables import score, table

STAGE = "klue"
LIMITED = "*"


def compare_runs(folders: Sequence[Path]) -> str:
    """Tasks as columns, runs as rows: mean ± standard deviation over seeds, of the last epoch.

    Each of ``folders`` is a run, or holds runs (one a task), which share a row. The columns show
    the metric that KLUE ranks a task by.

    Raises:
        DataError: a folder holds no finished run.
    """
    rows: dict[str, dict[str, str]] = {}
    metrics: dict[str, str] = {}
    for folder in folders:
        for label, run in _runs(folder):
            summary = read_summary(run)
            task, headline = summary["task"], summary["headline"]
            values = summary["metrics"][headline]
            limited = read_record(run, STAGE).settings.get("limit") is not None
            cell = score(values["mean"], values["std"]) + (LIMITED if limited else "")
            rows.setdefault(label, {})[task] = cell
            metrics[task] = headline
    for model, figures in PUBLISHED.items():
        rows[model] = {
            task: score(figures[metric]) for task, metric in metrics.items() if metric in figures
        }
    lines = [[label, *(cells.get(task, "") for task in metrics)] for label, cells in rows.items()]
    notes = [", ".join(f"{task}: {metric}" for task, metric in metrics.items()) + ".", SOURCE]
    if any(cell.endswith(LIMITED) for cells in rows.values() for cell in cells.values()):
        notes.append(f"{LIMITED} on the first examples only (--limit).")
    return "\n".join([table(["run", *metrics], lines), "", *notes])


def _runs(folder: Path) -> list[tuple[str, Path]]:
    """The finished runs in ``folder``, each with the row that it stands in."""
    if (folder / "metrics.json").is_file() and any(folder.glob(f"seed-*/{RECORD_NAME}")):
        return [(str(folder), folder)]
    found = sorted(
        path.parent
        for path in folder.glob("*/metrics.json")
        if any(path.parent.glob(f"seed-*/{RECORD_NAME}"))
    )
    if not found:
        raise DataError(
            f"--compare {folder}: no finished run; name an OUTPUT/TASK of `kobert-kit klue`, or "
            "the OUTPUT with several"
        )
    return [(_row(folder, run), run) for run in found]


def _row(folder: Path, run: Path) -> str:
    """``folder`` for the run of a task; with what else its name says for others (-scratch)."""
    task = str(read_summary(run)["task"])
    more = run.name.removeprefix(task).strip("-")
    return f"{folder} ({more})" if more else str(folder)
