"""Sentence starts: right on the usual traps, and linear on hostile text."""

from __future__ import annotations

import time

import pytest

from kobert_kit.corpus.sentences import sentence_starts


def sentences(text: str) -> list[str]:
    starts = sentence_starts(text)
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=False)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("비가 왔다. 우산을 썼다!  젖었다", ["비가 왔다.", "우산을 썼다!", "젖었다"]),
        ("첫 줄\n둘째 줄\n\n셋째 줄", ["첫 줄", "둘째 줄", "셋째 줄"]),
        ('"정말?" 그가 물었다.', ['"정말?"', "그가 물었다."]),
        ("2024. 5. 1. 시행한다. 1. 목적", ["2024. 5. 1. 시행한다.", "1. 목적"]),
        ("J. Kim이 3.5점을 받았다.", ["J. Kim이 3.5점을 받았다."]),
        ("와...! 좋다 ㅋㅋ… 응", ["와...!", "좋다 ㅋㅋ…", "응"]),
        ("  앞에 빈칸. 끝 ", ["앞에 빈칸.", "끝"]),
        ("끝났다.그래서", ["끝났다.그래서"]),
        (" \n ", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("unit", [" ", "\n", "!", '"', ". ", '."', "가"])
def test_a_megabyte_of_anything_takes_no_time(unit: str) -> None:
    text = "가" + unit * (1_000_000 // len(unit))
    started = time.process_time()
    starts = sentence_starts(text)
    assert time.process_time() - started < 20  # a quadratic search takes hours
    assert starts == sorted(set(starts)) and starts[0] == 0
