"""Tokens that users add: found as transformers finds them, in both modes, whenever they came."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from conftest import encoded
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

import kobert_kit
from kobert_kit.normalize import normalize_text
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
from kobert_kit.tokenizer.loading import encode_plain, plain_tokenizer


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


# New, of full-width forms, decomposed, and entries that the vocabulary has anyway.
CONTENTS = ["<지수>", "［시장］", decomposed("<공원>"), "도서관", "책"]
OPTIONS: list[dict[str, bool]] = [
    *({}, {"normalized": False}, {"single_word": True}, {"special": True, "normalized": False}),
    {"single_word": True, "normalized": False},
    {"lstrip": True, "rstrip": True},
]
TEXTS = [
    text
    for one in CONTENTS
    for text in (one, f"지수는 {one}에서 {one}을 찾았습니다", f"Ａ{one} {one}{one}ㅋㅋ", f"책{one}")
]


def add(tokenizer: Any, options: dict[str, bool]) -> Any:
    tokenizer.add_tokens(
        [AddedToken(content, **options) for content in CONTENTS],
        special_tokens=options.get("special", False),
    )
    return tokenizer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_are_found_as_without_kobert_kit(folder: Path, options: dict[str, bool]) -> None:
    ours = add(kobert_kit.load_tokenizer(folder), options)
    plain = add(PreTrainedTokenizerFast.from_pretrained(str(folder)), options)
    assert ours(TEXTS)["input_ids"] == plain(TEXTS)["input_ids"]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_does_not_matter_when_they_came(always: Path, options: dict[str, bool]) -> None:
    early = add(kobert_kit.load_tokenizer(always), options)
    late = kobert_kit.load_tokenizer(always)
    late(TEXTS)
    expected = early(TEXTS)["input_ids"]
    assert add(late, options)(TEXTS)["input_ids"] == expected


@pytest.mark.parametrize("options", OPTIONS[:-1], ids=str)  # the last take white space along
def test_offsets_are_those_of_the_text_around_them(
    either: Any, options: dict[str, bool], tmp_path: Path
) -> None:
    either.save_pretrained(tmp_path)
    tokenizer = add(kobert_kit.load_tokenizer(tmp_path), options)
    for text in (*TEXTS, *map(decomposed, TEXTS)):
        tokens, offsets = encoded(tokenizer, text)
        assert "[UNK]" not in tokens, "all characters are known"
        assert "".join(text[start:end] for start, end in offsets) == "".join(text.split())
        for token, (start, end) in zip(tokens, offsets, strict=True):
            bare = token if token in CONTENTS else token.removeprefix("##")
            assert normalize_text(text[start:end]) == normalize_text(bare)


@pytest.mark.parametrize("mode", ["vocab", "always"])
def test_a_special_token_of_full_width_forms(corpus: Path, tmp_path: Path, mode: str) -> None:
    settings = BuildSettings(470, mode=mode, special_tokens=("<｜질문｜>",))
    build_vocab([corpus], tmp_path, settings, workers=1)
    tokenizer = kobert_kit.load_tokenizer(tmp_path)
    assert tokenizer.tokenize("<｜질문｜>책을")[:2] == ["<｜질문｜>", "책"]
    tokens, offsets = encoded(tokenizer, f"{decomposed('책')} <｜질문｜>{decomposed('책')}")
    assert tokens == ["책", "<｜질문｜>", "책"] and offsets == [(0, 3), (4, 10), (10, 13)]
    # In running text it is text, like [MASK].
    (text,) = encode_plain(plain_tokenizer(tmp_path), ["<｜질문｜>"])
    assert "<｜질문｜>" not in text.tokens and text.offsets[-1] == (5, 6)
