"""What one worker process of the encoding does: documents to ids and marks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kobert_kit.corpus.documents import Document
from kobert_kit.corpus.holdout import held_out_draw
from kobert_kit.corpus.sentences import sentence_starts
from kobert_kit.pretrain.prepared import EOJEOL, MORPHEME, SENTENCE, Shard
from kobert_kit.tokenizer.boundaries import BoundaryMarker
from kobert_kit.tokenizer.pieces import PREFIX, is_punctuation
from kobert_kit.tokenizer.subject import open_subject

_encoder: Encoder


def start_worker(tokenizer: Path, morphemes: bool) -> None:
    global _encoder
    _encoder = Encoder(tokenizer, morphemes)


def encode_chunk(documents: list[Document]) -> Shard:
    return _encoder.encode(documents)


class Encoder:
    """A tokenizer and, for ``morphemes``, the analyser with its cache."""

    def __init__(self, tokenizer: Path, morphemes: bool) -> None:
        self.tokenizer = open_subject(str(tokenizer))
        self.marker = BoundaryMarker(self.tokenizer.kiwi) if morphemes else None
        pieces = self.tokenizer.native.get_vocab()
        size = max(pieces.values()) + 1
        self.begins_eojeol, self.is_punctuation = np.zeros((2, size), dtype=bool)
        for piece, number in pieces.items():
            self.begins_eojeol[number] = not piece.startswith(PREFIX)
            self.is_punctuation[number] = all(map(is_punctuation, piece.removeprefix(PREFIX)))
        self.id_type = np.uint16 if size <= 1 << 16 else np.uint32

    def encode(self, documents: list[Document]) -> Shard:
        texts = [document.text for document in documents]
        encodings = self.tokenizer.encode(texts)
        ids = [np.array(encoding.ids, dtype=self.id_type) for encoding in encodings]
        marks = [
            self._marks(text, encoding.offsets, row)
            for text, encoding, row in zip(texts, encodings, ids, strict=True)
        ]
        return Shard(
            ids=np.concatenate(ids),
            marks=np.concatenate(marks),
            offsets=np.concatenate([[0], np.cumsum([len(row) for row in ids])]).astype(np.int64),
            draws=np.array([held_out_draw(document) for document in documents]),
        )

    def _marks(self, text: str, offsets: list[tuple[int, int]], ids: np.ndarray) -> np.ndarray:
        begins = self.begins_eojeol[ids]
        marks = np.where(begins | self._around_punctuation(ids), EOJEOL, 0).astype(np.uint8)
        if self.marker is not None:
            marks[begins | self.marker.mark(text, offsets)] |= MORPHEME
        starts = [start for start, _ in offsets]
        firsts = np.searchsorted(starts, sentence_starts(text))
        marks[firsts[firsts < len(ids)]] |= SENTENCE
        return marks

    def _around_punctuation(self, ids: np.ndarray) -> np.ndarray:
        """Whether each token is punctuation or follows some: no part of the eojeol as a word."""
        marks: np.ndarray = self.is_punctuation[ids]
        marks[1:] |= marks[:-1].copy()
        return marks
