"""Documents cut into training sequences, and sequences into batches, with little padding.

A window is a run of whole sentences of one document. Windows never mix documents; several may
share a sequence where packing is asked for, and then they do not see each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque

import numpy as np

Array = np.ndarray

# Batches whose sequences are sorted by length together. With 50, sequences of a batch differ by a
# token or two, and the order of training stays random.
POOL_BATCHES = 50


def cut_windows(offsets: Array, sentences: Array, words: Array, room: int) -> Array:
    """Fill windows of at most ``room`` tokens with whole sentences, document by document.

    A sentence that is longer is cut before a word, and a word that is longer anywhere.

    Args:
        offsets: (documents + 1,) where each document begins in the token array.
        sentences: (tokens,) bool, the token begins a sentence.
        words: (tokens,) bool, the token begins a word.
        room: tokens of a window, without [CLS] and [SEP].

    Returns:
        (windows, 2) int64: start and end in the token array. Every token is in exactly one.
    """
    sentence_places = np.flatnonzero(sentences).tolist()
    rows: list[tuple[int, int]] = []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        while begin < end:
            limit = begin + room
            if limit >= end:
                cut = end
            else:
                cut = _last(sentence_places, limit)
                if cut <= begin:
                    inside = np.flatnonzero(words[begin + 1 : limit + 1])
                    cut = int(begin + 1 + inside[-1]) if len(inside) else limit
            rows.append((begin, cut))
            begin = cut
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _last(places: list[int], limit: int) -> int:
    """The last of the sorted ``places`` that is not after ``limit``; -1 if there is none."""
    found = bisect_right(places, limit)
    return places[found - 1] if found else -1


def pack_windows(lengths: Array, room: int) -> list[Array]:
    """Put windows into sequences of at most ``room`` tokens, longest first, tightest fit.

    ``lengths`` (windows,) count what a window takes in a sequence. Working with the free room of
    sequences instead of the sequences themselves takes linear time (Krell et al. 2021).

    Returns:
        For each sequence the numbers of its windows.
    """
    free: list[deque[list[int]]] = [deque() for _ in range(room + 1)]
    for window in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[window])
        space = next((space for space in range(length, room) if free[space]), room)
        sequence = free[space].popleft() if free[space] else []
        sequence.append(window)
        free[space - length].append(sequence)
    return [np.array(sequence) for sequences in free for sequence in sequences]


def epoch_order(lengths: Array, batch_size: int, seed: int, epoch: int) -> Array:
    """The order in which an epoch goes through the sequences: random, similar lengths together.

    Batch b of a run holds the sequences ``batch_size * b`` and following of all epochs laid end
    to end, so the first batch of an epoch may have begun in the one before.

    Args:
        lengths: (sequences,) in tokens.

    Returns:
        (sequences,) a permutation, a function of the arguments alone.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths))
    begun = -epoch * len(lengths) % batch_size
    rest = order[begun:]
    places = np.arange(len(rest))
    rest = rest[np.lexsort((lengths[rest], places // (POOL_BATCHES * batch_size)))]
    batches = places // batch_size
    keys = random.random(len(rest) // batch_size + 1)
    keys[len(rest) // batch_size] = 1  # what is left over goes on in the next epoch
    shuffled = rest[np.lexsort((keys[batches], batches // POOL_BATCHES))]
    joined: Array = np.concatenate([order[:begun], shuffled])
    return joined
