"""Tokens as text: for people, for programs, for the next tool in a pipe."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from kobert_kit.report.tables import table
from kobert_kit.tokenizer.tokens import Token


def as_table(text: str, tokens: Sequence[Token]) -> str:
    """A row a token."""
    rows = [
        [token.token, str(token.id), f"{token.start}-{token.end}", token.morpheme, token.tag]
        for token in tokens
    ]
    return f"{text}\n\n{table(['token', 'id', 'offsets', 'morpheme', 'tag'], rows)}\n"


def as_json(text: str, tokens: Sequence[Token]) -> str:
    """One JSON object on a line."""
    values = {"text": text, "tokens": [asdict(token) for token in tokens]}
    return json.dumps(values, ensure_ascii=False)


def as_line(_text: str, tokens: Sequence[Token]) -> str:
    """The tokens with spaces between."""
    return " ".join(token.token for token in tokens)


STYLES: Mapping[str, Callable[[str, Sequence[Token]], str]] = {
    "table": as_table,
    "json": as_json,
    "line": as_line,
}
