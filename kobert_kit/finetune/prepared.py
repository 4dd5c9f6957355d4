"""The data of a task and the model folder that is fine-tuned on it, read and checked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kobert_kit.console import counted
from kobert_kit.finetune.encoded_cache import cache_key, encode_once, keep_misfits, read_misfits
from kobert_kit.finetune.model import ModelFolder, open_model_folder
from kobert_kit.tasks.data import TaskData, find_misfits, leave_out, load_data
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.own.tasks import label_digest
from kobert_kit.tasks.task import Task
from kobert_kit.tokenizer.loading import tokenizer_fingerprint

SKIPPED_SHOWN = 20


@dataclass
class Prepared:
    """What all runs on the same data and model share; encoded when it is first asked for.

    ``data_digest`` is that of the data, ``tokenizer_digest`` of the folder's tokenizer. ``misfits``
    were left out of the data; they are those of ``misfits_key``.
    """

    task: Task[Any]
    folder: ModelFolder
    data: TaskData[Any]
    max_length: int
    data_digest: str
    tokenizer_digest: str
    misfits: dict[str, dict[str, str]]
    misfits_key: str
    _rows: tuple[Encoded[Any], Encoded[Any]] | None = field(default=None, repr=False)

    def rows(self, cache: Path) -> tuple[Encoded[Any], Encoded[Any]]:
        """Train and dev; as the folder ``cache`` has them, if it has."""
        if self._rows is None:
            if read_misfits(cache, self.misfits_key) is None:
                keep_misfits(cache, self.misfits_key, self.misfits)
            train, dev = (
                self._encoded(name, examples, cache)
                for name, examples in (("train", self.data.train), ("dev", self.data.dev))
            )
            self._rows = train, dev
        return self._rows

    def _encoded(self, split: str, examples: Sequence[Any], cache: Path) -> Encoded[Any]:
        key = cache_key(
            task=self.task.name,
            split=split,
            data=self.data_digest,
            tokenizer=self.tokenizer_digest,
            max_length=self.max_length,
            **label_digest(self.task),
        )
        tokenizer, length = self.folder.tokenizer, self.max_length
        return encode_once(
            lambda: self.task.encode(examples, tokenizer, length), examples, key, cache, split
        )


def prepare(
    task: Task[Any],
    model: Path,
    data_dir: Path | None,
    max_length: int | None,
    limit: int | None,
    strict: bool,
    say: Callable[[str], object],
    cache: Path,
) -> Prepared:
    """Open ``model`` and read both splits; what is skipped is said.

    Without ``max_length`` rows are as long as is usual for the task, where the model can take it.

    What does not fit is taken from the folder ``cache``, if it was found before.

    Raises:
        UsageError: the model has no positions for ``max_length`` tokens.
        DataError: the data or the model folder is not what the task needs.
    """
    folder = open_model_folder(model)
    length = folder.max_length(max_length, task.max_length)
    whole = load_data(task, data_dir, limit, strict)
    tokenizer, whole_digest = tokenizer_fingerprint(folder.path), whole.fingerprint()
    key = cache_key(task=task.name, data=whole_digest, tokenizer=tokenizer, max_length=length)
    misfits = read_misfits(cache, key)
    if misfits is None:
        misfits = find_misfits(task, whole, folder.tokenizer, length)
    data = leave_out(task, whole, misfits, strict)
    _say_skipped(data, say)
    digest = data.fingerprint() if any(misfits.values()) else whole_digest
    return Prepared(task, folder, data, length, digest, tokenizer, misfits, key)


def _say_skipped(data: TaskData[Any], say: Callable[[str], object]) -> None:
    for split, messages in data.skipped.items():
        for message in messages[:SKIPPED_SHOWN]:
            say(message)
        more = len(messages) - SKIPPED_SHOWN
        skipped = f"{split}: {counted(len(messages), 'bad record')} skipped"
        say(skipped + (f" ({more} not shown)" if more > 0 else ""))
