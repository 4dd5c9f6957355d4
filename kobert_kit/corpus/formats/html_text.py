"""The main text of an HTML page, by rule.

A page is blocks of text between its block elements. What stands in elements for other things
(navigation, headers, asides, forms, listings, headings) is left out; where the page says which
part is the article, so is all outside it. A form that holds most of the prose is no form but the
page (ASP.NET makes such). Of the rest a block stays that reads like prose: it is
long, or ends as a sentence does, and less than half of it are links.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import NamedTuple

LEAST = 40  # characters of a block that does not end as a sentence does
_LINKED = 0.5  # from this share of its characters on a block is a menu

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"}
_VOID |= {"source", "track", "wbr"}
# All others are part of a line of text, also those that no standard knows, as in browsers.
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        """
        address article aside blockquote body caption center dd details dialog dir div
        dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header
        hgroup hr html legend li listing main menu nav noscript ol optgroup option p pre
        search section summary table tbody td tfoot th thead title tr ul xmp
        """,
    )
)
_HEAD = {"title", "meta", "link", "script", "style", "noscript", "base", "template"}
_GONE = {"head", "script", "style", "noscript", "template", "iframe", "object", "svg", "math"}
_GONE |= {"nav", "header", "footer", "aside", "button", "select", "textarea", "dialog"}
_GONE |= {"figure", "audio", "video", "canvas", "pre", "xmp", "menu", "rp", "rt", "rtc"}
_GONE |= {"h1", "h2", "h3", "h4", "h5", "h6"}
_MAIN = {"article", "main"}
# Names that sites give to what is not the article; a whole name of a class or id, nothing less.
_ASIDE = {"nav", "navi", "navbar", "gnb", "lnb", "snb", "menu", "header", "footer", "sidebar"}
_ASIDE |= {"breadcrumb", "breadcrumbs", "copyright", "banner", "sns", "share", "related", "ad"}
_ASIDE |= {"ads", "advertisement", "cookie", "popup", "skip", "skipnav", "pagination", "paging"}
_NEVER = {"html", "body", *_MAIN}  # whatever they are called
# Or as a comment does: ㅋㅋ, ㅠㅠ, ^^, an emoji.
_END = re.compile(
    r"""[.!?…。！？~]["'”’」』》〉)\]]*$|[가-힣][다요죠까]["'”’)\]]*$"""
    r"|[가-힣]\s?(?:[ㅋㅎㅠㅜ]+|\^\^;*|[\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]+)$"
)
_SPACES = re.compile(r"\s+")


def main_text(page: str) -> tuple[str, str]:
    """The title of a page and its main text, a paragraph a line; empty where there is none."""
    parser = _Page()
    parser.feed(page)
    parser.close()
    parser.end_block()
    blocks = [block for block in parser.found if block.in_main or not parser.has_main]
    free = [block for block in blocks if not block.in_form]
    if 2 * _size(free) >= _size(blocks):
        blocks = free
    return _SPACES.sub(" ", parser.title).strip(), "\n".join(block.text for block in blocks)


class _Block(NamedTuple):
    in_main: bool
    in_form: bool
    text: str


def _size(blocks: list[_Block]) -> int:
    return sum(len(block.text) for block in blocks)


class _Page(HTMLParser):
    """Blocks of a page that read like prose, and where each is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.found: list[_Block] = []
        self.has_main = False
        self._open: list[tuple[str, bool, bool]] = []  # elements: name, is it gone, is it main
        self._names: Counter[str] = Counter()  # of them
        self._gone = self._main = 0  # how many of them are
        self._in_title = self._in_link = False
        self._text: list[str] = []  # of the block that is not complete
        self._linked = 0  # characters of it in links

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        in_head = bool(self._open) and self._open[-1][0] == "head"
        if tag == "body" or (in_head and tag not in _HEAD):
            self.handle_endtag("head")  # which may be left out
        if tag == "br":
            self._text.append("\n")
        elif tag in _BLOCKS and not self._gone:
            self.end_block()
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag == "a":
            self._in_link = True
        if tag in _VOID or tag == "a":
            return
        gone = tag in _GONE or (tag not in _NEVER and _is_aside(dict(attrs)))
        main = tag in _MAIN or dict(attrs).get("role") == "main"
        self._open.append((tag, gone, main))
        self._names[tag] += 1
        self._gone += gone
        self._main += main
        self.has_main |= main and not self._gone

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS and not self._gone:
            self.end_block()
        if tag == "title":
            self._in_title = False
        elif tag == "a":
            self._in_link = False
        if not self._names[tag]:
            return
        while self._open:  # what was never closed ends with what it is in
            name, gone, main = self._open.pop()
            self._names[name] -= 1
            self._gone -= gone
            self._main -= main
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._gone:
            self._text.append(_SPACES.sub(" ", data))
            self._linked += len(data.strip()) if self._in_link else 0

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """``<![if ...]>`` and the like; what is none is a comment up to the next ``>``, as in
        browsers, where the library ends with an error."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def end_block(self) -> None:
        """Judge the block that ends here."""
        if not self._text:
            return
        lines = (" ".join(line.split()) for line in "".join(self._text).split("\n"))
        text = "\n".join(filter(None, lines))
        if (len(text) >= LEAST or _END.search(text)) and self._linked < _LINKED * len(text):
            self.found.append(_Block(self._main > 0, self._names["form"] > 0, text))
        self._text, self._linked = [], 0


def _is_aside(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if "display:none" in (attributes.get("style") or "").replace(" ", "").lower():
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
    return not _ASIDE.isdisjoint(names)
