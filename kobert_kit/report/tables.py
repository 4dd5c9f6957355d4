"""Plain tables that are also Markdown, and that line up where Hangul is two columns wide."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence


def display_width(text: str) -> int:
    """Columns that ``text`` takes in a terminal: wide characters two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is flush left, the others right."""
    widths = [
        max(3, *(display_width(row[column]) for row in (header, *rows)))
        for column in range(len(header))
    ]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_line(header, widths), _line(rule, widths), *(_line(row, widths) for row in rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padding = [
        " " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True)
    ]
    first = cells[0] + padding[0]
    rest = [space + cell for space, cell in zip(padding[1:], cells[1:], strict=True)]
    return "| " + " | ".join([first, *rest]) + " |"


def score(mean: float | None, std: float | None = None) -> str:
    """``71.23 ± 0.45``, without the second half for one seed; ``undefined`` for None or NaN."""
    if mean is None or math.isnan(mean):
        return "undefined"
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"
