"""Does a token's chance of being masked depend on how long its word is?

Compares three ways to meet a budget of 15 %: Google's (words in shuffled order, skipping those
that no longer fit), a token budget whose crossing word is taken with probability
(what remains / its length), and ours (a word budget, rounded at random).

    python benchmarks/masking_bias.py
"""

from __future__ import annotations

import numpy as np

from kobert_kit.pretrain.masking import MaskSettings, mask_words

RATIO, ROWS, WORDS = 0.15, 20_000, 36  # about 64 tokens a row


def main() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.choice(np.arange(1, 7), (ROWS, WORDS), p=[0.5, 0.25, 0.12, 0.07, 0.04, 0.02])
    print(f"{ROWS:,} rows of {WORDS} words, {lengths.sum(1).mean():.0f} tokens on average")
    print("share of tokens masked, by the length of their word in pieces")
    print(f"{'':24}" + "".join(f"{n:>8}" for n in range(1, 7)) + f"{'all':>8}")
    for name, choose in (("skip what does not fit", skipping), ("crossing word", crossing)):
        show(name, lengths, np.stack([choose(row, rng) for row in lengths]))
    show("words, ours", lengths, ours(lengths))


def show(name: str, lengths: np.ndarray, taken: np.ndarray) -> None:
    shares = [taken[lengths == n].mean() for n in range(1, 7)]
    shares.append((taken * lengths).sum() / lengths.sum())
    print(f"{name:24}" + "".join(f"{share:8.4f}" for share in shares))


def skipping(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    taken, left = np.zeros(len(lengths), bool), max(1, round(RATIO * lengths.sum()))
    for word in rng.permutation(len(lengths)):
        if lengths[word] <= left:
            taken[word] = True
            left -= lengths[word]
    return taken


def crossing(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    taken, left = np.zeros(len(lengths), bool), RATIO * lengths.sum()
    for word in rng.permutation(len(lengths)):
        taken[word] = rng.random() * lengths[word] < left
        left -= lengths[word]
        if left <= 0:
            break
    return taken


def ours(lengths: np.ndarray) -> np.ndarray:
    flat = lengths.reshape(-1)
    words = np.repeat(np.arange(flat.size), flat)
    keys = np.column_stack([np.zeros(ROWS, int), np.arange(ROWS)])
    settings = MaskSettings(0, 4, np.arange(5, 100), RATIO)
    _, chosen = mask_words(
        np.full(len(words), 9), words, np.repeat(np.arange(ROWS), WORDS), keys, settings
    )
    return (np.bincount(words, weights=chosen) > 0).reshape(lengths.shape)


if __name__ == "__main__":
    main()
