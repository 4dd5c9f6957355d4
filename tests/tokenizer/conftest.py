"""One small vocabulary for the tests of this room, built from a few made-up sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kobert_kit
from kobert_kit.tokenizer.build import BuildSettings, build_vocab

SIZE = 470  # about as many entries as this text yields

PEOPLE = ["지수", "민호", "할머니", "선생님", "동생", "이모"]
PLACES = ["학교", "시장", "도서관", "공원", "바닷가", "병원"]
THINGS = ["책", "김밥", "사과", "우산", "편지", "자전거"]
DEEDS = [
    "샀습니다",
    "찾았습니다",
    "보았습니다",
    "받았습니다",
    "팔았습니다",
    "두고 왔습니다",
    "가져갔어요ㅋㅋ",
    "챙겼거든요ㅠㅠ",
]


def sentences() -> list[str]:
    return [
        f"{person}는 {place}에서 {thing}을 {DEEDS[(i + j + k) % len(DEEDS)]}."
        for i, person in enumerate(PEOPLE)
        for j, place in enumerate(PLACES)
        for k, thing in enumerate(THINGS)
    ]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "made_up.jsonl"
    documents = [
        *sentences(),
        *["[MASK]는 글자이고 [SEP]도 글자이다. 2024년 5월에 BERT와 GPT-4를 비교했습니다."] * 5,
    ]
    rows = (json.dumps({"text": text}, ensure_ascii=False) for text in documents)
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def folder(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("tokenizer")
    build_vocab([corpus], output, BuildSettings(SIZE, held_out_share=0.1), workers=1)
    return output


@pytest.fixture(scope="session")
def always(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("always")
    settings = BuildSettings(SIZE, held_out_share=0.1, mode="always")
    build_vocab([corpus], output, settings, workers=1)
    return output


@pytest.fixture(scope="session", params=["vocab", "always"])
def either(request: pytest.FixtureRequest, folder: Path, always: Path) -> Any:
    return kobert_kit.load_tokenizer(always if request.param == "always" else folder)


def encoded(tokenizer: Any, text: str) -> tuple[list[str], list[tuple[int, int]]]:
    encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    return tokenizer.convert_ids_to_tokens(encoding["input_ids"]), encoding["offset_mapping"]
