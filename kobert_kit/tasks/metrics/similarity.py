"""One score for a pair of texts: KLUE-STS."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kobert_kit.tasks.metrics.checks import check_pairs

THRESHOLD = 3.0


def klue_sts_pearsonr(gold: Sequence[float], pred: Sequence[float]) -> float:
    """Pearson correlation, -100 to 100, of the unrounded means (0 to 5) with raw outputs.

    NaN where either side is constant.

    Raises:
        ValueError: fewer than two pairs, or lists of unequal length.
    """
    check_pairs(gold, pred)
    if len(gold) < 2:
        raise ValueError("a correlation needs at least two pairs")
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(pred, dtype=np.float64)
    if (x == x[0]).all() or (y == y[0]).all():
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return 100.0 * float(np.dot(x / np.linalg.norm(x), y / np.linalg.norm(y)))


def sts_spearmanr(gold: Sequence[float], pred: Sequence[float]) -> float:
    """Conventional: Pearson correlation of the ranks, -100 to 100, equal values sharing the mean
    of their ranks (Spearman, 1904). NaN where either side is constant.

    Raises:
        ValueError: as ``klue_sts_pearsonr``.
    """
    check_pairs(gold, pred)
    return klue_sts_pearsonr(_ranks(gold), _ranks(pred))


def _ranks(values: Sequence[float]) -> list[float]:
    _, place, count = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    last = np.cumsum(count)
    ranks: list[float] = (last - (count - 1) / 2)[place].tolist()
    return ranks


def klue_sts_f1(gold: Sequence[float], pred: Sequence[float]) -> float:
    """F1 of "similar", 0 to 100: values of at least 3 on either side; 0 where there is none.

    Raises:
        ValueError: nothing to score, or lists of unequal length.
    """
    check_pairs(gold, pred)
    similar = [np.asarray(side, dtype=np.float64) >= THRESHOLD for side in (gold, pred)]
    total = int(similar[0].sum() + similar[1].sum())
    return 200.0 * int((similar[0] & similar[1]).sum()) / total if total else 0.0
