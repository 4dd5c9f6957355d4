"""From Markdown to prose, on markdown-it's parse: paragraphs, list items and quotes stay, with the
words of links; headings, code, tables, images, HTML and front matter go."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
_GONE = {"heading_open": "heading_close", "table_open": "table_close"}


def markdown_prose(markup: str) -> tuple[str, str]:
    """The first heading of a document and its running text, a paragraph a line."""
    title, lines, until = "", [], ""
    for token in _parser().parse(_FRONT_MATTER.sub("", markup, count=1)):
        if until:
            if token.type == "inline" and until == "heading_close":
                title = title or _words(token)
            until = "" if token.type == until else until
        elif token.type in _GONE:
            until = _GONE[token.type]
        elif token.type == "inline":
            lines.append(_words(token))
    return title, "\n".join(filter(None, lines))


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def _words(inline: Any) -> str:
    """Text and the code within it; a line break in a paragraph is a space."""
    parts = []
    for token in inline.children:
        if token.type in ("text", "text_special", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return " ".join("".join(parts).split())
