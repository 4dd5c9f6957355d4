"""Normalisation: what it yields, and that every character knows its source."""

import random
import unicodedata

import pytest

from kobert_kit.normalize import normalize, normalize_text

ALPHABET = (
    "Ａﾻ％가각힣국ㅋㅠ \u1112\u1161\u11ab\u110f\u1172e\u0301\u0327\u200d👨大ﬁ\u0958\u0344a\ufb1d"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("한국어", "한국어"),
        (unicodedata.normalize("NFD", "먹었습니다"), "먹었습니다"),
        ("웃기다\u110f\u110f\u110f", "웃기다ㅋㅋㅋ"),
        ("슬퍼\u1172\u1172", "슬퍼ㅠㅠ"),
        ("\u11a8\u11c2", "ㄱㅎ"),  # finals without a syllable
        ("ㅋㅋ ㅠㅠ", "ㅋㅋ ㅠㅠ"),
        ("①ﬁ㎏", "①ﬁ㎏"),  # NFKC would rewrite these
        ("ＡＢ％（１）～￦", "AB%(1)~₩"),
        ("ﾻﾻﾻ ￗￗ ｡｢｣", "ㅋㅋㅋ ㅠㅠ 。「」"),
        ("Ａ\u0301", "Á"),  # the width first, then the mark
        ("ｶﾞ", "ｶﾞ"),  # its voice mark is a character of its own
        ("제\u200b로\ufeff\x07", "제\u200b로\ufeff\x07"),
        ("", ""),
    ],
)
def test_what_it_yields(text: str, expected: str) -> None:
    assert normalize(text).text == expected
    assert normalize_text(text) == expected


def test_a_composed_syllable_stands_for_its_jamo() -> None:
    text, starts, ends = normalize("나\u1112\u1161\u11ab국")
    assert text == "나한국"
    assert list(zip(starts, ends, strict=True)) == [(0, 1), (1, 4), (4, 5)]


def test_sources_cover_the_original_in_order() -> None:
    generator = random.Random(0)
    for _ in range(3000):
        original = "".join(generator.choices(ALPHABET, k=generator.randrange(12)))
        text, starts, ends = normalize(original)
        assert text == normalize_text(original)
        assert len(text) == len(starts) == len(ends)
        # In order, without a gap or an overlap.
        assert [0, *ends] == [*starts, len(original)]
        for char, start, end in zip(text, starts, ends, strict=True):
            assert start == end or char in normalize_text(original[start:end])


def test_a_mark_that_composes_with_nothing_keeps_its_place() -> None:
    text, starts, ends = normalize("\u1102\u1175\u0301")
    assert text == "니\u0301"
    assert list(zip(starts, ends, strict=True)) == [(0, 2), (2, 3)]
    text, starts, ends = normalize("\u0958가")  # a composition exclusion becomes two characters
    assert text == "\u0915\u093c가"
    assert list(zip(starts, ends, strict=True)) == [(0, 1), (1, 1), (1, 2)]


def test_normalising_twice_changes_nothing() -> None:
    generator = random.Random(1)
    for _ in range(1000):
        once = normalize_text("".join(generator.choices(ALPHABET, k=8)))
        assert normalize_text(once) == once
