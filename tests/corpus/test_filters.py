"""What each filter does to a text, and the options that choose them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from kobert_kit.corpus.characters import count_classes, hangul_share
from kobert_kit.corpus.copies.hashes import hash_lines
from kobert_kit.corpus.sentences import sentence_starts
from kobert_kit.corpus.stage.checks import CHECKS
from kobert_kit.corpus.stage.edits import EDITS
from kobert_kit.corpus.stage.filters import NAMES, PRESETS, LineRules, build_filters, choose_filters
from kobert_kit.corpus.stage.lines import trim
from kobert_kit.errors import UsageError


@pytest.mark.parametrize(
    "name, value, text, expected",
    [
        ("entities", "", "A &amp; B&nbsp;&lt;책&gt; &#44032; &#x1F600;", "A & B\xa0<책> 가 😀"),
        ("entities", "", "R&D; AT&T &copy 그대로", "R&D; AT&T &copy 그대로"),
        ("nfc", "", "한글 ᄏᄏ ＡＢＣ", "한글 ㅋㅋ ABC"),
        ("control", "", "가\u200b나\ufeff다\x00라\xad\u202e", "가나다라"),
        ("control", "", "줄\r\n바꿈\u2028셋", "줄\n바꿈\n셋"),
        ("control", "", "👨\u200d👩\u200d👧 한\u200d글", "👨\u200d👩\u200d👧 한글"),
        ("control", "", "می\u200cخواهم 가\u200c나 a\u200cb", "می\u200cخواهم 가나 ab"),
        ("control", "", "क्\u200dष ന്\u200d 끝\u200d.", "क्\u200dष ന്\u200d 끝."),
        ("control", "", "हिन्दी\u200d어 می\u200c\u200c\u200dخ", "हिन्दी어 می\u200cخ"),
        (
            "urls",
            "mask",
            "보기: https://example.com/a?b=1에서 www.test.kr",
            "보기: [URL]에서 [URL]",
        ),
        (
            "urls",
            "drop",
            "누리집(www.test.kr/a?b=1)에서 <http://a.kr/> [ftp://b.kr].",
            "누리집에서  .",
        ),
        ("urls", "drop", "누리집(주소: http://a.kr)과 (http://a.kr 등)", "누리집(주소: )과 ( 등)"),
        ("urls", "mask", "http://a.com. 다음, www.b.kr/?q=1!", "[URL]. 다음, [URL]!"),
        (
            "urls",
            "mask",
            "WWW.A.COM HTTP://a.com Www.b.kr hTTps://c.kr/.",
            "[URL] [URL] [URL] [URL].",
        ),
        ("urls", "mask", "awww.b www... http://... 뿐", "awww.b www... http://... 뿐"),
        ("emails", "mask", "문의 hong.gildong+a@mail.example.co.kr로", "문의 [EMAIL]로"),
        ("emails", "drop", "기자(kim@test.co.kr) 김 <a@b.kr>의 글", "기자 김 의 글"),
        ("emails", "drop", "@사용자 그대로 a@b", "@사용자 그대로 a@b"),
        (
            "repeats",
            "3",
            "ㅋㅋㅋㅋㅋㅋ 진짜아아아아!!!!! 1000000원",
            "ㅋㅋㅋ 진짜아아아!!! 1000000원",
        ),
        ("repeats", "1", "와아아 ㅠㅠ", "와아 ㅠ"),
        ("spaces", "", "  앞 \t 뒤\u3000끝  \n\n \n 다음 \n", "앞 뒤 끝\n다음"),
        ("personal", "", "번호 900101-1234568, 991332-1234567", "번호 [RESIDENT], 991332-1234567"),
        (
            "personal",
            "",
            "010-1234-5678 / 02) 123-4567 / 01012345678",
            "[PHONE] / [PHONE] / [PHONE]",
        ),
        ("personal", "", "+82 10-1234-5678", "[PHONE]"),
        ("personal", "", "카드 4111-1111-1111-1111", "카드 [CARD]"),
        ("personal", "", "제품 4111-1111-1111-1112", "제품 4111-1111-1111-1112"),
        ("personal", "", "2024-05-01, 1,234,567원", "2024-05-01, 1,234,567원"),
        ("personal", "", "메일 a.b@example.com", "메일 [EMAIL]"),
    ],
)
def test_edits(name: str, value: str, text: str, expected: str) -> None:
    edit = EDITS[name](value)
    assert edit(text) == expected
    assert edit(expected) == expected, "a second time changes nothing"


@pytest.mark.parametrize(
    "unit",
    [
        "ㅋ",
        " ",
        "\n",
        "a@",
        "www.",
        "WWW.",
        "http://",
        "www..",
        "&",
        "1-",
        "\u200d",
        "\u200c",
        "می\u200c",
        "가\n \n",
    ],
)
def test_edits_take_no_time_for_a_megabyte_of_anything(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    filters = build_filters(choose_filters("comments", ["personal"], []))
    for edit in filters.edits.values():
        text = edit(text)


@pytest.mark.parametrize(
    "name, value, text, reason",
    [
        ("length", "5", "네 글자", "too short"),
        ("length", "5", "다섯 글자", ""),
        ("length", "1-4", "다섯 글자", "too long"),
        ("hangul", "0.5", "only a few words 한글", "too little Hangul"),
        ("hangul", "0.5", "한글이 더 많은 text", ""),
        ("hangul", "0.5", "😀😀 123 !!!", ""),
    ],
)
def test_checks(name: str, value: str, text: str, reason: str) -> None:
    assert CHECKS[name](value)(text) == reason


def test_profanity_goes_by_a_list_of_words(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("멍청이\n\n바보\n", encoding="utf-8")
    check = CHECKS["profanity"](str(words))
    assert check("이 바보야") == "profanity" and not check("온달바보 이야기")
    with pytest.raises(UsageError, match=r"gone\.txt: cannot be read"):
        CHECKS["profanity"](str(tmp_path / "gone.txt"))


def test_classes_of_characters() -> None:
    counts = count_classes("한글 漢字 Latin é 12 ㅋㅋ 😀 Ж!")
    assert {name: count for name, count in counts.items() if count} == {
        "hangul": 2,
        "hanja": 2,
        "latin": 6,
        "digits": 2,
        "jamo": 2,
        "emoji": 1,
        "letters": 1,
        "space": 7,
        "other": 1,
    }
    assert hangul_share("가나ab") == 0.5


def test_a_preset_with_changes() -> None:
    settings = choose_filters("comments", ["repeats=2", "personal"], ["urls", "hangul"])
    assert settings["repeats"] == "2" and "personal" in settings
    assert not {"urls", "hangul"} & settings.keys()
    assert list(settings) == [name for name in NAMES if name in settings], "the order is fixed"
    assert choose_filters("none", [], []) == {}
    for preset in PRESETS:
        build_filters(choose_filters(preset, [], []))


@pytest.mark.parametrize(
    "preset, changes, without, message",
    [
        ("blog", [], [], "--preset blog: not one of news"),
        ("none", ["colour=1"], [], "--filter colour: not one of entities"),
        ("none", [], ["colour"], "--without colour: not one of"),
        ("none", ["repeats"], [], "--filter repeats=: not a whole number from 1 on"),
        ("none", ["hangul=2"], [], "--filter hangul=2: not a share from 0 to 1"),
        ("none", ["urls=hide"], [], "--filter urls=hide: not mask or drop"),
        ("none", ["duplicate-lines=x"], [], "--filter duplicate-lines=x: not document or corpus"),
        ("none", ["repeats=99999999999"], [], "--filter repeats=99999999999: not a whole number"),
        ("none", ["personal=mask"], [], "--filter personal=mask: personal has no setting"),
        ("none", ["length=9-3"], [], "--filter length=3: not a whole number from 9 on"),
    ],
)
def test_wrong_filters_are_named(
    preset: str, changes: list[str], without: list[str], message: str
) -> None:
    with pytest.raises(UsageError) as error:
        choose_filters(preset, changes, without)
    assert str(error.value).startswith(message)


def test_lines_that_go_take_their_sentences_along() -> None:
    text = "첫 문장이다. 둘째다.\n무단 전재 금지\n셋째다.\n첫 문장이다. 둘째다.\n넷째! 다섯째."
    hashes = hash_lines(text)
    frequency = [0, 80, 0, 0, 0]
    rules = LineRules(50, "document")
    trimmed = trim(text, sentence_starts(text), rules, frequency, hashes, [False] * 5)
    assert trimmed.text == "첫 문장이다. 둘째다.\n셋째다.\n넷째! 다섯째."
    assert trimmed.sentences == sentence_starts(trimmed.text)
    assert trimmed.gone == [
        ("boilerplate", "무단 전재 금지"),
        ("duplicate-lines", "첫 문장이다. 둘째다."),
    ]
    again = [True, False, False, False, False]
    assert trim(text, None, LineRules(0, "corpus"), frequency, hashes, again).text.count("첫") == 0
    assert trim(text, None, LineRules(), frequency, hashes, again).text == text


def test_words_of_a_list_are_found_however_it_was_saved(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    for content in ("바보\n", "\ufeff바보\r\n", unicodedata.normalize("NFD", "\ufeff바보")):
        words.write_bytes(content.encode())
        assert CHECKS["profanity"](str(words))("이 바보야") == "profanity"
