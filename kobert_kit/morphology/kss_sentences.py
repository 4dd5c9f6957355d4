"""Where sentences begin, as kss sees it, for those who have it installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from typing import Any

from kobert_kit.errors import UsageError

# kss analyses with the first of these that is there.
KSS_PACKAGES = ("kss", "python-mecab-kor", "mecab-python3", "mecab-ko", "konlpy", "pecab")


def require_kss() -> None:
    """Check that kss is installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("kss") is None:
        raise UsageError("--sentences kss: kss is not installed; pip install kss")


def kss_sentence_starts(text: str) -> list[int]:
    """Where the sentences of ``text`` begin, in code points, in order; every line begins one."""
    starts: list[int] = []
    offset = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            starts += (offset + start for start in starts_of(line, _split(line)))
        offset += len(line) + 1
    return starts


def starts_of(line: str, sentences: list[str]) -> list[int]:
    """Where ``sentences`` begin in ``line``, found by their letters: kss may change white space.

    Where it changed more than that, the line is one sentence.
    """
    letters = [at for at, char in enumerate(line) if not char.isspace()]
    sizes = [len("".join(sentence.split())) for sentence in sentences]
    if not letters or sum(sizes) != len(letters):
        return letters[:1]
    return [
        letters[first] for first, size in zip(accumulate([0, *sizes]), sizes, strict=False) if size
    ]


def _split(line: str) -> list[str]:
    found: list[str] = _splitter()(line, num_workers=1)
    return found


@cache
def _splitter() -> Any:
    from kss import Kss

    return Kss("split_sentences")
