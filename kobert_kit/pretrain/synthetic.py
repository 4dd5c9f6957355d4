"""Masked batches without a corpus: made-up text that costs what real text costs."""

from __future__ import annotations

import numpy as np
import torch

from kobert_kit.pretrain.batches import MaskedBatch
from kobert_kit.pretrain.masking import MaskSettings, mask_words

PAD, CLS, SEP, MASK, FIRST_PIECE = 0, 2, 3, 4, 5
WORD_BEGINS = 0.5  # words of two tokens on average, half of them of one
MIN_ROWS = 1024


class SyntheticText:
    """Rows of random ids, all full, as frequent as words are (Zipf-Mandelbrot), in words.

    Full rows are the shape that most sequences of a corpus have; the rest would be padding.
    """

    def __init__(self, vocab_size: int, length: int, batch_size: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        shape = (max(MIN_ROWS, 4 * batch_size), length - 2)
        weights = 1.0 / (np.arange(vocab_size - FIRST_PIECE) + 2.7)
        drawn = rng.choice(len(weights), shape, p=weights / weights.sum())
        self.ids = (FIRST_PIECE + drawn).astype(np.int32)
        self.starts = rng.random(shape) < WORD_BEGINS
        self.masks = MaskSettings(seed, MASK, np.arange(FIRST_PIECE, vocab_size))
        self.vocab_size, self.batch_size = vocab_size, batch_size

    def frequencies(self) -> np.ndarray:
        """(vocab_size,) how often each id occurs."""
        return np.bincount(self.ids.reshape(-1), minlength=self.vocab_size)

    def batch(self, step: int) -> MaskedBatch:
        epochs, rows = divmod(
            np.arange(step * self.batch_size, (step + 1) * self.batch_size), len(self.ids)
        )
        keys = np.column_stack([epochs, rows])
        return mask_full_rows(self.ids[rows], self.starts[rows], keys, self.masks, CLS, SEP)


def mask_full_rows(
    ids: np.ndarray,
    starts: np.ndarray,
    keys: np.ndarray,
    masks: MaskSettings,
    cls_id: int,
    sep_id: int,
) -> MaskedBatch:
    """A masked batch of sequences of one length.

    Args:
        ids: (rows, tokens) without special tokens.
        starts: (rows, tokens) bool: the token begins a word; the first of a row does anyway.
        keys: (rows, 2) epoch and example, which decide the masks.
    """
    count, room = ids.shape
    begins = starts.copy()
    begins[:, 0] = True
    flat = begins.reshape(-1)
    rows = np.repeat(np.arange(count), room)
    true = ids.reshape(-1).astype(np.int64)
    masked, chosen = mask_words(true, np.cumsum(flat) - 1, rows[flat], keys, masks)
    grid = np.empty((count, room + 2), dtype=np.int64)
    grid[:, 0], grid[:, -1] = cls_id, sep_id
    grid[:, 1:-1] = masked.reshape(count, room)
    predicted = np.zeros(grid.shape, dtype=bool)
    predicted[:, 1:-1] = chosen.reshape(count, room)
    return MaskedBatch(
        input_ids=torch.from_numpy(grid),
        attention_mask=None,
        positions=torch.from_numpy(np.flatnonzero(predicted)),
        labels=torch.from_numpy(true[chosen]),
        tokens=grid.size,
    )
