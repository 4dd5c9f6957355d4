"""Kiwi's sentences, as spans of the text that was passed in."""

from __future__ import annotations

import pytest

from kobert_kit.corpus.sentences import sentence_spans
from kobert_kit.morphology.kiwi_sentences import kiwi_sentence_starts


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, kiwi_sentence_starts(text))]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("비가 왔다. 우산을 썼다!  젖었다", ["비가 왔다.", "우산을 썼다!", "젖었다"]),
        (
            "  앞에 빈칸이 있다.\n둘째 줄이다.\n\n셋째",
            ["앞에 빈칸이 있다.", "둘째 줄이다.", "셋째"],
        ),
        ("평점은 3.5점이고 2024. 5. 1.에 나왔다.", ["평점은 3.5점이고 2024. 5. 1.에 나왔다."]),
        (" \n ", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_sentence_needs_no_full_stop() -> None:
    assert len(sentences("저는 밥을 먹었습니다 그리고 학교에 갔습니다")) == 2


def test_a_long_line_is_split_like_a_short_one() -> None:
    line = "아침에는 비가 내렸다. 점심에는 해가 떴다. "
    assert sentences(line * 200) == ["아침에는 비가 내렸다.", "점심에는 해가 떴다."] * 200
    assert "".join(sentences("가" * 9_000)) == "가" * 9_000
