"""Whole-word masking as Google's BERT does it, to compare with: a budget counted in tokens."""

from __future__ import annotations

import numpy as np

from kobert_kit.pretrain.draws import LAST, Purpose, WordDraws, uniform
from kobert_kit.pretrain.masking import MaskSettings, replace

Array = np.ndarray
TOO_LONG = np.iinfo(np.int64).max


def mask_within_budget(
    ids: Array, words: Array, rows: Array, keys: Array, settings: MaskSettings
) -> tuple[Array, Array]:
    """Choose whole words up to ``ratio`` of a sequence's tokens; each piece has its own fate.

    Arguments and returns are those of `kobert_kit.pretrain.masking.mask_words`.

    The budget is ``ratio`` times the tokens, rounded to the nearest (.5 to even), at least 1.
    The words are taken in random order, and one longer than what is left is skipped, even the
    first: a sequence that has only longer words stays whole, with nothing to predict. Long words
    are skipped most (benchmarks/masking_bias.py). Whether a piece becomes [MASK], a random piece
    or stays is drawn for each piece of a word (Devlin et al. 2019, with their later whole-word
    masking). Theirs counts [CLS] and [SEP] into the tokens, stops at a fixed number of
    predictions, and draws random pieces from the whole vocabulary, special tokens included.
    """
    draws = WordDraws(rows, keys, settings.seed)
    lengths = np.bincount(words)
    left = np.rint(settings.ratio * np.bincount(rows, lengths, len(keys)))
    left = np.maximum(1, left).astype(np.int64)
    order = np.argsort(draws.grid(draws.of_words(Purpose.ORDER), LAST), axis=1)
    shuffled = np.take_along_axis(draws.grid(lengths, TOO_LONG), order, axis=1)
    fits = np.zeros(shuffled.shape, dtype=bool)
    for turn in range(shuffled.shape[1]):  # one word of every sequence at a time
        fits[:, turn] = shuffled[:, turn] <= left
        left -= np.where(fits[:, turn], shuffled[:, turn], 0)
    taken = np.empty_like(fits)
    np.put_along_axis(taken, order, fits, axis=1)

    chosen = taken[draws.inside][words]
    tokens = np.flatnonzero(chosen)
    kinds = uniform(draws.of_pieces(Purpose.KIND, words, tokens))
    return replace(ids, words, tokens, kinds, draws, settings), chosen
