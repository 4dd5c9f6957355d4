"""From wikitext to prose, on mwparserfromhell's parse: text and the words of links stay; tables,
lists, headings, references, files and categories go, and templates, but for the words of those that
only mark some. Brackets lose what a template left empty."""

from __future__ import annotations

import re
from typing import Any

# Markup of lists, by which a whole line is one.
_ITEMS = ("*", "#", ":", ";")
# Each stands for something until the line is whole: an item, a line break, what is gone.
_ITEM, _BREAK, _HOLE = "\ue000", "\ue001", "\ue002"
_GONE = {"ref", "references", "table", "gallery", "imagemap", "timeline", "graph", "math", "chem"}
_GONE |= {"ce", "categorytree", "score", "hiero", "syntaxhighlight", "source", "pre", "mapframe"}
_GONE |= {"maplink", "inputbox", "section", "templatedata", "indicator", "includeonly", "rp", "rt"}
_GONE |= {"rtc", "ul", "ol", "dl"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS = {"blockquote", "center", "div", "p", "poem"}
_SHOWN = {"lang": 2, "nowrap": 1, "nobr": 1, "small": 1, "big": 1, "ruby": 1, "루비": 1}  # argument
_PLACES = re.compile(
    r"\s*(?:파일|그림|이미지|분류|틀|위키백과|file|image|category|template)\s*:", re.IGNORECASE
)
# The codes that Wikipedias have or had: such a prefix links to the article in that language.
_PREFIX = re.compile(r"\s*([a-z]{2,6}(?:-[a-z]+)*)\s*:", re.IGNORECASE)
_LANGUAGES = frozenset(
    re.findall(
        "[a-z-]+",
        """
        aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa
        ay az azb ba ban bar bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm
        bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr chy ckb co cr crh cs csb cu
        cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi
        fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu
        guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik
        ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg ki kj kk kl km kn knc ko koi
        kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg
        lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl
        my myv mzn na nah nan nap nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny
        oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy
        rn ro roa-rup roa-tara rsk ru rue rw sa sah sat sc scn sco sd se sg sgs sh shi shn si
        simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te
        tet tg th ti tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep
        vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh zh-classical zh-min-nan
        zh-yue zu
        """,
    )
)
# Switches of a page, by their English and Korean names.
_SWITCHES = re.compile(
    "__(?:(?:NO|FORCE)?TOC|NOGALLERY|NOHEADER|NOEDITSECTION|(?:NO)?NEWSECTIONLINK|HIDDENCAT"
    "|EXPECTUNUSED(?:CATEGORY|TEMPLATE)|(?:NO)?INDEX|STATICREDIRECT|DISAMBIG|NOGLOBAL"
    "|NOTITLECONVERT|NOCONTENTCONVERT|NOTC|NOCC"
    "|목차(?:숨김|보임)?|(?:화랑|갤러리|단락편집|부분편집|헤더)숨김|새글쓰기(?:숨기기)?"
    "|숨은분류|색인(?:거부)?|넘겨주기고정|동음이의)__",
    re.IGNORECASE,
)
_EMPTY_BRACKETS = re.compile(r"\s?\([\s,;:·/=]*\)")
_BRACKETS = re.compile(r"\([^()\n]*\)")
_BETWEEN = re.compile(r"(\s*[,;·/]\s*)")
_HOLES = re.compile(rf" ?{_HOLE}(?=[\s.,)]|$)|{_HOLE}")
_INDENTED_TABLE = re.compile(r"^:+[ \t]*(?=\{\|)", re.MULTILINE)
# Of tables that do not end, or begin where none can.
_ROW = re.compile(r"\{\||\|[-+}|\s]|!\s")
_QUOTES = re.compile("''+")  # bold and italics without an end
_SPACES = re.compile("[ \t]{2,}")


def prose(wikitext: str) -> str:
    """The running text of an article, a paragraph a line."""
    import mwparserfromhell

    text = _plain(mwparserfromhell.parse(_INDENTED_TABLE.sub("", wikitext)))
    lines = (line for line in text.split("\n") if _ITEM not in line)
    text = re.sub(f"{_HOLE}+", _HOLE, "\n".join(lines).replace(_BREAK, "\n"))
    text = _BRACKETS.sub(_without_holes, text)
    text = _EMPTY_BRACKETS.sub("", _HOLES.sub("", _SWITCHES.sub("", text)))
    text = _SPACES.sub(" ", _QUOTES.sub("", text))
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not _ROW.match(line))


def _without_holes(brackets: re.Match[str]) -> str:
    """Brackets without the parts, between commas and the like, of which nothing but a label or a
    conjunction is left: (영어: , 1950년 ~ ) is (1950년 ~ )."""
    if _HOLE not in brackets.group():
        return brackets.group()
    parts = ["", *_BETWEEN.split(brackets.group()[1:-1])]
    kept: list[str] = []
    for between, part in zip(parts[::2], parts[1::2], strict=True):
        words = part.replace(_HOLE, "").strip()
        if _HOLE not in part or (words and not words.endswith((":", "또는"))):
            kept += [between, part] if kept else [part]
    return f"({''.join(kept)})"


def _plain(code: Any) -> str:
    return "".join(map(_text_of, code.nodes)) if code else ""


def _text_of(node: Any) -> str:
    kind = type(node).__name__
    if kind == "Text":
        return str(node.value)
    if kind == "HTMLEntity":
        return str(node.normalize())
    if kind == "Wikilink":
        return "" if _is_elsewhere(str(node.title)) else _words(node)
    if kind == "ExternalLink":
        return _plain(node.title)
    if kind == "Heading":
        return "\n"
    if kind == "Tag":
        return _tag(node)
    if kind == "Template":
        return _template(node)
    return ""  # arguments of templates, comments


def _template(node: Any) -> str:
    shown = _SHOWN.get(str(node.name).strip().lower())
    return _plain(node.get(shown).value) if shown and node.has(shown) else _HOLE


def _is_elsewhere(title: str) -> bool:
    """Whether the link shows nothing where it stands: an image, a category, another language."""
    prefix = _PREFIX.match(title)
    return bool(_PLACES.match(title) or (prefix and prefix[1].lower() in _LANGUAGES))


def _words(link: Any) -> str:
    # A colon before a title makes a visible link of any, and is not shown.
    return _plain(link.title).lstrip(":") if link.text is None else _plain(link.text)


def _tag(node: Any) -> str:
    name = str(node.tag).strip().lower()
    if node.wiki_markup in _ITEMS or name in ("li", "dt", "dd"):
        return _ITEM
    if name == "br":
        return _BREAK
    if name in _HEADINGS:
        return "\n"
    words = _HOLE if name in _GONE else _plain(node.contents)
    if name == "code" and "\n" in words:
        return _HOLE
    return f"\n{words}\n" if name in _BLOCKS else words
