"""From a corpus to shards of encoded text, by several processes, resumable shard by shard."""

from __future__ import annotations

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
from kobert_kit.corpus.reading import read_documents
from kobert_kit.pretrain.encoder import encode_chunk, start_worker
from kobert_kit.pretrain.prepared import Shard, check_source, shard_path, write_shard
from kobert_kit.processes import ahead, worker_pool

CHUNK_CHARACTERS = 500_000  # what a worker encodes at a time
SHARD_CHUNKS = 20  # ten million characters a shard, about ten megabytes on disk


@dataclass(frozen=True)
class EncodeSettings:
    """How a corpus becomes shards. Without ``morphemes`` only eojeols and sentences are marked,
    which takes no analyser. Of the shards, every ``parts``-th from ``part`` (from 0) is made, so
    that several machines can share a corpus."""

    tokenizer: Path
    morphemes: bool = True
    workers: int = 2
    part: int = 0
    parts: int = 1


@dataclass(frozen=True)
class Encoded:
    """What `encode_corpus` read, and how many shards it makes, those of other parts included."""

    report: ReadReport
    shards: int


def encode_corpus(
    files: Sequence[Path], folder: Path, settings: EncodeSettings, source: str
) -> Encoded:
    """Encode the documents of ``files`` into shards under ``folder``.

    ``source`` is the fingerprint of corpus, tokenizer and ``morphemes``, which each shard keeps.
    Shards that are there already are skipped. Every document is read, and reported, by every part.

    Raises:
        DataError: a shard that is there was made from something else; a file is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report = ReadReport()
    bytes_read = chunks = 0

    def advance(consumed: int) -> None:
        nonlocal bytes_read
        bytes_read += consumed

    def is_wanted(number: int) -> bool:
        path = shard_path(folder, number)
        if path.exists():
            check_source(path, source)
            return False
        return number % settings.parts == settings.part

    arguments = (settings.tokenizer, settings.morphemes)
    with (
        progress(total_bytes(files), "encode", "B", unit_scale=True) as bar,
        worker_pool(settings.workers, "spawn", start_worker, *arguments) as pool,
    ):
        # Number of the shard, bytes read so far, the result.
        def work() -> Iterator[tuple[int, int, Future[Shard]]]:
            nonlocal chunks
            for chunk in _chunks(read_documents(files, report, advance)):
                number = chunks // SHARD_CHUNKS
                chunks += 1
                if is_wanted(number):
                    yield number, bytes_read, pool.submit(encode_chunk, chunk)

        for number, tasks in groupby(ahead(work(), 3 * settings.workers), itemgetter(0)):
            parts = []
            for _, position, future in tasks:
                parts.append(future.result())
                bar.update(position - bar.n)
            write_shard(shard_path(folder, number), _join(parts), source)
        bar.update(bytes_read - bar.n)
    return Encoded(report, -(-chunks // SHARD_CHUNKS))


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
        marks=np.concatenate([part.marks for part in parts]),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        draws=np.concatenate([part.draws for part in parts]),
    )
