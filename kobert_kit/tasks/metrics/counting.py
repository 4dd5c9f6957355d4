"""F1 from counts, class by class, in [0, 1]: what most of the metrics are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def f1_of_counts(
    both: NDArray[np.int64], gold: NDArray[np.int64], pred: NDArray[np.int64]
) -> NDArray[np.float64]:
    """2 TP / (2 TP + FP + FN) of each class, NaN for a class on neither side.

    ``both`` are the true positives; ``gold`` and ``pred`` all positives of either side, so that
    the denominator is their sum.
    """
    total = gold + pred
    f1 = np.full(total.shape, np.nan)
    np.divide(2.0 * both, total, out=f1, where=total > 0)
    return f1


def f1_by_class(
    gold: NDArray[np.int64], pred: NDArray[np.int64], classes: int
) -> NDArray[np.float64]:
    """F1 of every class, NaN for one on neither side; ids are in [0, ``classes``)."""
    return f1_of_counts(
        np.bincount(gold[gold == pred], minlength=classes),
        np.bincount(gold, minlength=classes),
        np.bincount(pred, minlength=classes),
    )


def mean_of_present(f1: NDArray[np.float64]) -> float:
    """Macro F1 over the classes on either side, times 100; NaN where there is none."""
    present = f1[~np.isnan(f1)]
    return 100.0 * float(present.mean()) if present.size else float("nan")


def mean_of_all(f1: NDArray[np.float64], absent: float) -> float:
    """Macro F1 over all classes, times 100, where one on neither side has F1 ``absent``."""
    return 100.0 * float(np.nan_to_num(f1, nan=absent).mean())
