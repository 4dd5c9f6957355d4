"""Eojeols whose surface morphemes are known: a text with an eojeol a line, a space at each cut.

먹 었 습니다
학교 에서
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate, pairwise


def as_known(eojeols: Iterable[tuple[str, tuple[int, ...]]]) -> str:
    """The text that says where each of ``eojeols`` is cut, in code points."""
    lines = (
        " ".join(eojeol[start:end] for start, end in pairwise((0, *cuts, len(eojeol)))) + "\n"
        for eojeol, cuts in eojeols
    )
    return "".join(lines)


@lru_cache(maxsize=2)
def read_known(known: str) -> Mapping[str, str]:
    """The eojeols of such a text, each with its line."""
    # Not splitlines, which also splits at control characters.
    return {line.replace(" ", ""): line for line in known.split("\n") if line}


def known_cuts(known: Mapping[str, str], eojeol: str) -> tuple[int, ...] | None:
    """The sorted inner cuts that ``known`` gives ``eojeol``; None where it has none."""
    morphemes = known.get(eojeol)
    return None if morphemes is None else tuple(accumulate(map(len, morphemes.split(" ")[:-1])))
