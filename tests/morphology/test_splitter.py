"""The contract of the splitter: lossless, ordered, and faithful to the morphemes."""

import pickle
import random
import time
import unicodedata

import pytest
from real_text import cases, corpus_lines

from kobert_kit.morphology.kiwi import KiwiSettings, kiwi_versions
from kobert_kit.morphology.splitter import EOJEOL, Splitter

POLICIES = ["cut", "merge"]


def surfaces(text: str, policy: str = "cut") -> list[str]:
    return [text[piece.start : piece.end] for piece in Splitter(KiwiSettings(policy)).split(text)]


def assert_lossless(text: str, splitter: Splitter) -> None:
    reach = 0
    for piece in splitter.split(text):
        gap = text[reach : piece.start]
        assert piece.start >= reach and not EOJEOL.search(gap)
        assert EOJEOL.fullmatch(text[piece.start : piece.end])
        assert piece.starts_eojeol == (piece.start == 0 or bool(gap))
        reach = piece.end
    assert not EOJEOL.search(text[reach:])


@pytest.mark.parametrize("policy", POLICIES)
def test_lossless_on_the_cases(policy: str) -> None:
    for case in cases():
        assert_lossless(str(case["text"]), Splitter(KiwiSettings(policy)))


def test_pieces_of_the_cases_are_those_of_kiwi() -> None:
    known = {str(case["id"]): case for case in cases() if "kiwi_0.24_pieces" in case}
    assert known
    if not kiwi_versions()["kiwipiepy"].startswith("0.24"):
        pytest.skip("the expected pieces are those of Kiwi 0.24")
    for case in known.values():
        assert surfaces(str(case["text"]), "merge") == case["kiwi_0.24_pieces"], case["id"]


@pytest.mark.parametrize("policy", POLICIES)
def test_lossless_on_real_lines(policy: str) -> None:
    splitter = Splitter(KiwiSettings(policy))
    for line in corpus_lines(120):
        assert_lossless(line, splitter)
        assert_lossless(unicodedata.normalize("NFD", line), splitter)


def test_lossless_on_noise() -> None:
    generator = random.Random(0)
    alphabet = (
        "가먹었습니다한국어ㅋㅠ \t\n\u3000\x1cA1.,#🇰🇷👨👩\u200d👍🏽e\u0301\ufe0f\ud800\udc00\0大𠮷"
    )
    alphabet += "\u1112\u1161\u11ab"
    splitter = Splitter()
    for _ in range(1500):
        assert_lossless("".join(generator.choices(alphabet, k=generator.randrange(25))), splitter)


def test_no_cut_inside_what_reads_as_one_character() -> None:
    family, thumb, flag, accent = "👨‍👩‍👧‍👦", "👍🏽", "🇰🇷", "e\u0323\u0301"
    for symbol in (family, thumb, flag, accent, "❤️"):
        for piece in surfaces(f"가족{symbol}이 {symbol} {symbol}에서"):
            assert symbol in piece or not set(symbol) & set(piece), (symbol, piece)


def test_shared_syllables() -> None:
    assert surfaces("했다") == surfaces("했다", "merge") == ["했", "다"]
    assert surfaces("방이 커서 좋습니다") == ["방", "이", "커", "서", "좋", "습니다"]
    assert surfaces("방이 커서 좋습니다", "merge") == ["방", "이", "커서", "좋", "습니다"]
    assert Splitter(KiwiSettings("cut")).split_eojeol("보냅니다") == (2,)
    assert Splitter(KiwiSettings("merge")).split_eojeol("보냅니다") == ()


def test_a_serial_number_is_cut_at_its_dots() -> None:
    assert surfaces("4. 다음 항목은 2024. 5. 1.에 한다.")[:2] == ["4", "."]
    for text in ("2024. 5. 1.에", "2024.5.1.에", "가. 나."):
        for piece in surfaces(text):
            assert piece.isalnum() or not any(char.isalnum() for char in piece), text


def test_offsets_are_those_of_the_original() -> None:
    composed = "학교에서 밥을 먹었습니다."
    decomposed = unicodedata.normalize("NFD", composed)
    pieces = [decomposed[piece.start : piece.end] for piece in Splitter().split(decomposed)]
    assert [unicodedata.normalize("NFC", piece) for piece in pieces] == surfaces(composed)


def test_tags() -> None:
    tags = [(piece.tag, piece.starts_eojeol) for piece in Splitter().split("밥을 먹었다")]
    assert tags == [("NNG", True), ("JKO", False), ("VV", True), ("EP", False), ("EF", False)]
    assert [piece.tag for piece in Splitter().split("했다")] == ["VV+EP", "EF"]


def test_an_eojeol_alone() -> None:
    splitter = Splitter()
    assert splitter.split_eojeol("먹었습니다") == (1, 2)
    assert splitter.split_eojeol("집") == ()
    assert splitter.split_eojeol("\ud800") == ()


def test_long_input_is_bounded() -> None:
    splitter = Splitter()
    started = time.process_time()
    for text in ("보통" * 20_000, "a" * 40_000, "와" * 40_000):
        assert_lossless(text, splitter)
    assert time.process_time() - started < 20


def test_it_pickles() -> None:
    splitter = pickle.loads(pickle.dumps(Splitter(KiwiSettings("merge"))))
    assert splitter.split_eojeol("됩니다") == ()


def test_versions() -> None:
    assert set(kiwi_versions()) == {"kiwipiepy", "kiwipiepy_model"}
