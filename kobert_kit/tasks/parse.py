"""One record, as a KLUE file or the hub has it, made into an `Example`."""

from __future__ import annotations

from typing import Any

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.tasks.task import Example, SentenceTask

# Fields by which a record of each KLUE task is known, also of the tasks that are not ours yet.
SIGNATURES = {
    "nli": {"premise", "hypothesis"},
    "sts": {"sentence1", "sentence2"},
    "ynat": {"title", "label"},
    "re": {"subject_entity", "object_entity"},
    "wos": {"dialogue"},
    "mrc": {"paragraphs"},
}


def parse_record(
    task: SentenceTask, record: Any, where: str, label_path: tuple[str, ...]
) -> Example:
    """The example in ``record``; ``where`` (file and number) stands in front of every error.

    Raises:
        DataError: a field is missing, empty, or not of its kind; another task's record.
    """
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected an object with fields, found {_short(record)}")
    guid = record.get("guid")
    if not isinstance(guid, str) or not guid:
        raise DataError(f"{where}: no 'guid'{_looks_like(task, record)}")
    guid = encodable(guid)
    where = f"{where} ({guid})"
    texts = []
    for name in task.texts:
        text = record.get(name)
        if not isinstance(text, str):
            raise DataError(f"{where}: no text in '{name}'{_looks_like(task, record)}")
        if not text.strip():
            raise DataError(f"{where}: '{name}' is empty")
        texts.append(encodable(text))
    label: Any = record
    for name in label_path:
        label = label.get(name) if isinstance(label, dict) else None
    _check_label(task, label, f"{where}: '{'.'.join(label_path)}'", record)
    return Example(guid, texts[0], texts[1] if len(texts) > 1 else None, label)


def _check_label(task: SentenceTask, label: Any, where: str, record: dict[str, Any]) -> None:
    if label is None:
        raise DataError(f"{where} is missing{_looks_like(task, record)}")
    if task.is_regression:
        number = isinstance(label, int | float) and not isinstance(label, bool)
        if not number or not 0 <= label <= 5:  # nor NaN
            raise DataError(f"{where} is {_short(label)}; expected a number from 0 to 5")
    elif label not in task.labels:
        raise DataError(f"{where} is {_short(label)}; expected one of {', '.join(task.labels)}")


def _looks_like(task: SentenceTask, record: dict[str, Any]) -> str:
    for other, fields in SIGNATURES.items():
        if other != task.name and fields <= record.keys():
            return f"; this looks like data of the task {other}, not {task.name}"
    return f"; not a record of the task {task.name}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
