"""MRC: by hand, against a second search for the matching block, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest

from kobert_kit.tasks import metrics
from kobert_kit.tasks.metrics.answers import (
    character_f1,
    longest_substring_f1,
    matching_block_f1,
    normalise,
    normalise_as_meant,
)

ALL = [
    metrics.klue_mrc_em,
    metrics.mrc_em_brackets_stripped,
    metrics.klue_mrc_rouge_w,
    metrics.mrc_substring_f1,
    metrics.mrc_char_f1,
]


def asked(*answers: list[str]):
    return [{"id": f"q{number}", "answers": texts} for number, texts in enumerate(answers)]


def said(*texts: str):
    return {f"q{number}": text for number, text in enumerate(texts)}


def test_normalisation():
    assert normalise("  KBS\u00a0 뉴스\u3000(9시) ") == "kbs 뉴스 9시"
    assert normalise("12.5%") == "125" and normalise("서울-부산") == "서울부산"
    assert normalise("《토지》 ‘봄’") == "《토지》 ‘봄’"
    assert normalise("가'()‘’나") == "가 나" and normalise("가(나)다") == "가나다"
    assert normalise("!!!") == "" and normalise("한") == "한"
    assert normalise_as_meant("《토지》 ‘봄’") == "토지 봄"
    assert normalise_as_meant("가(나)다") == "가 나 다"


def test_by_hand():
    gold = asked(["세종대왕", "세종"], ["《토지》"], [], ["1919년 3월"])
    pred = said("세종", "토지", "!", "3월 1919년")
    assert metrics.klue_mrc_em(gold, pred) == 50.0
    assert metrics.mrc_em_brackets_stripped(gold, pred) == 75.0
    # 토지 is two of two and four characters; 1919년 five of eight on both sides, spaces counted.
    rouge = 100 * (1 + 4 / 6 + 1 + 5 / 8) / 4
    assert metrics.klue_mrc_rouge_w(gold, pred) == pytest.approx(rouge)
    assert metrics.mrc_substring_f1(gold, pred) == pytest.approx(rouge)
    assert metrics.mrc_char_f1(gold, pred) == pytest.approx(100 * (1 + 4 / 6 + 1 + 1) / 4)


def test_no_answer():
    gold = [{"id": "q0", "answers": [], "plausible_answers": ["서울"]}, *asked([], ["서울"])[1:]]
    for metric in ALL:
        assert metric(gold, said("", "")) == 50.0
        assert metric(gold, said("서울", "부산")) == 0.0


def test_empty_texts():
    for score in (matching_block_f1, longest_substring_f1, character_f1):
        assert score("", "") == 1.0
        assert score("", "가") == score("가", "") == score("가", "나") == 0.0


def test_frequent_characters_of_a_long_gold_begin_no_match():
    gold = "가나다라" * 50
    assert matching_block_f1(gold, gold) == 1.0
    assert matching_block_f1(gold[1:], gold) == 0.0
    assert longest_substring_f1(gold[1:], gold) == pytest.approx(2 * 199 / 399)
    assert matching_block_f1(gold[1:199], gold[:199]) == pytest.approx(2 * 198 / 397)


def longest_common(pred: str, gold: str, skip: set[str]) -> tuple[int, int, int]:
    """Ends and length of the longest common substring free of ``skip``: the first in pred, gold."""
    best, before = (0, 0, 0), [0] * (len(gold) + 1)
    for i, char in enumerate(pred, 1):
        row = [0] * (len(gold) + 1)
        for j, other in enumerate(gold, 1):
            if char == other and char not in skip:
                row[j] = before[j - 1] + 1
                if row[j] > best[2]:
                    best = (i, j, row[j])
        before = row
    return best


def block_length(pred: str, gold: str) -> int:
    """What difflib finds, in words: the rare match, then as far as both sides agree."""
    bound = len(gold) // 100 + 1 if len(gold) >= 200 else len(gold)
    end, gold_end, length = longest_common(pred, gold, {c for c in gold if gold.count(c) > bound})
    start, gold_start = end - length, gold_end - length
    while start and gold_start and pred[start - 1] == gold[gold_start - 1]:
        start, gold_start = start - 1, gold_start - 1
    while end < len(pred) and gold_end < len(gold) and pred[end] == gold[gold_end]:
        end, gold_end = end + 1, gold_end + 1
    return end - start


def random_text(rng: np.random.Generator, length: int, characters: int) -> str:
    """Few characters are frequent, the rest rare."""
    share = 1 / np.arange(1, characters + 1)
    ids = rng.choice(characters, length, p=share / share.sum())
    return "".join(chr(ord("가") + 28 * i) for i in ids)


@pytest.mark.parametrize("seed", range(12))
def test_against_a_second_search(seed):
    rng = np.random.default_rng(seed)
    length = [5, 40, 199, 200, 260, 310][seed % 6]
    gold = random_text(rng, length, 4 if seed < 6 else 150)
    start = int(rng.integers(0, length // 2))
    pred = random_text(rng, 5, 4) + gold[start : start + length // 2] + random_text(rng, 20, 30)
    total = len(pred) + len(gold)
    assert matching_block_f1(pred, gold) == pytest.approx(2 * block_length(pred, gold) / total)
    longest = longest_common(pred, gold, set())[2]
    assert longest_substring_f1(pred, gold) == pytest.approx(2 * longest / total)


@pytest.mark.parametrize("seed", range(4))
def test_what_always_holds(seed):
    rng = np.random.default_rng(seed)
    gold = asked(*([random_text(rng, int(n), 60)] for n in rng.integers(1, 300, 20)))
    pred = {q["id"]: q["answers"][0][: int(rng.integers(1, 301))] for q in gold}
    em, rouge, substring = (
        metric(gold, pred)
        for metric in (metrics.klue_mrc_em, metrics.klue_mrc_rouge_w, metrics.mrc_substring_f1)
    )
    assert 0 <= em <= rouge <= substring <= 100
    for metric in ALL:
        assert metric(gold, {q["id"]: q["answers"][0] for q in gold}) == 100.0
        assert metric(gold[::-1], pred) == pytest.approx(metric(gold, pred))
        # Another gold answer never takes anything away.
        more = [{**q, "answers": [*q["answers"], "가나"]} for q in gold]
        assert metric(more, pred) >= metric(gold, pred)


@pytest.mark.parametrize("metric", ALL)
def test_what_cannot_be_scored(metric):
    gold = asked(["가"], ["나"])
    with pytest.raises(ValueError, match="nothing to score"):
        metric([], {})
    with pytest.raises(ValueError, match="question q1: no prediction"):
        metric(gold, said("가"))
    with pytest.raises(ValueError, match="1 predictions without a question, the first is q2"):
        metric(gold, said("가", "나", "다"))
    with pytest.raises(ValueError, match="question q0 is there twice"):
        metric([gold[0], gold[0]], said("가"))
    with pytest.raises(ValueError, match="question 0: no 'id' or no 'answers'"):
        metric([{"id": "q0"}], said("가"))
    for answers in ("가", [None], [{"text": "가"}]):
        with pytest.raises(
            ValueError, match="question q0: an answer or its prediction is not text"
        ):
            metric([{"id": "q0", "answers": answers}], said("가"))
    with pytest.raises(ValueError, match="question q0: an answer or its prediction is not text"):
        metric(gold, {"q0": None, "q1": "나"})
