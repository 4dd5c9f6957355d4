"""Windows of whole sentences, sequences of windows, and the order of an epoch."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kobert_kit.pretrain.packing import POOL_BATCHES, cut_windows, epoch_order, pack_windows


def make_documents(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets, sentence starts and word starts of random documents, some without sentences."""
    rng = np.random.default_rng(seed)
    sizes = np.r_[rng.integers(1, 900, 300), [1, 2, 62, 63, 124]]
    offsets = np.r_[0, np.cumsum(sizes)]
    words = rng.random(offsets[-1]) < 0.6
    sentences = words & (rng.random(offsets[-1]) < rng.choice([0, 0.02, 0.2]))
    words[offsets[:-1]] = sentences[offsets[:-1]] = True
    return offsets, sentences, words


@pytest.mark.parametrize("room", [8, 62, 126, 510])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_token_is_in_exactly_one_window_of_its_document(room: int, seed: int) -> None:
    offsets, sentences, words = make_documents(seed)
    windows = cut_windows(offsets, sentences, words, room)
    lengths = windows[:, 1] - windows[:, 0]
    assert windows[0, 0] == 0 and windows[-1, 1] == offsets[-1]
    assert (windows[1:, 0] == windows[:-1, 1]).all() and lengths.min() > 0
    assert lengths.max() <= room
    assert np.isin(offsets[:-1], windows[:, 0]).all(), "no window crosses a document"


@pytest.mark.parametrize("room", [8, 62, 126])
def test_windows_are_filled_with_whole_sentences(room: int) -> None:
    offsets, sentences, words = make_documents(room)
    document_ends = set(offsets[1:].tolist())
    for begin, end in cut_windows(offsets, sentences, words, room).tolist():
        if end in document_ends:
            continue
        reachable = np.flatnonzero(sentences[begin + 1 : begin + room + 1])
        if len(reachable):
            assert end == begin + 1 + reachable[-1], "the last sentence that fits, and no more"
        elif words[begin + 1 : begin + room + 1].any():
            assert words[end], "a long sentence is cut before a word"
        else:
            assert end == begin + room, "a long word is cut where the window ends"


def test_by_hand() -> None:
    sentences, words = np.zeros(20, dtype=bool), np.ones(20, dtype=bool)
    sentences[[0, 3, 6, 12]] = True  # sentences of 3, 3, 6 and 8 tokens
    windows = cut_windows(np.array([0, 12, 20]), sentences, words, 7)
    assert windows.tolist() == [[0, 6], [6, 12], [12, 19], [19, 20]]
    assert cut_windows(np.array([0]), words[:0], words[:0], 10).shape == (0, 2)


def test_packed_windows_fill_their_sequences() -> None:
    rng = np.random.default_rng(0)
    lengths = np.r_[rng.integers(3, 129, 5000), rng.integers(3, 20, 5000)]
    packed = pack_windows(lengths, 128)
    assert sorted(np.concatenate(packed).tolist()) == list(range(len(lengths)))
    sums = np.array([lengths[windows].sum() for windows in packed])
    assert sums.max() <= 128 and sums.sum() / (128 * len(packed)) > 0.99
    assert pack_windows(np.array([128, 64, 64, 5]), 128)[0].tolist() in ([0], [1, 2])


@pytest.mark.parametrize("count", [1, 31, 32, 33, 1000, 20_011])
def test_an_epoch_is_a_permutation_of_like_lengths(count: int) -> None:
    rng = np.random.default_rng(count)
    lengths, size = rng.integers(5, 129, count), 32
    epochs = [epoch_order(lengths, size, seed=3, epoch=epoch) for epoch in range(4)]
    for order in epochs:
        assert sorted(order.tolist()) == list(range(count))
    again = epoch_order(lengths, size, seed=3, epoch=2)
    assert (again == epochs[2]).all(), "a function of its arguments"
    if count < 1000:
        return
    assert (epochs[0] != epochs[1]).mean() > 0.9
    run = lengths[np.concatenate(epochs)]
    batches = run[: len(run) // size * size].reshape(-1, size)
    filled = batches.sum() / (batches.max(axis=1) * size).sum()
    assert filled > (0.97 if count > POOL_BATCHES * size else 0.95)
    halves = np.array_split(batches.mean(axis=1), 2)
    assert halves[0].mean() == pytest.approx(halves[1].mean(), rel=0.05), "no drift of lengths"


def test_batches_are_not_those_of_the_epoch_before() -> None:
    lengths = np.full(640, 10)
    neighbours: Counter[frozenset[int]] = Counter()
    for epoch in range(3):
        order = epoch_order(lengths, 32, 0, epoch).reshape(-1, 32)
        neighbours.update(frozenset(batch.tolist()) for batch in order)
    assert neighbours.most_common(1)[0][1] == 1
