"""Whole-word masking as a pure function of (seed, epoch, example).

Every random number is a hash of those three and the word's place, so masks are new in each epoch
and yet the same after a resume, in any batch, on any worker. What counts as a word is the
caller's: morphemes, eojeols, or spans of them (`kobert_kit.pretrain.word_spans`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.draws import LAST, Purpose, WordDraws, uniform

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


def parse_split(text: str) -> tuple[float, float]:
    """``mask_share`` and ``random_share`` from percentages: "80/10/10" is (0.8, 0.1).

    Raises:
        UsageError: not three numbers, one is negative, or they do not add to 100.
    """
    try:
        mask, random, keep = (float(part) for part in text.split("/"))
    except ValueError:
        mask = random = keep = -1.0
    if not (min(mask, random, keep) >= 0 and abs(mask + random + keep - 100) < 1e-6):
        raise UsageError(
            f"--mask-split {text}: per cent of the chosen words that become [MASK], that become "
            "random pieces, and that stay; three numbers that add to 100, such as 80/10/10"
        )
    return mask / 100, random / 100


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
    A budget counted in tokens favours short words (`kobert_kit.pretrain.token_budget`). At least
    one word a sequence is taken. A word is masked, replaced or kept as one.
    """
    draws = WordDraws(rows, keys, settings.seed)
    wanted = np.maximum(1, np.floor(settings.ratio * draws.counts + uniform(draws.of_rows)))
    # A sequence takes its `wanted` lowest numbers: all up to the one at that place in their order.
    numbers = draws.of_words(Purpose.ORDER)
    lowest = draws.grid(numbers, LAST)
    lowest.sort(axis=1)
    taken = numbers <= lowest[np.arange(len(keys)), wanted.astype(np.int64) - 1][rows]

    chosen = taken[words]
    tokens = np.flatnonzero(chosen)
    kinds = uniform(draws.of_words(Purpose.KIND, words[tokens]))
    return replace(ids, words, tokens, kinds, draws, settings), chosen


def replace(
    ids: Array, words: Array, tokens: Array, kinds: Array, draws: WordDraws, settings: MaskSettings
) -> Array:
    """The ids once the chosen ``tokens`` are hidden, each according to its kind.

    Args:
        tokens: (chosen,) where the tokens to be predicted are in ``ids``.
        kinds: (chosen,) in [0, 1): below ``mask_share`` a token becomes [MASK], in the next
            ``random_share`` a random piece, and from there on it stays.
    """
    masked = ids.astype(np.int64)
    masked[tokens[kinds < settings.mask_share]] = settings.mask_id
    random = (kinds >= settings.mask_share) & (kinds < settings.mask_share + settings.random_share)
    where = tokens[random]
    drawn = draws.of_pieces(Purpose.PIECE, words, where)
    masked[where] = settings.replacements[drawn % np.uint64(len(settings.replacements))]
    return masked
