"""Prepared text as a data set of Arrow tables, for those who train with other tools."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kobert_kit.corpus.disk import full_disk_told
from kobert_kit.errors import UsageError
from kobert_kit.pretrain.prepare import STAGE as PREPARE
from kobert_kit.pretrain.prepare import finished_shards
from kobert_kit.pretrain.prepared import EOJEOL, MORPHEME, SENTENCE
from kobert_kit.records import (
    Record,
    check_place,
    read_record,
    recorded_stage,
    sync_path,
    versions,
    write_record,
)

STAGE = "export-arrow"
MARKS = {"eojeol": EOJEOL, "morpheme": MORPHEME, "sentence": SENTENCE}


def check_target(prepared: Path, target: Path) -> None:
    """Check that a data set can be written to ``target``, before the hours that come first.

    Raises:
        UsageError: something else is there, or nothing can be written; or it and the folder
            ``prepared`` lie in one another.
    """
    folder, place = prepared.resolve(), target.resolve()
    if folder == place or folder in place.parents or place in folder.parents:
        raise UsageError(
            f"--export-arrow {target}: it and --output {prepared} lie in one another; name a "
            "folder beside it"
        )
    if os.path.lexists(target):
        if recorded_stage(target) != STAGE:
            raise UsageError(f"--export-arrow {target}: exists already; name a new folder")
        return
    first = next(path for path in (target, *target.parents) if path.parent.exists())
    check_place(first, "--export-arrow")


def export_arrow(prepared: Path, target: Path) -> bool:
    """Write the documents of the folder ``prepared`` as a data set for `datasets.load_from_disk`.

    A row a document: ``input_ids``, without special tokens, and ``eojeol``, ``morpheme`` and
    ``sentence``, lists of bool of the same length: where each begins. ``target`` is there only
    when it is whole. Returns whether there was anything to do: False where it is there already.

    Raises:
        UsageError: what `check_target` finds, or ``target`` was made from other prepared text.
        DataError: a shard is damaged, missing or another corpus's, or the disk is full.
    """
    check_target(prepared, target)
    made = read_record(prepared, PREPARE)
    plan = Record(STAGE, settings=made.settings, inputs=made.inputs)
    if target.exists():
        there = read_record(target, STAGE)
        if (there.settings, there.inputs) != (plan.settings, plan.inputs):
            raise UsageError(f"--export-arrow {target}: made from another text; name a new folder")
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"--export-arrow {target}: cannot be written ({error.strerror})"
        raise UsageError(message) from None
    work = target.with_name(f".{target.name}.tmp")
    shutil.rmtree(work, ignore_errors=True)  # what a kill left
    try:
        with full_disk_told(target.parent):
            plan.results = {"documents": _write(prepared, work)}
            plan.versions = versions("datasets", "pyarrow")
            write_record(work / "data", plan)
            os.replace(work / "data", target)
            sync_path(target.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return True


def _write(prepared: Path, work: Path) -> int:
    """Write ``work/data``; returns the number of its rows."""
    from datasets import Dataset, Features, List, Value
    from datasets.exceptions import DatasetGenerationError

    columns = {"input_ids": List(Value("int32"))} | {name: List(Value("bool")) for name in MARKS}
    try:
        data = Dataset.from_generator(
            _rows,
            features=Features(columns),
            gen_kwargs={"prepared": str(prepared)},  # the library takes a hash of this
            cache_dir=str(work / "cache"),
        )
    except DatasetGenerationError as error:  # around whatever went wrong
        raise error.__cause__ or error from None
    data.save_to_disk(str(work / "data"))
    for path in (work / "data").iterdir():
        sync_path(path)
    return len(data)


def _rows(prepared: str) -> Iterator[dict[str, Any]]:
    folder = Path(prepared)
    for shard in finished_shards(folder, read_record(folder, PREPARE)):
        for begin, end in zip(shard.offsets[:-1], shard.offsets[1:], strict=True):
            marks = shard.marks[begin:end]
            starts = {name: (marks & bit) > 0 for name, bit in MARKS.items()}
            yield {"input_ids": shard.ids[begin:end]} | starts
