"""What every encoding of every text must hold, and texts that make it hard."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator

from kobert_kit.morphology.splitter import EOJEOL
from kobert_kit.normalize import normalize_text

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


def noise(count: int, seed: int = 0) -> Iterator[str]:
    """Short strings of characters that are hard to keep apart or together."""
    generator = random.Random(seed)
    for _ in range(count):
        text = "".join(generator.choices(NOISE, k=generator.randrange(20)))
        yield unicodedata.normalize(generator.choice(["NFC", "NFD"]), text)
