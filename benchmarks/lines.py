"""Lines of text out of whatever a folder holds, for the benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.files import find_files
from kobert_kit.corpus.reading import read_documents


def read_lines(paths: list[Path], each: int) -> list[str]:
    """Up to ``each`` lines of every file: a corpus' paragraphs, the strings in a .json, the rows
    of a .tsv. Corpora are spread over their documents, so that no file's beginning stands for it.
    """
    lines: list[str] = []
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix in (".json", ".tsv", ".txt"):
                lines += _spread(list(_lines_of(file)), each)
            elif file.is_file() and ".jsonl" in file.suffixes:
                texts = read_documents(find_files([file]), ReadReport())
                lines += _spread([row for text in texts for row in text.text.split("\n")], each)
    return lines


def _spread(lines: list[str], count: int) -> list[str]:
    step = max(1, len(lines) // count)
    return lines[::step][:count]


def _lines_of(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        yield from dict.fromkeys(_strings(json.loads(text)))
    else:
        yield from text.split("\n")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)
