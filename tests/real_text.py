"""Real text and the cases, where they are at hand; tests that want them skip where they are not."""

from __future__ import annotations

import json
import lzma
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared"


def cases() -> list[dict[str, Any]]:
    path = SHARED / "cases" / "tokenizer" / "cases.jsonl"
    if not path.exists():
        pytest.skip(f"no {path}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def corpus_lines(each: int) -> Iterator[str]:
    """Lines of every corpus, ``each`` of them."""
    files = sorted((SHARED / "data" / "corpus").glob("*.jsonl.xz"))
    if not files:
        pytest.skip(f"no corpora under {SHARED}")
    for path in files:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            lines = (row for line in stream for row in json.loads(line)["text"].split("\n"))
            yield from islice(lines, each)


def metric_cases(name: str) -> list[dict[str, Any]]:
    """Inputs of one official metric, and the values that the baseline gives for them."""
    path = SHARED / "cases" / "klue_metrics" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def task_file(archive: str, name: str, folder: Path) -> Path:
    """The file called ``name`` of a data set, unpacked into ``folder``."""
    path = SHARED / "data" / f"{archive}.tar.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    with tarfile.open(path) as packed:
        member = next(each for each in packed if Path(each.name).name == name)
        stream = packed.extractfile(member)
        assert stream is not None
        (folder / name).write_bytes(stream.read())
    return folder / name
