"""Whole-word masking: the rates, the units, and that nothing but the seed decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.masking import MaskSettings, mask_words, parse_split
from kobert_kit.pretrain.token_budget import mask_within_budget
from kobert_kit.pretrain.word_spans import span_words

MASK, FIRST_ORDINARY, VOCABULARY = 4, 5, 1000

Rule = Callable[..., tuple[np.ndarray, np.ndarray]]


def mask_spans(ids, words, rows, keys, settings):
    return mask_words(ids, *span_words(words, rows, keys, settings), keys, settings)


def mask_spans_within_budget(ids, words, rows, keys, settings):
    return mask_within_budget(ids, *span_words(words, rows, keys, settings), keys, settings)


OURS: list[Rule] = [mask_words, mask_spans]
ALL: list[Rule] = [*OURS, mask_within_budget, mask_spans_within_budget]


def settings(seed: int = 0, ratio: float = 0.15) -> MaskSettings:
    return MaskSettings(seed, MASK, np.arange(FIRST_ORDINARY, VOCABULARY), ratio)


def make_batch(
    rows: int, seed: int = 0, most_words: int = 60
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of words of 1 to 6 pieces; returns ids, words, word rows, keys, and word lengths."""
    rng = np.random.default_rng(seed)
    words_in_row = rng.integers(1, most_words, rows)
    return lay_out(rng, words_in_row, rng.integers(1, 7, words_in_row.sum()))


def lay_out(rng, words_in_row, lengths):
    word_rows = np.repeat(np.arange(len(words_in_row)), words_in_row)
    words = np.repeat(np.arange(len(lengths)), lengths)
    ids = rng.integers(FIRST_ORDINARY, VOCABULARY, len(words))
    keys = np.column_stack([np.zeros_like(words_in_row), np.arange(len(words_in_row))])
    return ids, words, word_rows, keys, lengths


def repeated(words: int, times: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One sequence of one-piece words in many epochs."""
    places = np.arange(words * times)
    keys = np.column_stack([np.arange(times), np.full(times, 7)])
    return np.full(words * times, 9), places, places // words, keys


@pytest.mark.parametrize("rule", ALL)
def test_random_batches_are_masked_in_whole_words_and_else_untouched(rule: Rule):
    rng = np.random.default_rng(1)
    replacements = rng.choice(np.arange(FIRST_ORDINARY, VOCABULARY), 50, replace=False)
    for seed in range(100):
        words_in_row = rng.choice([1, 1, 2, 3, 10, 40], rng.integers(1, 9))
        lengths = rng.choice([1, 2, 3, 5, 200], words_in_row.sum(), p=[0.5, 0.25, 0.14, 0.1, 0.01])
        ids, words, rows, keys, _ = lay_out(rng, words_in_row, lengths)
        ratio = rng.choice([0.05, 0.15, 0.5])
        how = replace(settings(seed, ratio), replacements=replacements)
        before = ids.copy()
        masked, chosen = rule(ids, words, rows, keys, how)
        assert (ids == before).all() and (masked[~chosen] == ids[~chosen]).all()
        assert set(masked[masked != ids]) <= {MASK, *replacements}, "no special token is drawn"
        per_word = np.bincount(words, weights=chosen)
        assert (np.isin(per_word, 0) | (per_word == lengths)).all(), "words are chosen whole"
        if rule in OURS:
            assert (np.bincount(rows, weights=per_word) > 0).all(), "none is left whole"


@pytest.mark.parametrize(("rule", "tolerance"), [(mask_words, 0.003), (mask_spans, 0.005)])
def test_rates_over_a_million_tokens(rule: Rule, tolerance: float):
    ids, words, rows, keys, lengths = make_batch(10_000)
    assert len(ids) > 1_000_000
    masked, chosen = rule(ids, words, rows, keys, settings())
    long_rows = np.bincount(rows)[rows] >= 7  # shorter ones are lifted by "at least one word"
    in_long = long_rows[words]
    assert chosen[in_long].mean() == pytest.approx(0.15, abs=0.0015)
    by_length = [chosen[in_long & (lengths[words] == n)].mean() for n in range(1, 7)]
    assert by_length == pytest.approx([0.15] * 6, abs=tolerance), "no length is favoured"
    assert (masked[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.01)
    assert (masked[chosen] == ids[chosen]).mean() == pytest.approx(0.1, abs=0.01)


def test_a_budget_in_tokens_favours_short_words():
    ids, words, rows, keys, lengths = make_batch(10_000)
    masked, chosen = mask_within_budget(ids, words, rows, keys, settings())
    by_length = [chosen[lengths[words] == n].mean() for n in range(1, 7)]
    assert by_length == sorted(by_length, reverse=True)
    assert by_length[0] > 1.1 * 0.15 and by_length[-1] < 0.9 * 0.15
    assert (masked[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.01)
    assert (masked[chosen] == ids[chosen]).mean() == pytest.approx(0.1, abs=0.01)


def test_a_budget_in_tokens_is_kept_and_used_as_far_as_words_fit():
    ids, words, rows, keys, lengths = make_batch(2_000)
    _, chosen = mask_within_budget(ids, words, rows, keys, settings())
    tokens = np.bincount(rows, weights=lengths)
    budget = np.array([max(1, round(0.15 * n)) for n in tokens])
    left = budget - np.bincount(rows[words], weights=chosen)
    assert left.min() == 0
    passed_over = np.bincount(words, weights=chosen) == 0
    assert (lengths > left[rows])[passed_over].all()


def test_a_budget_in_tokens_leaves_a_sequence_whole_that_has_only_longer_words():
    words = np.repeat([0, 1, 2], 4)  # 12 tokens: a budget of 2
    ids, rows, keys = np.arange(10, 22), np.zeros(3, int), np.array([[0, 0]])
    masked, chosen = mask_within_budget(ids, words, rows, keys, settings())
    assert not chosen.any() and (masked == ids).all()


@pytest.mark.parametrize(
    ("rule", "words"),
    [*((rule, words) for rule in OURS for words in (8, 13, 40)), (mask_within_budget, 40)],
)
def test_every_word_has_the_same_chance_wherever_it_stands(rule: Rule, words: int):
    _, chosen = rule(*repeated(words, 20_000), settings())
    assert chosen.reshape(-1, words).mean(0) == pytest.approx(np.full(words, 0.15), abs=0.012)


@pytest.mark.parametrize(("ratio", "fewest", "most"), [(0.15, 6, 6), (0.16, 6, 7), (0.4, 16, 16)])
def test_a_sequence_takes_the_ratio_of_its_words_rounded(ratio: float, fewest: int, most: int):
    _, chosen = mask_words(*repeated(40, 2_000), settings(ratio=ratio))
    taken = chosen.reshape(-1, 40).sum(1)
    assert (taken.min(), taken.max()) == (fewest, most)
    assert taken.mean() == pytest.approx(40 * ratio, abs=0.05)


@pytest.mark.parametrize("rule", OURS)
def test_a_unit_is_replaced_as_one(rule: Rule):
    ids, words, rows, keys, _ = make_batch(2_000)
    masked, _ = rule(ids, words, rows, keys, settings())
    units = span_words(words, rows, keys, settings())[0] if rule is mask_spans else words
    is_mask = np.bincount(units, weights=masked == MASK)
    assert set(np.unique(is_mask / np.bincount(units))) == {0.0, 1.0}


def test_within_a_budget_each_piece_of_a_word_has_its_own_fate():
    ids, words, rows, keys, lengths = make_batch(5_000)
    masked, chosen = mask_within_budget(ids, words, rows, keys, settings())
    pairs = (np.bincount(words, weights=chosen) == 2) & (lengths == 2)
    masks = np.bincount(words, weights=masked == MASK)[pairs]
    shares = np.bincount(masks.astype(int)) / len(masks)
    assert shares == pytest.approx([0.04, 0.32, 0.64], abs=0.02), "0, 1 and 2 of the pieces"


@pytest.mark.parametrize("rule", [mask_words, mask_within_budget])
def test_random_pieces_cover_the_vocabulary_evenly(rule: Rule):
    ids, words, rows, keys, _ = make_batch(10_000)
    masked, chosen = rule(ids, words, rows, keys, settings())
    drawn = masked[chosen & (masked != MASK) & (masked != ids)]
    halves = (drawn < (FIRST_ORDINARY + VOCABULARY) // 2).mean()
    assert halves == pytest.approx(0.5, abs=0.02)
    assert len(np.unique(drawn)) > 0.95 * (VOCABULARY - FIRST_ORDINARY)


@pytest.mark.parametrize("rule", ALL)
@pytest.mark.parametrize("split", ["100/0/0", "0/100/0", "0/0/100", "60/10/30"])
def test_the_split_is_the_one_asked_for(rule: Rule, split: str):
    ids, words, rows, keys, _ = make_batch(3_000)
    mask_share, random_share = parse_split(split)
    how = replace(settings(), mask_share=mask_share, random_share=random_share)
    masked, chosen = rule(ids, words, rows, keys, how)
    became_mask, stayed = masked[chosen] == MASK, masked[chosen] == ids[chosen]
    shares = [became_mask.mean(), (~became_mask & ~stayed).mean(), stayed.mean()]
    by_luck = 0.01  # random pieces that are what was there, and chance
    assert shares == pytest.approx([float(part) / 100 for part in split.split("/")], abs=by_luck)
    assert (chosen == rule(ids, words, rows, keys, settings())[1]).all(), "the choice is another"


@pytest.mark.parametrize("rule", ALL)
def test_masks_depend_on_seed_epoch_and_example_alone(rule: Rule):
    ids, words, rows, keys, _ = make_batch(50)
    masked, chosen = rule(ids, words, rows, keys, settings())
    for row in range(50):  # alone, as in any other batch
        mine = rows[words] == row
        alone_words = words[mine] - words[mine][0]
        alone, alone_chosen = rule(
            ids[mine], alone_words, np.zeros(alone_words[-1] + 1, int), keys[[row]], settings()
        )
        assert (alone == masked[mine]).all() and (alone_chosen == chosen[mine]).all()
    next_epoch, next_example = keys + np.array([1, 0]), keys + np.array([0, 1])
    others = [(next_epoch, settings()), (next_example, settings()), (keys, settings(seed=1))]
    for other_keys, other in others:
        assert (rule(ids, words, rows, other_keys, other)[1] != chosen).mean() > 0.1


@pytest.mark.parametrize("rule", OURS)
def test_one_word_longer_than_the_budget_is_still_masked(rule: Rule):
    ids, one = np.arange(10, 510), np.zeros(500, int)
    masked, chosen = rule(ids, one, np.zeros(1, int), np.array([[0, 0]]), settings())
    assert chosen.all()
    assert len(masked) == 500


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (mask_words, {11: 4, 12: 39, 13: 4, 17: 4, 25: 4, 33: 4}),
        (mask_spans, {**dict.fromkeys([*range(25, 30), 39], 4), 30: 39, 31: 25, 32: 66}),
        (mask_within_budget, {11: 4, 12: 4, 13: 9, 17: 83, 25: 4, 33: 4}),
    ],
)
def test_masks_are_the_same_in_every_version(rule: Rule, expected: dict[int, int]):
    """A run that a newer version continues, or evaluates, meets the masks that it began with."""
    ids, words, rows, _ = repeated(40, 1)
    how = replace(settings(seed=5), replacements=np.arange(10, 100))
    masked, chosen = rule(ids, words, rows, np.array([[1, 9]]), how)
    assert {place: masked[place] for place in np.flatnonzero(chosen)} == expected


def test_spans_are_runs_of_whole_words_of_one_sequence():
    _, words, rows, keys, _ = make_batch(500)
    spans, span_rows = span_words(words, rows, keys, settings())
    assert spans[0] == 0 and set(np.diff(spans)) <= {0, 1}, "counted through"
    assert len(span_rows) == spans[-1] + 1
    assert (span_rows[spans] == rows[words]).all()
    first_of_word = np.searchsorted(words, words)
    assert (spans == spans[first_of_word]).all()


def test_span_lengths_are_geometric_up_to_ten_words():
    _, words, rows, keys = repeated(100, 20_000)
    spans, span_rows = span_words(words, rows, keys, settings())
    lengths = np.bincount(spans)
    place = np.arange(len(span_rows)) - np.searchsorted(span_rows, span_rows)
    uncut = lengths[place < 9]  # the tenth may already meet the sequence's end
    expected = 0.2 * 0.8 ** np.arange(10) / (1 - 0.8**10)
    shares = np.bincount(uncut, minlength=11) / len(uncut)
    assert shares == pytest.approx([0, *expected], abs=0.003)
    assert uncut.mean() == pytest.approx(3.8, abs=0.02), "Joshi et al. 2020, figure 2"
    assert lengths.max() == 10


@pytest.mark.parametrize(("words", "longest"), [(1, 1), (13, 1), (14, 2), (40, 6), (67, 10)])
def test_a_span_is_no_longer_than_the_budget_of_its_sequence(words: int, longest: int):
    _, places, rows, keys = repeated(words, 2_000)
    assert np.bincount(span_words(places, rows, keys, settings())[0]).max() == longest


def test_split_is_read_as_percentages():
    assert parse_split("80/10/10") == (0.8, 0.1)
    assert parse_split("100/0/0") == (1.0, 0.0)
    assert parse_split(" 33.3 / 33.3 / 33.4 ") == pytest.approx((0.333, 0.333))


@pytest.mark.parametrize(
    "text",
    ["", "80", "80/20", "80/10/5/5", "80/10/11", "90/20/-10", "80/10/ten", "80,10,10", "nan/0/100"],
)
def test_a_split_that_is_none_is_refused(text: str):
    with pytest.raises(UsageError, match=r"--mask-split .*add to 100"):
        parse_split(text)
