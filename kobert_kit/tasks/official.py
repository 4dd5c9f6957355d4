"""The official file layout: ``klue_benchmark/<task>-v1.1/<task>-v1.1_{train,dev}.json``."""

from __future__ import annotations

import json
from pathlib import Path

from kobert_kit.errors import DataError, UsageError
from kobert_kit.tasks.parse import parse_record
from kobert_kit.tasks.task import Example, SentenceTask


def official_file(task: SentenceTask, data_dir: Path, split: str) -> Path:
    """The file of ``split`` ("train" or "dev"); ``data_dir`` is klue_benchmark or holds it.

    Raises:
        DataError: there is no such file.
    """
    if not data_dir.is_dir():
        raise UsageError(f"--data-dir {data_dir}: no such folder")
    name = f"{task.folder}/{task.folder}_{split}.json"
    for parent in (data_dir, data_dir / "klue_benchmark"):
        if (parent / name).is_file():
            return parent / name
    raise DataError(f"--data-dir {data_dir}: no {name} in it, nor in a klue_benchmark folder there")


def read_official(task: SentenceTask, path: Path) -> list[Example]:
    """The examples of one official file, in its order.

    Raises:
        DataError: the file cannot be read, is cut off, or holds something else; names the record.
    """
    try:
        records = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start:,}; get the file again") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}:{error.lineno}: not JSON, or cut off ({error.msg}); get the file again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}); get the file again") from None
    if not isinstance(records, list):
        raise DataError(f"{path}: expected a list of records, as the files of {task.name} have it")
    return [
        parse_record(task, record, f"{path}: record {number}", task.label)
        for number, record in enumerate(records, start=1)
    ]
