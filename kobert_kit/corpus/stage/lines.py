"""The taking out of lines, and where sentences then begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kobert_kit.corpus.stage.filters import LineRules


@dataclass(frozen=True)
class Trimmed:
    """A text without some of its lines; the lines that went, by reason; sentence starts."""

    text: str
    gone: list[tuple[str, str]]
    sentences: list[int] | None


def trim(
    text: str,
    sentences: list[int] | None,
    rules: LineRules,
    frequency: Sequence[int],
    hashes: Sequence[int],
    seen: Sequence[bool],
) -> Trimmed:
    """Take out lines that ``rules`` forbid.

    For each line: in how many documents it is (0 where too few to count), its hash, and whether
    the corpus has had it before.
    """
    here: set[int] = set()
    gone: list[tuple[str, str]] = []
    kept: list[str] = []
    keeps: list[bool] = []
    lines = text.split("\n")
    for line, count, number, again in zip(lines, frequency, hashes, seen, strict=True):
        repeated = again or number in here if rules.repeats else False
        here.add(number)
        reason = ""
        if rules.boilerplate and count >= rules.boilerplate:
            reason = "boilerplate"
        elif repeated and line:
            reason = "duplicate-lines"
        if reason:
            gone.append((reason, line))
        else:
            kept.append(line)
        keeps.append(not reason)
    if not gone:
        return Trimmed(text, gone, sentences)
    if sentences is not None:
        sentences = _moved(sentences, lines, keeps)
    return Trimmed("\n".join(kept), gone, sentences)


def _moved(sentences: list[int], lines: list[str], keeps: list[bool]) -> list[int]:
    """Where sentences begin once only some lines are kept; no sentence spans two lines."""
    moved, place, shift, at = [], 0, 0, 0
    for line, keep in zip(lines, keeps, strict=True):
        end = place + len(line) + 1
        while at < len(sentences) and sentences[at] < end:
            if keep:
                moved.append(sentences[at] - shift)
            at += 1
        if not keep:
            shift += len(line) + 1
        place = end
    return moved
