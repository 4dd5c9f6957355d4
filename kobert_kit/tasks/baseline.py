"""What a model that reads nothing scores."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from kobert_kit.tasks.data import load_data
from kobert_kit.tasks.task import SentenceTask


def majority(task: SentenceTask, data_dir: Path | None) -> dict[str, float]:
    """Dev metrics of always saying the training split's most frequent label, or its mean score.

    The correlation of a constant is undefined: NaN.
    """
    data = load_data(task, data_dir)
    labels = [example.label for example in data.train]
    constant: str | float
    if task.is_regression:
        constant = float(np.mean(np.array(labels, dtype=np.float64)))
    else:
        constant = Counter(labels).most_common(1)[0][0]
    return task.scores([example.label for example in data.dev], [constant] * len(data.dev))
