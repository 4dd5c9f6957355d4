"""From Namuwiki's markup to prose, by rule: text and the words of links stay; tables, lists,
headings, footnotes, macros, categories and what is struck out go."""

from __future__ import annotations

import re
from collections.abc import Iterator

_REDIRECT = re.compile(r"#(?:redirect|넘겨주기)\b", re.IGNORECASE)
_BRACES = re.compile(r"(\{\{\{|\}\}\})")
_SIZE = re.compile(r"\A(?:[+-][1-5]|#[\w,#]+)\s+")  # or colour, of what the braces enclose
# Innermost first: a rule takes marks that hold no further ones, until none is left.
_RULES = [
    (re.compile(rule, re.DOTALL | re.IGNORECASE), by)
    for rule, by in (
        (r"\[\[(?:분류|파일|file):[^\[\]]*\]\]", ""),
        (r"\[\[[^\[\]|]*\|([^\[\]]*)\]\]", r"\1"),
        (r"\[\[(?::|#)?([^\[\]|]*)\]\]", r"\1"),
        (r"\[\*(?:[^\[\]]|\[[^\[\]*][^\[\]]*\])*\]", ""),
        (r"\[br\]", "\n"),
        (r"\[ruby\(([^\[\]]*?),\s*ruby\s*=[^\[\]]*\)\]", r"\1"),
        (r"\[(?:목차|각주|tableofcontents|footnote|clearfix|date|datetime|pagecount)\]", ""),
        (r"\[[a-z가-힣]+\([^\[\]]*?\)\]", ""),
    )
]
# In pairs that enclose something; alone they are smileys, names in code, or dashes. Not C--.
_STRUCK = re.compile(
    r"~~(?=[^\s~])[^~\n]{1,500}(?<=\S)~~|(?<![A-Za-z0-9-])--(?=[^\s-])[^-\n]{1,500}(?<=\S)--"
)
_STYLE = re.compile(
    r"(?<![A-Za-z0-9_])__(?=[^\s_])([^\n]{1,500}?)(?<=[^\s_])__(?!_)|\^\^(?=\S)([^^\n]{1,500})(?<=\S)\^\^"
    r"|,,(?=[^\s,])([^\n]{1,500}?)(?<=[^\s,]),,(?!,)|\'{2,3}"
)
_NO_PROSE = re.compile(r"\s*(?:\|\||={1,6}#? .* #?={1,6}\s*$|##|\*|>|-{4,}|[1aAiI]\.(?:#\d+)? )")
_ROUNDS = 10


def namu_prose(markup: str) -> str:
    """The running text of an article, a paragraph a line; empty for a redirect."""
    if _REDIRECT.match(markup):
        return ""
    text = _without_braces(markup)
    for _ in range(_ROUNDS):
        before = text
        for pattern, by in _RULES:
            text = pattern.sub(by, text)
        if text == before:
            break
    lines = (
        _STYLE.sub(r"\1\2\3", _STRUCK.sub("", line)).strip()
        for line in _without_rows(text.split("\n"))
        if not _NO_PROSE.match(line)
    )
    return "\n".join(filter(None, lines))


def _without_braces(markup: str) -> str:
    """``{{{``, ``}}}`` and the size or colour behind the former go, and all within that begins with
    ``#!``, whatever braces are in it. Those that lack the other stay."""
    out: list[str] = []
    open_at: list[int] = []  # places of what does not yet end
    for part in _BRACES.split(markup):
        if part == "{{{":
            open_at.append(len(out))
        if part != "}}}" or not open_at:
            out.append(part)
            continue
        at = open_at.pop()
        if out[at + 1].startswith("#!"):
            del out[at:]
        else:
            out[at] = ""
            out[at + 1] = _SIZE.sub("", out[at + 1])
    return "".join(out)


def _without_rows(lines: list[str]) -> Iterator[str]:
    """Leave out the rows of tables that go on over lines; one ends with ``||``, and one that does
    not before an empty line is its first line alone."""
    row: list[str] = []
    for line in lines:
        bare = line.strip()
        if row and bare:
            row.append(line)
            if bare.endswith("||"):
                row = []
        elif bare.startswith("||") and (bare == "||" or not bare.endswith("||")):
            row = [line]
        else:
            yield from row[1:]
            row = []
            yield line
    yield from row[1:]
