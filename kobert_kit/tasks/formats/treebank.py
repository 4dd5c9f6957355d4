"""Sentences with their dependency trees, as KLUE-DP's files and the hub have them, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.tasks.formats.parse import comment_of, looks_like, short
from kobert_kit.tasks.trees import is_tree

COLUMNS = ("INDEX", "WORD_FORM", "LEMMA", "POS", "HEAD", "DEPREL")
LABELS = (
    *("NP", "NP_AJT", "VP", "NP_SBJ", "VP_MOD", "NP_OBJ", "AP", "NP_CNJ", "NP_MOD", "VNP"),
    *("DP", "VP_AJT", "VNP_MOD", "NP_CMP", "VP_SBJ", "VP_CMP", "VP_OBJ", "VNP_CMP", "AP_MOD"),
    *("X_AJT", "VP_CNJ", "VNP_AJT", "IP", "X", "X_SBJ", "VNP_OBJ", "VNP_SBJ", "X_OBJ", "AP_AJT"),
    *("L", "X_MOD", "X_CNJ", "VNP_CNJ", "X_CMP", "AP_CMP", "AP_SBJ", "R", "NP_SVJ"),
)
TAGS = (
    *("NNG", "NNP", "NNB", "NP", "NR", "VV", "VA", "VX", "VCP", "VCN", "MMA", "MMD", "MMN"),
    *("MAG", "MAJ", "JC", "IC", "JKS", "JKC", "JKG", "JKO", "JKB", "JKV", "JKQ", "JX", "EP"),
    *("EF", "EC", "ETN", "ETM", "XPN", "XSN", "XSV", "XSA", "XR", "SF", "SP", "SS", "SE", "SO"),
    *("SW", "SL", "SH", "SN", "NA"),
)
LONGEST_NUMBER = 9  # digits


@dataclass(frozen=True)
class Sentence:
    """Eojeols and of each its part-of-speech tags ("NNG+JKS"), its head and its relation to it.

    A head is a place from 1; 0 is the root.
    """

    guid: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def parse_lines(lines: Sequence[str], where: str) -> Sentence:
    """The sentence in the lines of a file: comments, then six columns for each eojeol.

    The text is that of the eojeols. That of the comment is another in a few sentences of the
    release, where a number is 4.0 in one and 4 in the other, but it has as many eojeols.

    Raises:
        DataError: says where, the guid, and what is wrong.
    """
    guid, text = comment_of("dp", lines, where)
    where = f"{where} ({guid})"
    rows = [line.split("\t") for line in lines if not line.startswith("##")]
    for row in rows:
        if len(row) != len(COLUMNS):
            raise DataError(
                f"{where}: {len(row)} columns in {short(chr(9).join(row))}; the task dp has "
                f"{len(COLUMNS)}: {', '.join(COLUMNS)}"
            )
    return _checked(
        guid, text, [(_number(row[0]), *row[1:4], _number(row[4]), row[5]) for row in rows], where
    )


def parse_row(record: dict[str, Any], where: str) -> Sentence:
    """The sentence in a row of the hub, which gives no guid.

    Raises:
        DataError: as `parse_lines`.
    """
    columns = [record.get(name.lower()) for name in COLUMNS]
    text = record.get("sentence")
    if not isinstance(text, str) or not all(isinstance(column, list) for column in columns):
        names = ", ".join(f"'{name.lower()}'" for name in COLUMNS)
        raise DataError(f"{where}: no 'sentence' and lists {names}{looks_like('dp', record)}")
    lengths = [len(column or ()) for column in columns]
    if len(set(lengths)) > 1:
        raise DataError(f"{where}: the columns have {', '.join(map(str, lengths))} values")
    guid = str(record.get("guid") or where)
    return _checked(guid, text, list(zip(*columns, strict=True)), where)


def _number(text: str) -> int | str:
    """As a number if it is one."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else text


def _checked(guid: str, text: str, rows: Sequence[tuple[Any, ...]], where: str) -> Sentence:
    """The sentence whose eojeols are ``rows`` of `COLUMNS`, once all of it has been checked."""
    count = len(rows)
    if not rows:
        raise DataError(f"{where}: no eojeols")
    indices, words, _, tags, heads, labels = zip(*rows, strict=True)
    if list(indices) != list(range(1, count + 1)):
        raise DataError(f"{where}: the indices are {short(list(indices))}, not 1 to {count}")
    if not all(isinstance(text, str) and text.strip() for text in words + tags):
        raise DataError(f"{where}: an eojeol, or its part of speech, is empty")
    if (wanted := len(text.split())) != sum(len(word.split()) for word in words):
        raise DataError(
            f"{where}: the sentence has {wanted} eojeols, but {count} are listed; cut off?"
        )
    for index, (head, label) in enumerate(zip(heads, labels, strict=True), start=1):
        if not isinstance(head, int) or not 0 <= head <= count or head == index:
            raise DataError(
                f"{where}: the head of eojeol {index} is {short(head)}; expected 0 to {count} and "
                "not itself"
            )
        if label not in LABELS:
            raise DataError(
                f"{where}: the relation of eojeol {index} is {short(label)}; expected one of "
                f"{', '.join(LABELS)}"
            )
    if (roots := heads.count(0)) != 1:
        raise DataError(f"{where}: {roots} eojeols have the head 0; exactly one is the root")
    if not is_tree(np.array(heads)):
        raise DataError(f"{where}: no tree, as some heads lead round in a circle")
    return Sentence(guid, tuple(map(encodable, words)), tags, heads, labels)
