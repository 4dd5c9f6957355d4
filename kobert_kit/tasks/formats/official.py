"""The official file layout: ``klue_benchmark/<task>-v1.1/<task>-v1.1_{train,dev}``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from kobert_kit.errors import DataError, UsageError

_TITLE = re.compile(r"##\s*(\S+)\t")


def official_file(files: Sequence[str], data_dir: Path, split: str) -> Path:
    """The first of ``files`` that is there; ``data_dir`` is klue_benchmark or holds it.

    In the names "{split}" stands for ``split`` ("train" or "dev").

    Raises:
        DataError: there is no such file.
    """
    if not data_dir.is_dir():
        raise UsageError(f"--data-dir {data_dir}: no such folder")
    names = [name.format(split=split) for name in files]
    for name in names:
        for parent in (data_dir, data_dir / "klue_benchmark"):
            if (parent / name).is_file():
                return parent / name
    raise DataError(
        f"--data-dir {data_dir}: no {' or '.join(names)} in it, nor in a klue_benchmark folder "
        f"there{_older(names, data_dir)}"
    )


def _older(names: Sequence[str], data_dir: Path) -> str:
    """The end of a message where the files are those of KLUE's first release."""
    for name in names:
        for parent in (data_dir, data_dir / "klue_benchmark"):
            first = parent / name.replace("-v1.1", "-v1")
            if "-v1.1" in name and first.is_file():
                return f"; {first} is of v1, which v1.1 corrects: get v1.1"
    return ""


def json_records(path: Path, task: str) -> Iterator[tuple[str, Any]]:
    """The records of a file that is a list of them, each with where it stands.

    Raises:
        DataError: the file cannot be read, is cut off, or holds something else.
    """
    records = read_json(path)
    if not isinstance(records, list):
        raise DataError(f"{path}: expected a list of records, as the files of {task} have it")
    for number, record in enumerate(records, start=1):
        yield f"{path}: record {number}", record


def sentence_records(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of each sentence, comments (##) included, each with where it stands.

    A blank line ends a sentence. A character may be a blank, so lines are never stripped, nor cut
    where ``splitlines`` would.

    Raises:
        DataError: the file cannot be read, or has no sentences.
    """
    lines: list[str] = []
    number, first = 0, 1
    for line_number, line in enumerate(chain(read_text(path).split("\n"), [""]), start=1):
        if line:
            lines.append(line)
            continue
        if lines:
            number += 1
            yield f"{path}:{first}: sentence {number}", lines
        lines, first = [], line_number + 1
    if not number:
        raise DataError(f"{path}: no sentences; get the file again")


def only_title(lines: Sequence[str]) -> list[str]:
    """The comments among the ``lines`` of a sentence, the last of which is its "## guid<TAB>text".

    Raises:
        DataError: they are of several sentences, which a blank line should part.
    """
    comments = [line for line in lines if line.startswith("##")]
    # What the first comments of a file say of its columns has tabs, too, but blanks before them.
    titles = [found[1] for found in map(_TITLE.match, comments) if found]
    if len(titles) > 1:
        raise DataError(f"{', '.join(titles)}: sentences without a blank line between them")
    return comments


def read_json(path: Path) -> Any:
    """What the JSON file holds.

    Raises:
        DataError: it cannot be read, or is cut off; names the line.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}:{error.lineno}: not JSON, or cut off ({error.msg}); get the file again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}); get the file again") from None


def read_text(path: Path) -> str:
    """The file's text, without a byte order mark.

    Raises:
        DataError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 at byte {error.start:,}; save it as UTF-8 if it is your own, or "
            "get the file again"
        ) from None
