"""The points of a grid search as a table, from its record."""

from __future__ import annotations

import math
from pathlib import Path

from kobert_kit.records import read_record
from kobert_kit.report.tables import score, table

STAGE = "klue-grid"


def describe_grid(folder: Path) -> str:
    """Mean ± standard deviation over seeds at each point, and which is best by the mean.

    Raises:
        DataError: ``folder`` is no finished grid search.
    """
    record = read_record(folder, STAGE)
    points, headline = record.results["points"], record.results["headline"]
    best = max(points, key=lambda point: -math.inf if point["mean"] is None else point["mean"])
    rows = [
        [
            f"{point['learning_rate']:.0e}",
            str(point["batch_size"]),
            str(point["epochs"]),
            score(point["mean"], point["std"]),
            "best" if point is best else "",
        ]
        for point in points
    ]
    head = ["learning rate", "batch", "epochs", headline, ""]
    note = (
        f"{record.settings['task']}: the best of {len(points)} points by the very dev set that "
        "scores it, so its score flatters."
    )
    return f"{table(head, rows)}\n\n{note}"
