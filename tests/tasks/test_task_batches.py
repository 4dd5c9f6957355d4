"""Length-grouped batches: a partition, a pure function, and little padding."""

from __future__ import annotations

import numpy as np
import pytest

from kobert_kit.finetune.batches import length_grouped_batches, sorted_batches


@pytest.mark.parametrize("count, batch_size", [(1, 4), (7, 7), (100, 8), (1003, 32), (5000, 16)])
@pytest.mark.parametrize("epoch", [0, 1])
def test_every_example_once_an_epoch(count, batch_size, epoch):
    lengths = np.random.default_rng(0).integers(4, 129, count)
    batches = length_grouped_batches(lengths, batch_size, seed=3, epoch=epoch)
    assert sorted(np.concatenate(batches)) == list(range(count))
    sizes = sorted(map(len, batches), reverse=True)
    assert len(batches) == -(-count // batch_size) and all(s == batch_size for s in sizes[:-1])
    assert sorted(np.concatenate(sorted_batches(lengths, batch_size))) == list(range(count))


def flat(lengths, **key) -> list[int]:
    return np.concatenate(length_grouped_batches(lengths, 8, **key)).tolist()


def test_a_pure_function_of_seed_and_epoch():
    lengths = np.random.default_rng(0).integers(4, 129, 500)
    first = flat(lengths, seed=1, epoch=2)
    np.random.seed(99)
    assert flat(lengths, seed=1, epoch=2) == first
    assert flat(lengths, seed=1, epoch=3) != first
    assert flat(lengths, seed=2, epoch=2) != first


def padding(batches: list[np.ndarray], lengths: np.ndarray) -> float:
    padded = sum(len(rows) * lengths[rows].max() for rows in batches)
    return 1 - lengths.sum() / padded


def test_little_padding_but_no_order_of_length():
    lengths = np.random.default_rng(0).integers(10, 100, 10_000)
    batches = length_grouped_batches(lengths, 32, seed=0, epoch=0)
    assert padding(batches, lengths) < 0.03
    shuffled = np.random.default_rng(1).permutation(10_000)
    assert padding(np.array_split(shuffled, 313), lengths) > 0.4
    means = [lengths[rows].mean() for rows in batches]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.15
