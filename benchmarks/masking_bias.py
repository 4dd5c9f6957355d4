"""Does a token's chance of being masked depend on how long its word is?

Compares ways to meet a ratio of 15 %: Google's (a token budget; words in random order, skipping
those that no longer fit), a token budget whose crossing word is taken with probability
(what remains / its length), and ours (a word budget, rounded at random) with words and with
spans of words. All but the crossing word are the toolkit's own code.

    python benchmarks/masking_bias.py
"""

from __future__ import annotations

import numpy as np

from kobert_kit.pretrain.masking import MaskSettings, mask_words
from kobert_kit.pretrain.token_budget import mask_within_budget
from kobert_kit.pretrain.word_spans import span_words

RATIO, ROWS, WORDS = 0.15, 20_000, 36  # about 71 tokens a row
SETTINGS = MaskSettings(0, 4, np.arange(5, 100), RATIO)


def main() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.choice(np.arange(1, 7), (ROWS, WORDS), p=[0.5, 0.25, 0.12, 0.07, 0.04, 0.02])
    rows = np.repeat(np.arange(ROWS), WORDS)
    words = np.repeat(np.arange(ROWS * WORDS), lengths.reshape(-1))
    ids = np.full(len(words), 9)
    keys = np.column_stack([np.zeros(ROWS, int), np.arange(ROWS)])
    spans, span_rows = span_words(words, rows, keys, SETTINGS)

    print(f"{ROWS:,} rows of {WORDS} words, {len(words) / ROWS:.0f} tokens on average")
    print("share of tokens masked, by the length of their word in pieces")
    print(f"{'':24}" + "".join(f"{n:>8}" for n in range(1, 7)) + f"{'all':>8}")
    of_token = lengths.reshape(-1)[words]
    show("token budget, Google's", of_token, mask_within_budget(ids, words, rows, keys, SETTINGS))
    crossed = np.stack([crossing(row, rng) for row in lengths]).reshape(-1)[words]
    show("token budget, crossing", of_token, (ids, crossed))
    show("words, ours", of_token, mask_words(ids, words, rows, keys, SETTINGS))
    show("spans of words, ours", of_token, mask_words(ids, spans, span_rows, keys, SETTINGS))


def show(name: str, lengths: np.ndarray, result: tuple[np.ndarray, np.ndarray]) -> None:
    _, chosen = result
    shares = [*(chosen[lengths == n].mean() for n in range(1, 7)), chosen.mean()]
    print(f"{name:24}" + "".join(f"{share:8.4f}" for share in shares))


def crossing(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    taken, left = np.zeros(len(lengths), bool), RATIO * lengths.sum()
    for word in rng.permutation(len(lengths)):
        taken[word] = rng.random() * lengths[word] < left
        left -= lengths[word]
        if left <= 0:
            break
    return taken


if __name__ == "__main__":
    main()
