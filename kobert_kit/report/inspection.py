"""Tokenizers side by side, as a table for the terminal and as a page to look at."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kobert_kit.report.html import html_page, html_table
from kobert_kit.report.tables import table
from kobert_kit.tokenizer.inspection import CLASSES, SYLLABLES, Inspection
from kobert_kit.tokenizer.tokens import Token

MOST_NAMED = 10


def measures(inspections: Sequence[Inspection]) -> list[list[str]]:
    """A row a measure: its name, and its value for each tokenizer."""
    rows = [
        ["entries", *(f"{one.entries:,}" for one in inspections)],
        ["tokens per eojeol", *(_ratio(one.tokens, one.eojeols) for one in inspections)],
        [
            "tokens per character",
            *(_ratio(one.tokens, one.characters.total()) for one in inspections),
        ],
        ["[UNK] of the tokens", *(_share(one.unknown_tokens, one.tokens) for one in inspections)],
        ["texts with [UNK]", *(_share(one.texts_with_unknown, one.texts) for one in inspections)],
    ]
    for name in CLASSES:
        if any(one.characters[name] for one in inspections):
            values = (_share(one.unknown[name], one.characters[name]) for one in inspections)
            rows.append([f"unknown: {name}", *values])
    rows += [
        ["morpheme cuts met", *(_share(one.cuts_met, one.cuts) for one in inspections)],
        ["eojeols crossed", *(_share(one.crossed, one.eojeols) for one in inspections)],
    ]
    if any(one.spans for one in inspections):
        rows += [
            [
                "gold spans hurt at the start",
                *(_share(one.spans_hurt_at_start, one.spans) for one in inspections),
            ],
            [
                "gold spans hurt at the end",
                *(_share(one.spans_hurt_at_end, one.spans) for one in inspections),
            ],
        ]
    return [
        *rows,
        [
            f"syllables of {len(SYLLABLES):,}",
            *(f"{one.reachable_syllables:,}" for one in inspections),
        ],
        ["entries used here", *(_share(len(one.used), one.entries) for one in inspections)],
        ["dead entries", *(f"{len(one.dead):,}" for one in inspections)],
    ]


def describe(inspections: Sequence[Inspection]) -> str:
    """The measures as a table, then the longest and the dead entries of each."""
    lines = [table(["", *(one.name for one in inspections)], measures(inspections))]
    for one in inspections:
        lines += ["", f"{one.name}: longest {' '.join(one.longest)}"]
        if one.dead:
            more = " ..." if len(one.dead) > MOST_NAMED else ""
            lines.append(f"{one.name}: dead {' '.join(one.dead[:MOST_NAMED])}{more}")
    return "\n".join(lines)


def _ratio(part: float, whole: float) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"


_STYLE = """
.text { margin: 1.5rem 0 .3rem; color: #555; white-space: pre-wrap; }
.name { display: inline-block; width: 12rem; color: #555; font-size: .8rem; }
.token { background: #e8eefc; border-radius: .2rem; margin-right: 1px; padding: 0 .15rem; }
.token:nth-of-type(even) { background: #fdf0d9; }
.token.inner { border-left: 2px solid #8aa; }
.token.unknown { background: #f6c5c5; }
.token:hover { outline: 2px solid #335; }
"""


def page(
    inspections: Sequence[Inspection], samples: Sequence[tuple[str, Sequence[Sequence[Token]]]]
) -> str:
    """One HTML page: the measures, and each sample text as every tokenizer cuts it.

    Hovering a token shows the entry, its id, its offsets, and the morpheme that it begins in with
    its tag. ``samples`` are texts with the tokens of each tokenizer.
    """
    header = ["", *(one.name for one in inspections)]
    shown = "".join(_sample(text, inspections, tokens) for text, tokens in samples)
    return html_page("Tokenizers", _STYLE, html_table(header, measures(inspections)) + shown)


def _sample(text: str, inspections: Sequence[Inspection], tokens: Sequence[Sequence[Token]]) -> str:
    rows = (
        f'<div><span class="name">{escape(one.name)}</span>'
        f"{_row(text, row, one.unknown_token)}</div>\n"
        for one, row in zip(inspections, tokens, strict=True)
    )
    return f'<p class="text">{escape(text)}</p>\n{"".join(rows)}'


def _row(text: str, tokens: Sequence[Token], unknown: str | None) -> str:
    shown, reach = [], 0
    for token in tokens:
        kind = " unknown" if token.token == unknown else ""
        kind += " inner" if token.start == reach and reach else ""
        shown.append(
            f"{escape(text[reach : token.start])}"
            f'<span class="token{kind}" title="{escape(_title(token))}">'
            f"{escape(text[token.start : token.end])}</span>"
        )
        reach = token.end
    return "".join(shown)


def _title(token: Token) -> str:
    return f"{token.token} ({token.id}), {token.start}-{token.end}, in {token.morpheme} {token.tag}"
