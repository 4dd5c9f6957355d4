"""Which tokens begin a morpheme, for whole-word masking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.normalize import normalize
from kobert_kit.morphology.splitter import EOJEOL, Splitter

MAX_CACHED = 1_000_000  # eojeols, about 200 MB


class BoundaryMarker:
    """Marks the tokens that begin an eojeol or a surface morpheme in it.

    Eojeols are analysed alone and remembered. One marker a process: it is not shared.
    """

    def __init__(self, settings: KiwiSettings | None = None) -> None:
        self._split = Splitter(settings).split_eojeol
        self._cuts: dict[str, tuple[int, ...]] = {}

    def mark(self, text: str, offsets: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
        """Whether each token of ``text`` begins a morpheme, shape (tokens,).

        ``offsets`` are the tokens' spans in code points of ``text``.
        """
        plain, sources, _ = normalize(text)
        starts = np.zeros(len(text) + 1, dtype=np.bool_)
        for match in EOJEOL.finditer(plain):
            begin = match.start()
            starts[sources[begin]] = True
            for cut in self._eojeol_cuts(match.group()):
                starts[sources[begin + cut]] = True
        token_starts = np.fromiter((start for start, _ in offsets), np.int64, len(offsets))
        return starts[token_starts]

    def _eojeol_cuts(self, eojeol: str) -> tuple[int, ...]:
        cuts = self._cuts.get(eojeol)
        if cuts is None:
            if len(self._cuts) >= MAX_CACHED:
                self._cuts.clear()
            cuts = self._cuts[eojeol] = self._split(eojeol)
        return cuts
