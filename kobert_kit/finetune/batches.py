"""Which examples make up which batch."""

from __future__ import annotations

import numpy as np


def length_grouped_batches(
    lengths: np.ndarray, batch_size: int, seed: int, epoch: int, group: int = 50
) -> list[np.ndarray]:
    """Batches of indices into ``lengths``; every example is in exactly one.

    Shuffles, sorts runs of ``group`` batches by length, and shuffles the batches: a batch holds
    texts of like length, so little is padding, and the order still depends on (seed, epoch) alone.
    One batch is smaller where ``batch_size`` does not divide the number of examples.
    """
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(len(lengths))
    run = group * batch_size
    batches = []
    for start in range(0, len(shuffled), run):
        chunk = shuffled[start : start + run]
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        batches += [chunk[at : at + batch_size] for at in range(0, len(chunk), batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def sorted_batches(lengths: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Batches in order of length, longest first, for evaluation."""
    order = np.argsort(-lengths, kind="stable")
    return [order[at : at + batch_size] for at in range(0, len(order), batch_size)]
