"""From Markdown to prose, on markdown-it's parse: paragraphs, list items and quotes stay, with the
words of links; headings, code, tables, images, HTML and front matter go."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
# CommonMark leaves **한국어(Korean)**는 as it is, since between a punctuation mark and a letter the
# asterisks look like an opening; in Korean a particle follows there.
_STRONG = re.compile(
    r"(\*{1,3})(?=[^\s*])([^*]{1,500})(?<=[^\w\s*])\1(?=[가-힣])"
    r"|(?<=[가-힣])(\*{1,3})(?=[^\w\s*])([^*]{1,500})(?<=[^\s*])\3(?!\*)"
)
# Marks of GitHub's that CommonMark does not know: of footnotes, and before tasks and notes.
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]:?")
_BOX = re.compile(r"\A\[(?:[ xX]\] |![A-Za-z]{1,20}\])")
_ASTERISK = "\ue000"  # stands for one that is meant, in code or behind a backslash
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

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return parser.disable("text_join", True)  # so that what is escaped is a token of its own


def _words(inline: Any) -> str:
    """Text and the code within it; a line break in a paragraph is a space."""
    parts: list[str] = []
    before = ""
    for token in inline.children:
        if token.type == "text":
            # A footnote that is an address alone is a link to it.
            if not (before == "link_open" and token.content.startswith("^")):
                text = _FOOTNOTE.sub("", token.content)
                parts.append(text if parts else _BOX.sub("", text))
        elif token.type in ("text_special", "code_inline"):
            parts.append(token.content.replace("*", _ASTERISK))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        before = token.type
    text = _STRONG.sub(r"\2\4", "".join(parts))
    return " ".join(text.replace(_ASTERISK, "*").split())
