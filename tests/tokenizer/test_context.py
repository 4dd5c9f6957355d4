"""What mode "always" learns from running text when a tokenizer is built."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import kobert_kit
from kobert_kit.corpus.documents import Document
from kobert_kit.corpus.holdout import is_held_out
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import EOJEOL, Splitter
from kobert_kit.morphology.workers import splitting
from kobert_kit.tokenizer import context
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
from kobert_kit.tokenizer.context import DocumentSample, known_eojeols, majorities, split_in_context

TEXTS = [
    "지난달에 두 건의 사고가 났다.",
    "세 건의 제안을 모두 읽었다.",
    "어제 한 건의 신고가 있었다.",
]


def documents(count: int) -> list[Document]:
    return [
        Document(f"{number}", f"{number}번째 " + "글이다. " * (number % 7))
        for number in range(count)
    ]


def test_the_sample_is_the_same_whatever_the_order() -> None:
    texts = documents(400)
    samples = []
    for seed in range(3):
        random.Random(seed).shuffle(texts)
        sample = DocumentSample(0.2, max_chars=500)
        assert list(sample.watch(texts)) == texts
        samples.append(sample.texts())
    assert samples[0] == samples[1] == samples[2]
    assert 400 < sum(map(len, samples[0])) < 600
    held_out = {text.text for text in texts if is_held_out(text, 0.2)}
    assert held_out and not held_out & set(samples[0])


def test_a_long_document_gives_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "MAX_DOCUMENT", 12)
    sample = DocumentSample(0.0)
    list(sample.watch([Document("0", "아주 긴 글의 처음과 끝이다")]))
    assert sample.texts() == ["아주 긴 글의"]


def test_eojeols_in_context_are_those_of_the_text() -> None:
    with splitting(KiwiSettings(), workers=1) as pool:
        splits = split_in_context(pool, TEXTS)
    counts = Counter(eojeol for text in TEXTS for eojeol in EOJEOL.findall(text))
    found: Counter[str] = Counter()
    for (eojeol, _), count in splits.items():
        found[eojeol] += count
    assert found == counts
    assert splits["건의", (1,)] == 3 and splits["사고가", (2,)] == 1


def test_a_majority_of_several_places_decides() -> None:
    splits = {("건의", (1,)): 2, ("건의", ()): 1, ("나는", (1,)): 2, ("나는", ()): 2, ("새", ()): 1}
    assert majorities(splits) == {"건의": (1,)}


def test_the_commonest_are_known_as_in_context_or_else_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context, "MAX_KNOWN", 3)
    counts = {"학교에서": 5, "건의": 9, "하나뿐": 1, "책을": 5, "가": 99, "긴" * 65: 99}
    assert Splitter().split_eojeol("건의") == ()
    with splitting(KiwiSettings(), workers=1) as pool:
        known = known_eojeols(pool, counts, TEXTS)
    assert known == "건 의\n책 을\n학교 에서\n"


def test_the_tokenizer_and_its_morpheme_ids_follow_it(corpus: Path, tmp_path: Path) -> None:
    text = "\n\n".join([corpus.read_text(encoding="utf-8"), *TEXTS * 5])
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    settings = BuildSettings(500, held_out_share=0.0, mode="always")
    build_vocab([tmp_path / "text.txt"], tmp_path / "tokenizer", settings, workers=1)
    tokenizer = kobert_kit.load_tokenizer(tmp_path / "tokenizer")
    found = tokenizer("건의", add_special_tokens=False, return_morpheme_ids=True)
    assert tokenizer.convert_ids_to_tokens(found["input_ids"]) == ["건", "##의"]
    assert found["morpheme_ids"] == [0, 1]
