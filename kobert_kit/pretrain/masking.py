"""Whole-word masking as a pure function of (seed, epoch, example).

Every random number is a hash of those three and the word's place, so masks are new in each epoch
and yet the same after a resume, in any batch, on any worker. Nothing is drawn in sequence and
nothing needs saving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class MaskSettings:
    """``ratio`` of the tokens is predicted; of the chosen words ``mask_share`` become [MASK],
    ``random_share`` random pieces, and the rest stay (Devlin et al. 2019: .15, .8, .1)."""

    seed: int
    mask_id: int
    replacements: Array  # ids that a random replacement is drawn from
    ratio: float = 0.15
    mask_share: float = 0.8
    random_share: float = 0.1


def mask_words(
    ids: Array, words: Array, rows: Array, keys: Array, settings: MaskSettings
) -> tuple[Array, Array]:
    """Choose and mask whole words in the sequences of a batch, laid out flat.

    Args:
        ids: (tokens,) token ids, without special tokens.
        words: (tokens,) the number of each token's word, counted through from 0.
        rows: (words,) the number of the sequence that each word belongs to, counted through.
        keys: (rows, 2) epoch and example of each sequence.

    Returns:
        The ids after masking (tokens,), and which tokens are to be predicted (tokens,) bool.

    Of the n words of a sequence, ``ratio`` * n are taken, rounded up or down at random so that
    this is the mean: every word, of any length, has the same chance, and so has every token.
    A budget counted in tokens favours short words, which fit under it more often, by a fifth at
    71 tokens (benchmarks/masking_bias.py). At least one word a sequence is taken.
    """
    counts = np.bincount(rows)
    place = np.arange(len(rows)) - _first_of_run(rows)
    epochs, examples = keys.astype(np.uint64).T
    streams = _mix(_mix(np.uint64(settings.seed), epochs), examples)
    draws = [_mix(_mix(streams[rows], place.astype(np.uint64)), np.uint64(i)) for i in range(3)]

    wanted = np.maximum(1, np.floor(settings.ratio * counts + _uniform(streams)))
    order = np.lexsort((draws[0], rows))
    taken = np.zeros(len(rows), dtype=bool)
    taken[order] = place < wanted[rows]

    kind = _uniform(draws[1])
    to_mask = taken & (kind < settings.mask_share)
    to_random = taken & ~to_mask & (kind < settings.mask_share + settings.random_share)
    masked = np.where(to_mask[words], settings.mask_id, ids)
    inside = (np.arange(len(ids)) - _first_of_run(words)).astype(np.uint64)
    drawn = _mix(draws[2][words], inside) % np.uint64(len(settings.replacements))
    masked = np.where(to_random[words], settings.replacements[drawn], masked)
    return masked, taken[words]


def _first_of_run(values: Array) -> Array:
    """For each element the index at which its run of equal values begins."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    first: Array = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    return first


def _mix(state: Array | np.uint64, value: Array | np.uint64) -> Array:
    """Fold ``value`` into ``state``: the finaliser of SplitMix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        z = np.atleast_1d(state) * np.uint64(0x9E3779B97F4A7C15) + value
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: Array = z ^ (z >> np.uint64(31))
    return mixed


def _uniform(bits: Array) -> Array:
    """Hashes to floats in [0, 1)."""
    values: Array = (bits >> np.uint64(11)) * (1.0 / (1 << 53))
    return values
