"""From a corpus to shards of encoded text, by several processes, resumable shard by shard."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from kobert_kit.console import progress
from kobert_kit.corpus.documents import Document, ReadReport
from kobert_kit.corpus.files import total_bytes
from kobert_kit.corpus.holdout import is_held_out
from kobert_kit.corpus.reading import read_documents
from kobert_kit.pretrain.prepared import Shard, shard_path, write_shard
from kobert_kit.processes import worker_pool
from kobert_kit.tokenizer.pieces import PREFIX, is_punctuation

CHUNK_CHARACTERS = 500_000  # what a worker encodes at a time
SHARD_CHUNKS = 20  # ten million characters a shard, about ten megabytes on disk


@dataclass(frozen=True)
class PrepareSettings:
    """``unit`` is what a mask covers: "eojeol" or "morpheme"."""

    tokenizer: Path
    unit: str
    held_out_share: float
    workers: int


def prepare(files: Sequence[Path], folder: Path, settings: PrepareSettings) -> ReadReport:
    """Encode the documents of ``files`` into shards under ``folder``.

    Shards that are there already are skipped: they depend on the corpus and the settings alone,
    which the caller has compared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report = ReadReport()
    bytes_read = 0

    def advance(consumed: int) -> None:
        nonlocal bytes_read
        bytes_read += consumed

    with (
        progress(total_bytes(files), "encode", "B", unit_scale=True) as bar,
        worker_pool(settings.workers, "spawn", _start_worker, settings) as pool,
    ):

        def work() -> Iterator[_Task]:
            for place, chunk in enumerate(_chunks(read_documents(files, report, advance))):
                number = place // SHARD_CHUNKS
                if not shard_path(folder, number).exists():
                    yield number, bytes_read, pool.submit(_encode_chunk, chunk)

        for number, tasks in groupby(_ahead(work(), 3 * settings.workers), itemgetter(0)):
            parts = []
            for _, position, future in tasks:
                parts.append(future.result())
                bar.update(position - bar.n)
            write_shard(shard_path(folder, number), _join(parts))
        bar.update(bytes_read - bar.n)
    return report


def _ahead(tasks: Iterator[_Task], count: int) -> Iterator[_Task]:
    """Pass ``tasks`` on in order, begun ``count`` at a time: workers stay busy, memory flat."""
    waiting: deque[_Task] = deque()
    for task in tasks:
        waiting.append(task)
        if len(waiting) > count:
            yield waiting.popleft()
    yield from waiting


def _chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    chunk: list[Document] = []
    size = 0
    for document in documents:
        chunk.append(document)
        size += len(document.text)
        if size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _join(parts: list[Shard]) -> Shard:
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return Shard(
        ids=np.concatenate([part.ids for part in parts]),
        words=np.concatenate([part.words for part in parts]),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        held_out=np.concatenate([part.held_out for part in parts]),
    )


_Task = tuple[int, int, "Future[Shard]"]  # number of the shard, bytes read so far, the result
_worker: _Encoder


def _start_worker(settings: PrepareSettings) -> None:
    global _worker
    _worker = _Encoder(settings)


def _encode_chunk(documents: list[Document]) -> Shard:
    return _worker.encode(documents)


class _Encoder:
    """What one worker process holds: the tokenizer and, for morphemes, the analyser's cache."""

    def __init__(self, settings: PrepareSettings) -> None:
        from kobert_kit.tokenizer.boundaries import BoundaryMarker
        from kobert_kit.tokenizer.loading import encode_plain, plain_tokenizer
        from kobert_kit.tokenizer.recipe import read_recipe

        self.settings, self.encode_plain = settings, encode_plain
        self.tokenizer = plain_tokenizer(settings.tokenizer)
        self.marker = None
        if settings.unit == "morpheme":
            self.marker = BoundaryMarker(read_recipe(settings.tokenizer).kiwi)
        pieces = sorted(self.tokenizer.get_vocab().items(), key=lambda item: item[1])
        self.begins_eojeol = np.array([not piece.startswith(PREFIX) for piece, _ in pieces])
        self.is_punctuation = np.array(
            [all(map(is_punctuation, piece.removeprefix(PREFIX))) for piece, _ in pieces]
        )
        self.id_type = np.uint16 if len(pieces) <= 1 << 16 else np.uint32

    def encode(self, documents: list[Document]) -> Shard:
        texts = [document.text for document in documents]
        encodings = self.encode_plain(self.tokenizer, texts)
        ids = [np.array(encoding.ids, dtype=self.id_type) for encoding in encodings]
        words = [
            self.begins_eojeol[row]
            | (
                self._around_punctuation(row)
                if self.marker is None
                else self.marker.mark(text, encoding.offsets)
            )
            for row, text, encoding in zip(ids, texts, encodings, strict=True)
        ]
        return Shard(
            ids=np.concatenate(ids),
            words=np.concatenate(words),
            offsets=np.concatenate([[0], np.cumsum([len(row) for row in ids])]).astype(np.int64),
            held_out=np.array(
                [is_held_out(document, self.settings.held_out_share) for document in documents]
            ),
        )

    def _around_punctuation(self, ids: np.ndarray) -> np.ndarray:
        """Whether each token is punctuation or follows some: no part of the eojeol as a word."""
        marks: np.ndarray = self.is_punctuation[ids]
        marks[1:] |= marks[:-1].copy()
        return marks
