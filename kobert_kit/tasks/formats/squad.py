"""Questions on a context, as KLUE-MRC, KorQuAD 1.0 and SQuAD 1.1 and 2.0 lay them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.tasks.formats.official import read_json
from kobert_kit.tasks.formats.parse import checked_guid, looks_like, short, text_of

TASK_NAME = "mrc"
ASKED = "asked"  # a key of records whose answer nobody knows yet


@dataclass(frozen=True)
class Question:
    """``answers`` are (start, text), with ``context[start:]`` beginning with the text.

    An unanswerable question has none. ``impossible`` is None in layouts (SQuAD 1.1, KorQuAD 1.0)
    in which every question has an answer. One whose answer is not known has none either.
    """

    guid: str
    context: str
    question: str
    answers: tuple[tuple[int, str], ...]
    impossible: bool | None


Record = dict[str, Any] | str


def question_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Each question of a file, with the context that it is asked on beside its own fields.

    In place of an article or a paragraph without questions, what is wrong with it.

    Raises:
        DataError: the file has not this layout; says where.
    """
    release = read_json(path)
    articles = release.get("data") if isinstance(release, dict) else None
    if not isinstance(articles, list):
        first = release[0] if isinstance(release, list) and release else release
        kind = looks_like(TASK_NAME, first) if isinstance(first, dict) else ""
        raise DataError(f"{path}: no list 'data' of articles{kind}")
    number = 0
    for place, article in enumerate(articles, start=1):
        where = f"{path}: article {place}"
        paragraphs = _list(article, "paragraphs")
        if paragraphs is None:
            yield where, "no list 'paragraphs' of objects"
        for paragraph in paragraphs or []:
            questions = _list(paragraph, "qas")
            if questions is None:
                yield f"{where}: a paragraph", "no list 'qas' of objects"
            for question in questions or []:
                number += 1
                record = {"context": paragraph.get("context"), **question}
                yield f"{path}: question {number}", record


def _list(value: Any, name: str) -> list[dict[str, Any]] | None:
    found = value.get(name) if isinstance(value, dict) else None
    is_whole = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    return found if is_whole else None


def parse_question(record: Record, where: str) -> Question:
    """The question in a record of `question_records`.

    Raises:
        DataError: a field is missing or empty, or an answer is not where it says.
    """
    if isinstance(record, str):
        raise DataError(f"{where}: {record}")
    guid = record.get("guid", record.get("id"))
    if guid is None or guid == "":
        raise DataError(f"{where}: neither 'guid' nor 'id'")
    guid = checked_guid(guid, where)
    where = f"{where} ({guid})"
    context, question = (
        text_of(TASK_NAME, record, name, where) for name in ("context", "question")
    )
    impossible = record.get("is_impossible")
    if impossible is not None and not isinstance(impossible, bool):
        raise DataError(f"{where}: 'is_impossible' is {short(impossible)}; expected true or false")
    answers = record.get("answers")
    if not isinstance(answers, list):
        raise DataError(f"{where}: no list 'answers'")
    found = tuple(dict.fromkeys(_answer(each, context, where) for each in answers))
    if bool(found) == bool(impossible) and ASKED not in record:
        raise DataError(
            f"{where}: " + ("unanswerable, but has answers" if found else "no answer to learn from")
        )
    return Question(guid, context, question, found, impossible)


def _answer(answer: Any, context: str, where: str) -> tuple[int, str]:
    text = answer.get("text") if isinstance(answer, dict) else None
    start = answer.get("answer_start") if isinstance(answer, dict) else None
    if not isinstance(text, str) or not isinstance(start, int) or not text.strip():
        raise DataError(f"{where}: {short(answer)} has no 'text' and 'answer_start'")
    text = encodable(text)
    there = context[start : start + len(text)] if start >= 0 else ""
    if there != text:
        raise DataError(f"{where}: the answer {short(text)} is not at {start}; {short(there)} is")
    return start, text
