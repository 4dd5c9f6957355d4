"""What a corpus is made of, by reading it once."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kobert_kit.corpus.characters import count_classes
from kobert_kit.corpus.documents import Document
from kobert_kit.corpus.holdout import held_out_draw

SAMPLE = 5  # documents to read


@dataclass
class CorpusStats:
    """Counts over documents. ``lengths`` has the documents by the power of two that their number
    of characters reaches: 7 stands for 128 to 255. ``sample`` is the same however it was read."""

    documents: int = 0
    characters: int = 0
    bytes: int = 0
    eojeols: int = 0
    lines: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    sample: list[Document] = field(default_factory=list)


def measure_corpus(documents: Iterable[Document]) -> CorpusStats:
    """Count what ``documents`` hold, as a stream."""
    stats = CorpusStats()
    drawn: list[tuple[float, int, Document]] = []
    for document in documents:
        text = document.text
        stats.documents += 1
        stats.characters += len(text)
        stats.bytes += len(text.encode())
        stats.eojeols += len(text.split())
        stats.lines += text.count("\n") + 1
        stats.lengths[len(text).bit_length() - 1] += 1
        stats.classes.update(count_classes(text))
        heapq.heappush(drawn, (-held_out_draw(document), -stats.documents, document))
        if len(drawn) > SAMPLE:
            heapq.heappop(drawn)
    stats.sample = [document for _, _, document in sorted(drawn, reverse=True)]
    return stats
