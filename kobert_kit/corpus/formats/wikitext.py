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


def prose(wikitext: str) -> str:
    """The running text of an article, a paragraph a line."""
    import mwparserfromhell

    text = _plain(mwparserfromhell.parse(wikitext))
    text = _EMPTY_BRACKETS.sub("", _SWITCHES.sub("", text))
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
        return "" if _is_elsewhere(str(node.title)) else _words(node)
    if kind == "ExternalLink":
        return _plain(node.title)
    if kind == "Heading":
        return "\n"
    if kind == "Tag":
        return _tag(node)
    return ""  # templates, their arguments, comments


def _is_elsewhere(title: str) -> bool:
    """Whether the link shows nothing where it stands: an image, a category, another language."""
    prefix = _PREFIX.match(title)
    return bool(_PLACES.match(title) or (prefix and prefix[1].lower() in _LANGUAGES))


def _words(link: Any) -> str:
    # A colon before a title makes a visible link of any, and is not shown.
    return _plain(link.title).lstrip(":") if link.text is None else _plain(link.text)


def _tag(node: Any) -> str:
    if node.wiki_markup in _ITEMS:
        return _ITEM
    name = str(node.tag).strip().lower()
    if name == "br":
        return "\n"
    return "" if name in _GONE else _plain(node.contents)
