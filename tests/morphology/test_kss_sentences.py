"""What kss says of sentences, as places in the text."""

from __future__ import annotations

import pytest

from kobert_kit.morphology.kss_sentences import kss_sentence_starts, starts_of


@pytest.mark.parametrize(
    "line, sentences, expected",
    [
        ("비가 왔다. 우산을 썼다.", ["비가 왔다.", "우산을 썼다."], [0, 7]),
        ("  비가  왔다.우산을 썼다", ["비가 왔다.", "우산을", "썼다"], [2, 9, 13]),
        ("한 문장", ["한 문장"], [0]),
        ("글자가 바뀌면", ["글자가", "바뀌었다"], [0]),
        (" 없으면", [], [1]),
        ("하나 둘", ["하나", "", "둘"], [0, 3]),
    ],
)
def test_sentences_are_found_by_their_letters(
    line: str, sentences: list[str], expected: list[int]
) -> None:
    assert starts_of(line, sentences) == expected


def test_kss_itself() -> None:
    pytest.importorskip("kss")
    text = "비가 왔다. 우산을 썼다.\n\n  어제는 맑았어요 오늘은 흐리네요"
    starts = kss_sentence_starts(text)
    assert starts[:2] == [0, 7] and text.index("어제는") in starts
    assert starts == sorted(set(starts)) and not any(text[at].isspace() for at in starts)
