"""Windows: every token once, whole words, never across documents, little padding."""

from __future__ import annotations

import numpy as np

from kobert_kit.pretrain.windows import cut_windows


def make_documents(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = np.r_[rng.integers(1, 900, 300), [1, 2, 62, 63, 124]]
    offsets = np.r_[0, np.cumsum(sizes)]
    starts = rng.random(offsets[-1]) < 0.6
    starts[offsets[:-1]] = True
    return offsets, starts


def test_every_token_is_in_exactly_one_window_of_its_document():
    for room in (8, 62, 126):
        offsets, starts = make_documents(room)
        windows = cut_windows(offsets, starts, room)
        assert windows[0, 0] == 0 and windows[-1, 1] == offsets[-1]
        assert (windows[1:, 0] == windows[:-1, 1]).all()
        assert (windows[:, 1] - windows[:, 0]).min() > 0
        assert (windows[:, 1] - windows[:, 0]).max() <= room
        assert np.isin(offsets[:-1], windows[:, 0]).all(), "no window crosses a document"
        inside = np.flatnonzero(~starts[windows[:, 0]])  # only after a window full of one word
        assert all(windows[i, 0] - windows[i - 1, 0] == room for i in inside)
        assert not any(starts[windows[i - 1, 0] + 1 : windows[i, 0]].any() for i in inside)


def test_few_windows_and_even_lengths():
    offsets, starts = np.array([0, 10_000]), np.ones(10_000, dtype=bool)
    windows = cut_windows(offsets, starts, 62)
    assert len(windows) == -(-10_000 // 62)
    lengths = windows[:, 1] - windows[:, 0]
    assert lengths.max() - lengths.min() <= 1


def test_a_word_longer_than_a_window_is_cut_where_the_window_ends():
    starts = np.zeros(100, dtype=bool)
    starts[0] = True
    windows = cut_windows(np.array([0, 100]), starts, 30)
    assert windows.tolist() == [[0, 30], [30, 60], [60, 90], [90, 100]]


def test_no_documents():
    assert cut_windows(np.array([0]), np.zeros(0, dtype=bool), 10).shape == (0, 2)
