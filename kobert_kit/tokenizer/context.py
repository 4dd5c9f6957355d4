"""How eojeols are split in running text, learnt from some of a corpus's documents.

Mode "always" analyses an eojeol alone, and there Kiwi takes 건의 for a word; after a numeral, as
in 두 건의, it is 건 and 의. Split as in most places of such a sample, 96.5 % of the eojeols of
KLUE-NER dev are split as in their sentence; alone, 96.1 %.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from heapq import nsmallest

from kobert_kit.console import progress
from kobert_kit.corpus.documents import Document
from kobert_kit.corpus.holdout import held_out_draw
from kobert_kit.morphology.known import as_known
from kobert_kit.morphology.workers import split_text
from kobert_kit.tokenizer.analysis import analyse_eojeols
from kobert_kit.tokenizer.pieces import Cuts

# In characters: 8 MB of Korean, half a minute for one core.
MAX_SAMPLE = 3_500_000
MAX_DOCUMENT = 20_000
MAX_KNOWN = 250_000  # eojeols: 77 % of the running text of 75 MB, in 3.4 MB
MAX_KNOWN_CHARS = 64
MIN_SEEN = 2

Split = tuple[str, Cuts]


@dataclass
class DocumentSample:
    """Some of the documents that are not held out, the same ones whatever their order.

    They have ``max_chars`` characters at most, of which a long document gives its beginning.
    """

    held_out_share: float
    max_chars: int = MAX_SAMPLE
    _kept: list[tuple[float, str]] = field(default_factory=list)  # a heap, the first to go on top
    _chars: int = 0

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """All of ``documents``; the sample takes what it wants of those that pass."""
        for document in documents:
            draw = held_out_draw(document)
            if draw >= self.held_out_share:
                self._add(draw, document.text)
            yield document

    def texts(self) -> list[str]:
        """The texts of the sample, in an order of their own."""
        return [text for _, text in sorted(self._kept)]

    def _add(self, draw: float, text: str) -> None:
        if self._chars >= self.max_chars and -draw < self._kept[0][0]:
            return
        text = text if len(text) <= MAX_DOCUMENT else text[:MAX_DOCUMENT].rsplit(None, 1)[0]
        heapq.heappush(self._kept, (-draw, text))
        self._chars += len(text)
        while self._chars - len(self._kept[0][1]) >= self.max_chars:
            self._chars -= len(heapq.heappop(self._kept)[1])


def known_eojeols(
    pool: ProcessPoolExecutor, counts: Mapping[str, int], texts: Sequence[str]
) -> str:
    """The commonest of ``counts`` as `kobert_kit.morphology.known` has them.

    Each is cut as in most of its places in ``texts``; where there are too few of them, or no
    majority, as it is alone. ``pool`` is one of `splitting`.
    """
    in_context = majorities(split_in_context(pool, texts))
    chosen = commonest(counts)
    others = [eojeol for eojeol in chosen if eojeol not in in_context]
    cuts = in_context | dict(analyse_eojeols(pool, others))
    return as_known((eojeol, cuts[eojeol]) for eojeol in chosen)


def commonest(counts: Mapping[str, int]) -> list[str]:
    """The eojeols that are worth knowing, the most frequent first, then by code points."""
    worth = (eojeol for eojeol in counts if 1 < len(eojeol) <= MAX_KNOWN_CHARS)
    return nsmallest(MAX_KNOWN, worth, key=lambda eojeol: (-counts[eojeol], eojeol))


def majorities(splits: Mapping[Split, int]) -> dict[str, Cuts]:
    """Where most places have an eojeol cut, if there are some places and most agree."""
    seen: Counter[str] = Counter()
    for (eojeol, _), count in splits.items():
        seen[eojeol] += count
    return {
        eojeol: cuts
        for (eojeol, cuts), count in splits.items()
        if seen[eojeol] >= MIN_SEEN and 2 * count > seen[eojeol]
    }


def split_in_context(pool: ProcessPoolExecutor, texts: Sequence[str]) -> Counter[Split]:
    """How often each eojeol of ``texts`` (normalised) is cut where; ``pool`` is of `splitting`."""
    found: Counter[Split] = Counter()
    with progress(sum(map(len, texts)), "analyse in context", "char", unit_scale=True) as bar:
        for text, splits in zip(texts, pool.map(split_text, texts), strict=True):
            found.update(splits)
            bar.update(len(text))
    return found
