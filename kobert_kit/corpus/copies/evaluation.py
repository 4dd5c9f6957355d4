"""The sentences of evaluation data, from files of any of the layouts that benchmarks come in."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kobert_kit.corpus.files import format_of
from kobert_kit.corpus.formats.compression import Damaged, read_blocks
from kobert_kit.corpus.sentences import split_sentences
from kobert_kit.errors import DataError, UsageError

KINDS = (".json", ".jsonl", ".tsv", ".csv", ".txt", ".parquet")
_HANGUL = re.compile("[가-힣]")
_NO_TEXTS = {"answers", "subject_entity", "object_entity"}  # names and dates that any text has
_TAGGED = re.compile(r"<([^<>]+):[A-Z]{2,3}>")  # entities in KLUE's NER data: <제주도:LC>


def evaluation_files(folders: Sequence[Path]) -> list[Path]:
    """The files with evaluation data among and below ``folders``, in order.

    Raises:
        UsageError: one does not exist, or holds none.
    """
    found: dict[Path, None] = {}
    for folder in folders:
        paths = sorted(folder.rglob("*")) if folder.is_dir() else [folder]
        files = [path for path in paths if format_of(path, KINDS) and path.is_file()]
        if not files:
            raise UsageError(
                f"--exclude-eval {folder}: no {', '.join(KINDS)} files there, compressed or not"
            )
        found |= dict.fromkeys(files)
    return list(found)


def evaluation_sentences(path: Path) -> Iterator[str]:
    """Every sentence with Hangul in it, of every text that ``path`` holds, wherever it stands; in
    NFC, as Korean is written down everywhere but in the names of a Mac's files.

    Texts without Hangul are ids, labels and addresses.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        for text in _texts(path):
            plain = _TAGGED.sub(r"\1", unicodedata.normalize("NFC", text))
            yield from filter(_HANGUL.search, split_sentences(plain))
    except (OSError, ValueError, csv.Error, RecursionError, Damaged) as error:
        raise DataError(f"{path}: evaluation data that cannot be read ({error})") from None


def _texts(path: Path) -> Iterator[str]:
    kind = format_of(path, KINDS)
    content = b"".join(read_blocks(path, lambda consumed: None))
    if kind == ".parquet":
        yield from _table(content)
        return
    text = content.decode("utf-8-sig")
    if kind == ".json":
        yield from _strings(json.loads(text))
    elif kind == ".jsonl":
        for line in filter(str.strip, text.split("\n")):
            yield from _strings(json.loads(line))
    elif kind == ".csv":
        for row in csv.reader(io.StringIO(text, newline="")):
            yield from row
    else:  # tab-separated without quoting, or plain
        for line in text.split("\n"):
            yield from line.split("\t")


def _table(content: bytes) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(pa.BufferReader(content)).iter_batches():
        for row in batch.to_pylist():
            yield from _strings(row)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _NO_TEXTS:
                yield from _strings(inner)
