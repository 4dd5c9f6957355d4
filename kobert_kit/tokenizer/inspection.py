"""What can be measured of a tokenizer on text, without a model.

Characters are code points, eojeols runs without white space. A cut is where two morphemes of an
eojeol meet, analysed alone; a gold span (an entity, an answer) is hurt where it begins or ends
inside a token.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from kobert_kit.morphology.splitter import EOJEOL
from kobert_kit.tokenizer.boundaries import BoundaryMarker
from kobert_kit.tokenizer.folder import is_reserved
from kobert_kit.tokenizer.subject import Subject

Span = tuple[int, int]

SYLLABLES = [chr(code) for code in range(0xAC00, 0xD7A4)]
CLASSES = ("syllable", "jamo", "Hanja", "Latin", "digit", "emoji", "symbol", "other")
# A continuing entry is tried after each of these.
CARRIERS = ("가", "힣", "a", "1", "ㅋ", "大")
LONGEST = 10

_JAMO = re.compile("[\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb]")


@dataclass
class Inspection:
    """Counts over all texts, and what the vocabulary alone shows.

    ``characters`` and ``unknown`` (those in an [UNK]) are by class; ``cuts`` are met where a token
    begins there; ``crossed`` counts eojeols with a token across a cut; ``spans`` are gold spans.
    """

    name: str
    entries: int
    unknown_token: str | None = None
    eojeols: int = 0
    tokens: int = 0
    unknown_tokens: int = 0
    texts: int = 0
    texts_with_unknown: int = 0
    characters: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    cuts: int = 0
    cuts_met: int = 0
    crossed: int = 0
    spans: int = 0
    spans_hurt_at_start: int = 0
    spans_hurt_at_end: int = 0
    used: set[int] = field(default_factory=set)
    reachable_syllables: int = 0
    dead: list[str] = field(default_factory=list)
    longest: list[str] = field(default_factory=list)


def begin(subject: Subject) -> Inspection:
    """The inspection of the vocabulary; the texts are to follow."""
    vocabulary = subject.native.get_vocab(with_added_tokens=True)
    reserved = {token.content for token in subject.native.get_added_tokens_decoder().values()}
    words = sorted(
        entry for entry in vocabulary if entry not in reserved and not is_reserved(entry)
    )
    syllables = subject.native.encode_batch(SYLLABLES, add_special_tokens=False)
    return Inspection(
        subject.name,
        entries=len(vocabulary),
        unknown_token=subject.unknown,
        reachable_syllables=sum(
            bool(encoding.tokens) and subject.unknown not in encoding.tokens
            for encoding in syllables
        ),
        dead=_dead(subject, words),
        longest=sorted(words, key=lambda entry: (-len(_bare(entry)), entry))[:LONGEST],
    )


def add_texts(
    inspection: Inspection,
    subject: Subject,
    texts: Sequence[str],
    marker: BoundaryMarker,
    spans: Sequence[Sequence[Span]] | None = None,
) -> None:
    """Count ``texts``, and their gold ``spans`` where there are some."""
    for number, (text, encoding) in enumerate(zip(texts, subject.encode(texts), strict=True)):
        _count_tokens(inspection, subject, text, encoding)
        inside = _inside_tokens(text, encoding.offsets)
        _count_cuts(inspection, text, inside, marker)
        for start, end in spans[number] if spans is not None else ():
            inspection.spans += 1
            inspection.spans_hurt_at_start += bool(inside[start])
            inspection.spans_hurt_at_end += bool(inside[end])


def _count_tokens(inspection: Inspection, subject: Subject, text: str, encoding: Encoding) -> None:
    inspection.texts += 1
    inspection.eojeols += sum(1 for _ in EOJEOL.finditer(text))
    inspection.tokens += len(encoding.ids)
    inspection.used.update(encoding.ids)
    for char, count in Counter("".join(EOJEOL.findall(text))).items():
        inspection.characters[character_class(char)] += count
    unknown = [
        offsets
        for token, offsets in zip(encoding.tokens, encoding.offsets, strict=True)
        if token == subject.unknown
    ]
    inspection.unknown_tokens += len(unknown)
    inspection.texts_with_unknown += bool(unknown)
    for start, end in unknown:
        inspection.unknown.update(map(character_class, "".join(text[start:end].split())))


def _inside_tokens(text: str, offsets: Sequence[Span]) -> NDArray[np.bool_]:
    """Whether each place between two characters, (characters + 1,), is inside a token.

    White space around a word is not inside, though others' tokens may take it along.
    """
    change = np.zeros(len(text) + 2, dtype=np.int32)
    for start, end in offsets:
        surface = text[start:end]
        first, last = end - len(surface.lstrip()), start + len(surface.rstrip())
        if last > first:
            change[first + 1] += 1
            change[last] -= 1
    inside: NDArray[np.bool_] = np.cumsum(change)[: len(text) + 1] > 0
    return inside


def _count_cuts(
    inspection: Inspection, text: str, inside: NDArray[np.bool_], marker: BoundaryMarker
) -> None:
    cuts = marker.starts(text)
    firsts = np.zeros_like(cuts)
    firsts[[match.start() for match in EOJEOL.finditer(text)]] = True
    cuts &= ~firsts
    missed = cuts & inside
    inspection.cuts += int(cuts.sum())
    inspection.cuts_met += int(cuts.sum() - missed.sum())
    inspection.crossed += len(np.unique(np.cumsum(firsts)[missed]))


@lru_cache(maxsize=100_000)
def character_class(char: str) -> str:
    """One of CLASSES."""
    code = ord(char)
    if 0xAC00 <= code <= 0xD7A3:
        return "syllable"
    if _JAMO.match(char):
        return "jamo"
    category = unicodedata.category(char)
    if category[0] == "L":
        name = unicodedata.name(char, "")
        return "Hanja" if name.startswith("CJK") else "Latin" if "LATIN" in name else "other"
    if category == "Nd":
        return "digit"
    # Pictographs, flags, skin tones, joiners and the variation selector that asks for colour.
    is_emoji = 0x1F000 <= code <= 0x1FAFF or 0x2600 <= code <= 0x27BF or code in (0x200D, 0xFE0F)
    return "emoji" if is_emoji else "symbol"


def _bare(entry: str) -> str:
    return entry.removeprefix("##").removeprefix("▁")


def _dead(subject: Subject, entries: Sequence[str]) -> list[str]:
    """Entries that no text yields: not when they stand alone, and not inside a word."""
    alive: set[str] = set()
    contexts: Iterable[str] = ("", *CARRIERS)
    for carrier in contexts:
        rest = [entry for entry in entries if entry not in alive]
        texts = [carrier + _bare(entry) for entry in rest]
        for entry, encoding in zip(
            rest, subject.native.encode_batch(texts, add_special_tokens=False), strict=True
        ):
            if entry in encoding.tokens:
                alive.add(entry)
    return [entry for entry in entries if entry not in alive]
