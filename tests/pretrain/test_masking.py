"""Whole-word masking: the rates, the units, and that nothing but the seed decides."""

from __future__ import annotations

import numpy as np
import pytest

from kobert_kit.pretrain.masking import MaskSettings, mask_words

MASK, FIRST_ORDINARY, VOCABULARY = 4, 5, 1000


def settings(seed: int = 0, ratio: float = 0.15) -> MaskSettings:
    return MaskSettings(seed, MASK, np.arange(FIRST_ORDINARY, VOCABULARY), ratio)


def make_batch(
    rows: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of words of 1 to 6 pieces; returns ids, words, word rows, keys, and word lengths."""
    rng = np.random.default_rng(seed)
    words_in_row = rng.integers(1, 60, rows)
    word_rows = np.repeat(np.arange(rows), words_in_row)
    lengths = rng.integers(1, 7, len(word_rows))
    words = np.repeat(np.arange(len(word_rows)), lengths)
    ids = rng.integers(FIRST_ORDINARY, VOCABULARY, len(words))
    keys = np.column_stack([np.zeros(rows, dtype=np.int64), np.arange(rows)])
    return ids, words, word_rows, keys, lengths


def test_words_are_chosen_whole_and_the_rest_is_untouched():
    ids, words, rows, keys, lengths = make_batch(500)
    masked, chosen = mask_words(ids, words, rows, keys, settings())
    per_word = np.bincount(words, weights=chosen)
    assert set(per_word[per_word > 0] - lengths[per_word > 0]) == {0}
    assert (masked[~chosen] == ids[~chosen]).all()
    assert (np.bincount(rows, weights=per_word) > 0).all(), "every sequence has a masked word"
    assert masked.min() >= MASK, "a random piece is never a special token"


def test_rates_over_a_million_tokens():
    ids, words, rows, keys, lengths = make_batch(10_000)
    assert len(ids) > 1_000_000
    masked, chosen = mask_words(ids, words, rows, keys, settings())
    long_rows = np.bincount(rows)[rows] >= 20  # short ones are lifted by "at least one word"
    in_long = long_rows[words]
    assert chosen[in_long].mean() == pytest.approx(0.15, abs=0.001)
    by_length = [chosen[in_long & (lengths[words] == n)].mean() for n in range(1, 7)]
    assert by_length == pytest.approx([0.15] * 6, abs=0.003), "no length is favoured"
    assert (masked[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.01)
    assert (masked[chosen] == ids[chosen]).mean() == pytest.approx(0.1, abs=0.01)


def test_a_word_is_replaced_as_one():
    ids, words, rows, keys, _ = make_batch(2_000)
    masked, chosen = mask_words(ids, words, rows, keys, settings())
    is_mask = np.bincount(words, weights=(masked == MASK) & chosen)
    size = np.bincount(words)
    assert set(np.unique(is_mask / size)) <= {0.0, 1.0}


def test_random_pieces_cover_the_vocabulary_evenly():
    ids, words, rows, keys, _ = make_batch(10_000)
    masked, chosen = mask_words(ids, words, rows, keys, settings())
    drawn = masked[chosen & (masked != MASK) & (masked != ids)]
    halves = (drawn < (FIRST_ORDINARY + VOCABULARY) // 2).mean()
    assert halves == pytest.approx(0.5, abs=0.02)
    assert len(np.unique(drawn)) > 0.95 * (VOCABULARY - FIRST_ORDINARY)


def test_masks_depend_on_seed_epoch_and_example_alone():
    ids, words, rows, keys, _ = make_batch(50)
    masked, chosen = mask_words(ids, words, rows, keys, settings())
    for row in (0, 17, 49):  # alone, as in any other batch
        mine = rows[words] == row
        alone_words = words[mine] - words[mine][0]
        alone, alone_chosen = mask_words(
            ids[mine], alone_words, np.zeros(alone_words[-1] + 1, int), keys[[row]], settings()
        )
        assert (alone == masked[mine]).all() and (alone_chosen == chosen[mine]).all()
    for other_keys, other in ((keys + np.array([1, 0]), settings()), (keys, settings(seed=1))):
        assert (mask_words(ids, words, rows, other_keys, other)[1] != chosen).mean() > 0.1


def test_one_word_longer_than_the_budget_is_still_masked():
    ids = np.arange(10, 15)
    masked, chosen = mask_words(
        ids, np.zeros(5, int), np.zeros(1, int), np.array([[0, 0]]), settings()
    )
    assert chosen.all()
    assert len(masked) == 5
