"""Eojeols whose cuts are known without the analyser."""

from __future__ import annotations

import pickle
import unicodedata
from dataclasses import replace

import pytest

from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.known import as_known, known_cuts, read_known
from kobert_kit.morphology.splitter import Splitter

EOJEOLS = {"먹었습니다": (1, 2), "건의": (1,), "사과": (), "A\x1cB|C": (1,), "👨‍👩‍👧은": (5,)}


def test_cuts_survive_the_text() -> None:
    known = as_known(EOJEOLS.items())
    assert known.split("\n")[:3] == ["먹 었 습니다", "건 의", "사과"]
    assert {eojeol: known_cuts(read_known(known), eojeol) for eojeol in EOJEOLS} == EOJEOLS
    assert known_cuts(read_known(known), "먹었") is None
    assert read_known("") == {}


@pytest.mark.parametrize("eojeol", ["건의", "학교에서는"])
def test_what_is_known_comes_before_the_analyser(eojeol: str) -> None:
    alone = Splitter().split_eojeol(eojeol)
    other = () if alone else (1,)
    settings = replace(KiwiSettings(), known_eojeols=as_known([(eojeol, other)]))
    assert Splitter(settings).split_eojeol(eojeol) == other
    # Running text is still analysed in its context.
    assert Splitter(settings).split(f"두 {eojeol}") == Splitter().split(f"두 {eojeol}")


def test_a_used_splitter_pickles_to_its_settings_alone() -> None:
    settings = replace(KiwiSettings(), known_eojeols=as_known(EOJEOLS.items()))
    used = Splitter(settings)
    assert used.split_eojeol("건의") == (1,)
    assert pickle.dumps(used) == pickle.dumps(Splitter(settings))
    assert pickle.loads(pickle.dumps(used)).split_eojeol("건의") == (1,)


@pytest.mark.parametrize(
    ("morphemes", "tags"),
    [
        ("건 의", ["NNG", "JKG"]),  # alone NNG
        ("자세한", ["XR+XSA+ETM"]),  # alone cut in two
        ("규정 하 고", ["NNG", "XSV", "EC"]),  # alone cut elsewhere
        ("학교 에서", ["NNG", "JKB"]),  # as it is alone
    ],
)
def test_known_pieces_have_tags(morphemes: str, tags: list[str]) -> None:
    splitter = Splitter(KiwiSettings(known_eojeols=f"{morphemes}\n"))
    eojeol = morphemes.replace(" ", "")
    for text in (eojeol, unicodedata.normalize("NFD", eojeol)):
        pieces = splitter.tagged_eojeol(text)
        surfaces = [unicodedata.normalize("NFC", text[one.start : one.end]) for one in pieces]
        assert " ".join(surfaces) == morphemes
        assert [one.tag for one in pieces] == tags
        assert [one.starts_eojeol for one in pieces] == [True] + [False] * (len(tags) - 1)
