"""Prepared text as a data set of Arrow tables, for those who train with other tools."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.prepared import EOJEOL, MORPHEME, SENTENCE, open_shards
from kobert_kit.records import check_place

MARKS = {"eojeol": EOJEOL, "morpheme": MORPHEME, "sentence": SENTENCE}


def export_arrow(prepared: Path, target: Path) -> None:
    """Write the documents of the folder ``prepared`` as a data set for `datasets.load_from_disk`.

    A row a document: ``input_ids``, without special tokens, and ``eojeol``, ``morpheme`` and
    ``sentence``, lists of bool of the same length: where each begins.

    Raises:
        UsageError: ``target`` is there already, or cannot be written.
        DataError: a shard is damaged.
    """
    from datasets import Dataset, Features, List, Value

    check_target(target)
    columns = {"input_ids": List(Value("int32"))} | {name: List(Value("bool")) for name in MARKS}
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as work:
        # The path, and not the arrays: the library takes a hash of what it is given.
        source = {"prepared": str(prepared)}
        data = Dataset.from_generator(
            _rows, features=Features(columns), gen_kwargs=source, cache_dir=f"{work}/cache"
        )
        data.save_to_disk(f"{work}/data")
        os.replace(f"{work}/data", target)


def check_target(target: Path) -> None:
    """Make the folder that ``target`` goes into.

    Raises:
        UsageError: ``target`` is there already, or cannot be written.
    """
    if os.path.exists(target):  # which takes a name that is too long for one that is not there
        raise UsageError(f"--export-arrow {target}: exists already; name a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--export-arrow {target}: cannot be written ({error.strerror})") from None
    check_place(target, "--export-arrow")


def _rows(prepared: str) -> Iterator[dict[str, Any]]:
    for shard in open_shards(Path(prepared)):
        for begin, end in zip(shard.offsets[:-1], shard.offsets[1:], strict=True):
            marks = shard.marks[begin:end]
            starts = {name: (marks & bit) > 0 for name, bit in MARKS.items()}
            yield {"input_ids": shard.ids[begin:end]} | starts
