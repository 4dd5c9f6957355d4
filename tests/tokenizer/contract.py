"""What every encoding of every text must hold, and the texts to hold it on."""

from __future__ import annotations

import json
import lzma
import random
import unicodedata
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kobert_kit.morphology.normalize import normalize_text
from kobert_kit.morphology.splitter import EOJEOL

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
NOISE = (
    "가먹었습니다한국어ㅋㅠ \t\n\u3000\x1cA1.,#🇰🇷👨👩\u200d👍🏽e\u0301\ufe0f\ud800\udc00\0大𠮷"
    "\u1112\u1161\u11ab\u110fＡ％ﾻ\u200b\ufeff\"'(‘’"
)


def assert_lossless(text: str, tokens: list[str], offsets: list[tuple[int, int]]) -> None:
    """The first line of the contract; ``tokens`` without [CLS] and the like."""
    reach = 0
    for token, (start, end) in zip(tokens, offsets, strict=True):
        assert start >= reach and not EOJEOL.search(text[reach:start]), (text, token)
        surface = text[start:end]
        assert EOJEOL.fullmatch(surface), (text, token)
        if token != "[UNK]":
            assert normalize_text(surface) == token.removeprefix("##"), text
        reach = end
    assert not EOJEOL.search(text[reach:]), text


def cases() -> list[dict[str, Any]]:
    path = SHARED / "cases" / "tokenizer" / "cases.jsonl"
    if not path.exists():
        pytest.skip(f"no {path}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def corpus_lines(each: int) -> Iterator[str]:
    """Lines of every corpus, ``each`` of them."""
    files = sorted((SHARED / "data" / "corpus").glob("*.jsonl.xz"))
    if not files:
        pytest.skip(f"no corpora under {SHARED}")
    for path in files:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            lines = (row for line in stream for row in json.loads(line)["text"].split("\n"))
            yield from islice(lines, each)


def noise(count: int, seed: int = 0) -> Iterator[str]:
    """Short strings of characters that are hard to keep apart or together."""
    generator = random.Random(seed)
    for _ in range(count):
        text = "".join(generator.choices(NOISE, k=generator.randrange(20)))
        yield unicodedata.normalize(generator.choice(["NFC", "NFD"]), text)
