"""Documents cut into training sequences of whole words that never mix documents."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def cut_windows(offsets: Array, word_starts: Array, room: int) -> Array:
    """Cut every document into the fewest windows of at most ``room`` tokens, of even length.

    Even lengths leave no short rest, so that padding stays small. A cut falls on the start of a
    word, unless one word is longer than a whole window.

    Args:
        offsets: (documents + 1,) where each document begins in the token array.
        word_starts: (tokens,) bool.
        room: tokens a sequence has beside [CLS] and [SEP].

    Returns:
        (windows, 2) int64: start and end in the token array. Every token is in exactly one.
    """
    rows: list[tuple[int, int]] = []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        while begin < end:
            count = -(-(end - begin) // room)
            cut = begin + -(-(end - begin) // count)
            if cut < end:
                cut = _word_boundary(word_starts, begin, cut, min(begin + room, end))
            rows.append((begin, cut))
            begin = cut
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _word_boundary(word_starts: Array, begin: int, wanted: int, limit: int) -> int:
    """The word start nearest after ``wanted`` (up to ``limit``), else the last one before it."""
    after = np.flatnonzero(word_starts[wanted : limit + 1])
    if len(after):
        return int(wanted + after[0])
    before = np.flatnonzero(word_starts[begin + 1 : wanted])
    return int(begin + 1 + before[-1]) if len(before) else limit
