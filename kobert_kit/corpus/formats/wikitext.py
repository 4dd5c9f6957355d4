"""From wikitext to prose, on mwparserfromhell's parse: text and the words of links stay; templates,
tables, lists, headings, references, files and categories go."""

from __future__ import annotations

import re
from typing import Any

# Markup of lists, by which a whole line is one.
_ITEMS = ("*", "#", ":", ";")
_ITEM = "\ue000"  # stands for it until the line is whole
_GONE = {"ref", "references", "table", "gallery", "imagemap", "timeline", "graph", "math", "chem"}
_GONE |= {"categorytree", "score", "hiero", "syntaxhighlight", "source", "code", "pre"}
_GONE |= {"inputbox", "section", "templatedata"}
_PLACES = re.compile(
    r"(?:파일|그림|이미지|분류|틀|위키백과|file|image|category|template|[a-z]{2,3}(?:-[a-z]+)*)\s*:",
    re.IGNORECASE,
)
_EMPTY_BRACKETS = re.compile(r"\s?\([\s,;:·/=]*\)")


def prose(wikitext: str) -> str:
    """The running text of an article, a paragraph a line."""
    import mwparserfromhell

    text = _plain(mwparserfromhell.parse(wikitext))
    text = _EMPTY_BRACKETS.sub("", text)
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and _ITEM not in line)


def _plain(code: Any) -> str:
    return "".join(map(_text_of, code.nodes)) if code else ""


def _text_of(node: Any) -> str:
    kind = type(node).__name__
    if kind == "Text":
        return str(node.value)
    if kind == "HTMLEntity":
        return str(node.normalize())
    if kind == "Wikilink":
        if _PLACES.match(str(node.title)):
            return ""
        return _plain(node.text) if node.text is not None else _plain(node.title)
    if kind == "ExternalLink":
        return _plain(node.title)
    if kind == "Heading":
        return "\n"
    if kind == "Tag":
        return _tag(node)
    return ""  # templates, their arguments, comments


def _tag(node: Any) -> str:
    if node.wiki_markup in _ITEMS:
        return _ITEM
    name = str(node.tag).strip().lower()
    if name == "br":
        return "\n"
    return "" if name in _GONE else _plain(node.contents)
