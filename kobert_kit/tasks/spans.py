"""Gold spans of text, to measure tokenizers by: entities and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kobert_kit.errors import DataError

Spans = list[tuple[int, int]]


def read_entities(path: Path) -> Iterator[tuple[str, Spans]]:
    """Sentences of a KLUE-NER file with the spans of their entities, in characters.

    A line is a character, a tab, and its tag (B-PS, I-PS, O); a blank line ends the sentence;
    lines that begin with ## are comments.

    Raises:
        DataError: a line is not a character and a tag; names the file and the line.
    """
    text, spans = "", Spans()
    for number, line in enumerate(_lines(path), 1):
        if line.startswith("##") and "\t" not in line[:2]:
            continue
        if not line:
            if text:
                yield text, spans
            text, spans = "", []
            continue
        char, tab, tag = line.partition("\t")
        if not tab or len(char) != 1 or tag[:2] not in ("B-", "I-", "O"):
            raise DataError(f"{path}:{number}: not a character, a tab and a BIO tag: '{line}'")
        if tag.startswith("B-"):
            spans.append((len(text), len(text) + 1))
        elif tag.startswith("I-") and spans and spans[-1][1] == len(text):
            spans[-1] = (spans[-1][0], len(text) + 1)
        text += char
    if text:
        yield text, spans


def read_answers(path: Path) -> Iterator[tuple[str, Spans]]:
    """Paragraphs of a SQuAD-format file (KorQuAD, KLUE-MRC) with the spans of all their answers.

    Raises:
        DataError: the file is not in this format, or an answer is not where it says.
    """
    try:
        articles = json.loads("\n".join(_lines(path)))["data"]
        for article in articles:
            for paragraph in article["paragraphs"]:
                text = paragraph["context"]
                spans = {
                    (answer["answer_start"], answer["answer_start"] + len(answer["text"]))
                    for question in paragraph["qas"]
                    for answer in question["answers"]
                }
                if any(end > len(text) for _, end in spans):
                    raise DataError(f"{path}: an answer ends after its paragraph '{text[:20]}...'")
                yield text, sorted(spans)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a file of the SQuAD format ({error!r})") from None


def _lines(path: Path) -> list[str]:
    try:
        # Not splitlines(): a character of a sentence may be one that it takes for a line's end.
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8") from None
