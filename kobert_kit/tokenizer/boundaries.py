"""Which tokens begin a morpheme, and which morpheme each token belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import EOJEOL, Splitter
from kobert_kit.normalize import normalize

if TYPE_CHECKING:
    from tokenizers import Encoding

MAX_CACHED = 400_000  # eojeols, about 100 MB; nearly all that a corpus repeats


class BoundaryMarker:
    """Marks where an eojeol or a surface morpheme in it begins.

    Eojeols are analysed alone and remembered. One marker a process: it is not shared.
    """

    def __init__(self, settings: KiwiSettings | None = None) -> None:
        self._cuts = lru_cache(MAX_CACHED)(Splitter(settings).split_eojeol)

    def starts(self, text: str) -> NDArray[np.bool_]:
        """Whether a morpheme begins at each character of ``text``, shape (characters + 1,)."""
        plain, sources, _ = normalize(text)
        starts = np.zeros(len(text) + 1, dtype=np.bool_)
        for match in EOJEOL.finditer(plain):
            begin = match.start()
            starts[sources[begin]] = True
            for cut in self._cuts(match.group()):
                starts[sources[begin + cut]] = True
        return starts

    def mark(self, text: str, offsets: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
        """Whether each token of ``text`` begins a morpheme, shape (tokens,).

        ``offsets`` are the tokens' spans in code points of ``text``.
        """
        token_starts = np.fromiter((start for start, _ in offsets), np.int64, len(offsets))
        return self.starts(text)[token_starts]


@lru_cache(maxsize=2)
def boundary_marker(settings: KiwiSettings) -> BoundaryMarker:
    """The process's marker for ``settings``."""
    return BoundaryMarker(settings)


def morpheme_ids(
    encoding: Encoding, sample: Sequence[str | Sequence[str]], marker: BoundaryMarker
) -> list[int]:
    """The number, from 0 in each sequence, of the morpheme in which each token begins.

    ``sample`` is what was encoded: one text or a pair, each a string or a list of words. Special
    tokens and padding have -1.
    """
    numbers = [_numbers(text, marker) for text in sample]
    found = []
    for sequence, word, (start, _) in zip(
        encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True
    ):
        if sequence is None or word is None:
            found.append(-1)
        else:
            split = not isinstance(sample[sequence], str)
            found.append(int(numbers[sequence][word if split else 0][start]))
    return found


def _numbers(text: str | Sequence[str], marker: BoundaryMarker) -> list[NDArray[np.int64]]:
    """The morpheme at each character, word by word; running text is one word."""
    words = [text] if isinstance(text, str) else text
    arrays, before = [], -1
    for word in words:
        arrays.append(np.cumsum(marker.starts(word)) + before)
        before = int(arrays[-1][-1])
    return arrays
