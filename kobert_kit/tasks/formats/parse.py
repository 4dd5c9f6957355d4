"""The fields of one record, as a KLUE file or the hub has them, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError

# Fields by which a record of each KLUE task is known, also of the tasks that are not ours yet.
SIGNATURES = {
    "nli": {"premise", "hypothesis"},
    "sts": {"sentence1", "sentence2"},
    "ynat": {"title", "label"},
    "re": {"subject_entity", "object_entity"},
    "dp": {"word_form", "deprel"},
    "wos": {"dialogue"},
    "mrc": {"paragraphs"},
}


def guid_of(task: str, record: Any, where: str) -> str:
    """The record's guid.

    Raises:
        DataError: it has none, or is no record at all.
    """
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected an object with fields, found {short(record)}")
    guid = record.get("guid")
    if guid is None or guid == "":
        raise DataError(f"{where}: no 'guid'{looks_like(task, record)}")
    return checked_guid(guid, where)


def checked_guid(guid: Any, where: str) -> str:
    """Raises DataError where ``guid`` is no text."""
    if not isinstance(guid, str):
        raise DataError(f"{where}: the guid is {short(guid)}; expected text in quotes")
    return encodable(guid)


def comment_of(task: str, lines: Sequence[str], where: str) -> tuple[str, str]:
    """The guid and the text in the comment of a sentence, whose lines are ``lines``.

    Raises:
        DataError: there is none.
    """
    comments = [line for line in lines if line.startswith("##")]
    if not comments:
        raise DataError(f"{where}: no line '## guid<TAB>sentence'; not data of the task {task}")
    # The file's own comments stand in front of the first sentence's.
    guid, tab, text = comments[-1][2:].lstrip(" ").partition("\t")
    if not guid or not tab:
        raise DataError(f"{where}: no guid in {short(comments[-1])}")
    return encodable(guid), text


def text_of(task: str, record: dict[str, Any], name: str, where: str) -> str:
    """The text in the field ``name``; lone surrogates, which no tokenizer takes, are U+FFFD.

    Raises:
        DataError: there is none, or only white space.
    """
    text = record.get(name)
    if not isinstance(text, str):
        raise DataError(f"{where}: no text in '{name}'{looks_like(task, record)}")
    if not text.strip():
        raise DataError(f"{where}: '{name}' is empty")
    return encodable(text)


def nested(record: dict[str, Any], path: Sequence[str]) -> Any:
    """What lies at ``path``, or None."""
    value: Any = record
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def check_label(
    task: str, record: dict[str, Any], label: Any, labels: Sequence[str], where: str
) -> None:
    """Raises DataError where ``label`` is none of ``labels``."""
    _check_there(task, record, label, where)
    if label not in labels:
        raise DataError(f"{where} is {short(label)}; expected one of {', '.join(labels)}")


def check_score(
    task: str, record: dict[str, Any], label: Any, labels: Sequence[str], where: str
) -> None:
    """Raises DataError where ``label`` is no number from 0 to 5; there are no ``labels``."""
    _check_there(task, record, label, where)
    number = isinstance(label, int | float) and not isinstance(label, bool)
    if not number or not 0 <= label <= 5:  # nor NaN
        raise DataError(f"{where} is {short(label)}; expected a number from 0 to 5")


def _check_there(task: str, record: dict[str, Any], label: Any, where: str) -> None:
    if label is None:
        raise DataError(f"{where} is missing{looks_like(task, record)}")


def looks_like(task: str, record: dict[str, Any]) -> str:
    """The end of a message about a record that is not of ``task``."""
    for other, fields in SIGNATURES.items():
        if other != task and fields <= record.keys():
            return f"; this looks like data of the task {other}, not {task}"
    return f"; not a record of the task {task}"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
