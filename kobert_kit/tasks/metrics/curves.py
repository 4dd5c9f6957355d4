"""The precision-recall curve of one class, and two ways to take the area under it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


def precision_recall(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> Curve:
    """Precision and recall at every threshold, the highest first.

    Equal scores share a threshold. Recall is 1 throughout where nothing is positive, as
    scikit-learn now has it (0.24 divided by zero).
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    hits = np.cumsum(positive[order])[last]
    recall = hits / hits[-1] if hits[-1] else np.ones(len(hits))
    return hits / (last + 1.0), recall


def trapezoid_area(curve: Curve) -> float:
    """Area in [0, 1] under straight lines from (recall 0, precision 1) on: an optimistic one."""
    precision, recall = (np.insert(c, 0, first) for c, first in zip(curve, (1.0, 0.0), strict=True))
    return float(np.sum(np.diff(recall) * (precision[1:] + precision[:-1])) / 2.0)


def average_precision(curve: Curve) -> float:
    """Sum in [0, 1] of each step in recall times the precision there: no interpolation."""
    precision, recall = curve
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))
