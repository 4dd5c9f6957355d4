"""Layouts of documents in JSON: the National Institute's Modu corpora, AI-Hub's, and Namuwiki.

By their public descriptions. A document is text in paragraphs (`paragraph`: written, newspapers;
`paragraphs` with a `context`; `text` as lists of sentences; `summary_entire`), its `sentence`s, or
what people said in turn (`utterance`: spoken, messenger; `utterances`; `dialogue`; the `lines` of
`annotations`; the `content` of a `talk`), an utterance a line. Or it is one string (`content`,
`passage`). Documents that lie deeper than in an array are those of `SJML` and `named_entity`
(AI-Hub's of the web and of spoken language online).
"""

from __future__ import annotations

from typing import Any

from kobert_kit.corpus.formats.namumark import namu_prose

_IDS = ("id", "doc_id")
_TITLES = ("title", "doc_title", "doc_name")
# Of a paragraph, or utterance; AI-Hub's papers spell the original so.
_FORMS: tuple[str, ...] = (
    "form",
    "norm_text",
    "context",
    "sentence",
    "utterance",
    "original_text",
    "orginal_text",
)
_FORMS += ("utterance_text", "text")
_PARTS: tuple[str, ...] = (
    "paragraph",
    "paragraphs",
    "utterance",
    "utterances",
    "dialogue",
    "text",
    "body",
)
_PARTS += ("sentence", "sentences", "summary_entire", "annotations", "lines", "talk", "content")
_PARTS += ("passage", "Meta", "Meta(Refine)")
_ABOUT = ("metadata", "header", "Meta", "Meta(Acqusition)")  # as AI-Hub spells it


def documents_in(item: dict[str, Any]) -> list[Any] | None:
    """The documents that an object holds, where it is none itself but AI-Hub's file of them."""
    held = (
        item["SJML"].get("text") if isinstance(item.get("SJML"), dict) else item.get("named_entity")
    )
    if not isinstance(held, list) or not held:
        return None
    return held if all(isinstance(part, dict) and "content" in part for part in held) else None


def fields_of(item: dict[str, Any], text_field: str) -> dict[str, object]:
    """``id``, ``title`` and, under the name ``text_field``, the text of a document."""
    if item.get("namespace") is not None and isinstance(item.get("text"), str):
        text: Any = namu_prose(item["text"]) if str(item["namespace"]) == "0" else ""
    else:
        text = item[text_field] if isinstance(item.get(text_field), str) else _text(item)
    about = [item, *map(item.get, _ABOUT)]
    title = _first(about, _TITLES)
    found: dict[str, object] = {"id": _first(about, _IDS), "title": title}
    if isinstance(title, list):
        found["title"] = _line(title)
    return found if text is None else found | {text_field: text}


def _text(item: dict[str, Any]) -> str | None:
    """The text of a document in parts; None where there are none that are known."""
    for name in _PARTS:
        part = item.get(name)
        if isinstance(part, str) and name in ("content", "passage"):
            return part
        if isinstance(part, dict):
            # A talk's turns have names: HS01, SS01, HS02, ...
            turns = list(part.values()) if name == "content" else []
            said = "\n".join(turn for turn in turns if isinstance(turn, str) and turn.strip())
            return said or _text(part)
        if isinstance(part, list):
            between = " " if name in ("sentence", "sentences", "content") else "\n"
            return between.join(line for inner in part if (line := _line(inner)))
    return None


def _line(part: Any) -> str:
    """A paragraph or utterance; sentences in a list make one paragraph."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return " ".join(filter(None, map(_line, part)))
    if isinstance(part, dict):
        return next((part[name] for name in _FORMS if isinstance(part.get(name), str)), "")
    return ""


def _first(places: list[Any], names: tuple[str, ...]) -> object:
    for place in places:
        for name in names:
            if isinstance(place, dict) and place.get(name) is not None:
                return place[name]
    return None
