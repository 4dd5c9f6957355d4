"""The steps of the corpus stage, over chunks of it in worker processes: clean, judge, write.

Between them the main process compares lines and documents across all chunks. Each step leaves a
file for each chunk in the work folder, so that a run that was stopped goes on at the chunk that it
was at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kobert_kit.console import progress
from kobert_kit.corpus.copies.overlap import build_index, is_saved
from kobert_kit.corpus.files import CLEAN_DOCUMENTS, total_bytes
from kobert_kit.corpus.formats.compression import Advance
from kobert_kit.corpus.formats.raw import FileEnd, Raw
from kobert_kit.corpus.stage.chunks import compress
from kobert_kit.corpus.stage.cleaning import CLEANED, clean_chunk
from kobert_kit.corpus.stage.comparing import compare_documents, compare_lines
from kobert_kit.corpus.stage.context import Context, start_worker
from kobert_kit.corpus.stage.judging import JUDGED, judge_chunk
from kobert_kit.corpus.stage.ledger import Ledger
from kobert_kit.corpus.stage.sources import read_sources
from kobert_kit.corpus.stage.writing import Written, write_lines
from kobert_kit.processes import START_METHOD, ahead, worker_pool
from kobert_kit.records import atomic_file, write_json

DROPPED = "dropped"
RECORD_BYTES = 64  # what a record counts for beside its content: many may have none


@dataclass(frozen=True)
class Pace:
    """How the work is cut up and shared; nothing of it but the sizes changes what comes out.

    Chunks are what one process works on at a time; several make a shard. Of the chunks every
    ``parts``-th from ``part`` (from 0) is cleaned, so that several machines can share the work.
    """

    workers: int = 2
    part: int = 0
    parts: int = 1
    # Small, for at the end a process waits for the other's chunk, which takes Kiwi seconds.
    chunk_bytes: int = 1 << 20
    shard_chunks: int = 128


def take_steps(context: Context, pace: Pace, output: Path) -> bool:
    """Take all steps that are not taken yet; false where other parts have to take theirs first."""
    _prepare_evaluation(context, pace)
    with worker_pool(pace.workers, START_METHOD, start_worker, context) as pool:
        chunks = _clean(context, pace, pool)
        if pace.parts > 1:
            return False
        compare_lines(context, chunks)
        _judge(context, pace, pool, chunks)
        compare_documents(context, chunks)
        _write(context, pace, pool, chunks, output)
    return True


def _prepare_evaluation(context: Context, pace: Pace) -> None:
    """Index the evaluation data. In a part too, so that what cannot be read shows before any
    work; but parts may share a folder, and only the last command writes."""
    if context.evaluation_files and not is_saved(context.evaluation):
        index = build_index(context.evaluation_files, context.views)
        if pace.parts == 1:
            index.save(context.evaluation)


def _clean(context: Context, pace: Pace, pool: ProcessPoolExecutor) -> int:
    """Clean the chunks that this part has to, and say how many there are in all."""
    known = context.work / "chunks.json"
    if known.exists() and pace.parts == 1:
        count = int(json.loads(known.read_text())["chunks"])
        if all(_is_cleaned(context, number) for number in range(count)):
            return count
    read = count = 0

    def advance(consumed: int) -> None:
        nonlocal read
        read += consumed

    with progress(total_bytes(context.on_disk), "clean", "B", unit_scale=True) as bar:

        def work() -> Iterator[tuple[int, Future[None]]]:
            nonlocal count
            for records in _cut(context, pace.chunk_bytes, advance):
                mine = count % pace.parts == pace.part
                if mine and not _is_cleaned(context, count):
                    yield read, pool.submit(clean_chunk, count, records)
                count += 1

        for position, future in ahead(work(), 2 * pace.workers):
            future.result()
            bar.update(position - bar.n)
        bar.update(read - bar.n)
    write_json(known, {"chunks": count})
    return count


def _is_cleaned(context: Context, number: int) -> bool:
    return any(context.chunk(step, number).exists() for step in (CLEANED, JUDGED))


def _cut(context: Context, chunk_bytes: int, advance: Advance) -> Iterator[list[Raw | FileEnd]]:
    """The records of all files, in chunks that do not depend on who works on them."""
    chunk: list[Raw | FileEnd] = []
    size = 0
    for record in read_sources(context, advance):
        chunk.append(record)
        size += RECORD_BYTES + (_size(record.content) if isinstance(record, Raw) else 0)
        if size >= chunk_bytes:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _size(content: object) -> int:
    """About the bytes that a record takes; Hangul in a field takes three a syllable."""
    if isinstance(content, bytes):
        return len(content)
    if isinstance(content, str):
        return 3 * len(content)
    if isinstance(content, dict):
        return sum(map(_size, content.values()))
    return sum(map(_size, content)) if isinstance(content, list) else 1


def _judge(context: Context, pace: Pace, pool: ProcessPoolExecutor, chunks: int) -> None:
    missing = (number for number in range(chunks) if not context.chunk(JUDGED, number).exists())
    with progress(chunks, "judge", " chunks") as bar:
        work = (pool.submit(judge_chunk, number) for number in missing)
        for future in ahead(work, 2 * pace.workers):
            future.result()
            bar.update()


def _write(
    context: Context,
    pace: Pace,
    pool: ProcessPoolExecutor,
    chunks: int,
    output: Path,
) -> None:
    def work() -> Iterator[tuple[int, Future[Written]]]:
        for number in range(chunks):
            shard = number // pace.shard_chunks
            if not _part_path(context.work, shard).exists():
                yield shard, pool.submit(write_lines, number)

    with progress(chunks, "write", " chunks") as bar:
        for shard, tasks in groupby(ahead(work(), 2 * pace.workers), itemgetter(0)):
            _write_shard(shard, (future for _, future in tasks), context.work, output, bar)


def _write_shard(
    shard: int, tasks: Iterator[Future[Written]], work: Path, output: Path, bar: tqdm[Any]
) -> None:
    """Join chunks to a shard. Its part of the ledger comes last, and tells that it is whole."""
    ledger = Ledger()
    name = f"{shard:05d}.jsonl.zst"
    with (
        atomic_file(output / CLEAN_DOCUMENTS / name) as documents,
        atomic_file(output / DROPPED / name) as dropped,
        documents.open("wb") as documents_stream,
        dropped.open("wb") as dropped_stream,
    ):
        for future in tasks:
            written = future.result()
            documents_stream.write(written.documents)
            dropped_stream.write(written.dropped)
            ledger.add(written.ledger)
            bar.update()
        for stream in (documents_stream, dropped_stream):
            if not stream.tell():  # no bytes at all would be a damaged file
                stream.write(compress(b""))
    write_json(_part_path(work, shard), ledger.to_json())


def _part_path(work: Path, shard: int) -> Path:
    return work / f"ledger-{shard:05d}.json"
