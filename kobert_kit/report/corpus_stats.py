"""A corpus in numbers: for the terminal, and as a page with plots and documents to read."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from kobert_kit.corpus.characters import CLASSES
from kobert_kit.corpus.stage.ledger import Ledger
from kobert_kit.corpus.stats import CorpusStats
from kobert_kit.report.corpus import overlap_table, source_table
from kobert_kit.report.html import html_page, html_table
from kobert_kit.report.tables import table

MOST_LINES = 10  # of boilerplate
SHOWN = 600  # characters of a document of the sample
_BAR = 40  # columns of the longest bar in the terminal


def describe_corpus(stats: CorpusStats, ledger: Ledger) -> str:
    """Sizes, lengths, classes of characters, duplicates, boilerplate, and a sample."""
    lengths = _lengths(stats)
    most = max((count for _, count in lengths), default=1)
    rows = [[name, f"{count:,}", "#" * round(_BAR * count / most)] for name, count in lengths]
    parts = [
        table(*source_table(ledger)),
        table(["", "all"], _sizes(stats, ledger)),
        _flush_left(rows, "characters in a document"),
        table(["class of character", "share"], _classes(stats)),
    ]
    if ledger.evaluation:
        parts.append(table(*overlap_table(ledger)))
    if ledger.boilerplate:
        lines = [f"{count:>8,}  {line}" for line, count in _top(ledger.boilerplate)]
        parts.append("\n".join(["lines dropped as boilerplate:", *lines]))
    for document in stats.sample:
        parts.append(f"[{document.id}] {document.title}\n{_shortened(document.text)}")
    return "\n\n".join(parts)


def corpus_page(stats: CorpusStats, ledger: Ledger) -> str:
    """The same as one HTML page, with the lengths and the classes as plots."""
    parts = [
        html_table(*source_table(ledger)),
        html_table(["", "all"], _sizes(stats, ledger)),
        "<h2>Characters in a document</h2>\n" + _plot(dict(_lengths(stats))),
        "<h2>Classes of characters</h2>\n"
        + _plot({name: stats.classes[name] for name in CLASSES if stats.classes[name]}),
    ]
    if ledger.evaluation:
        parts += ["<h2>Evaluation data</h2>\n", html_table(*overlap_table(ledger))]
    rows = [
        [name, f"{tally.documents:,}", f"{tally.characters:,}", " | ".join(tally.examples)]
        for name, tally in ledger.filters.items()
    ]
    parts.append("<h2>Filters</h2>\n")
    parts.append(html_table(["filter", "documents", "characters gone", "examples"], rows))
    top = [[line, f"{count:,}"] for line, count in _top(ledger.boilerplate)]
    parts.append("<h2>Boilerplate</h2>\n" + html_table(["line", "dropped"], top))
    parts.append("<h2>Documents to read</h2>\n")
    for document in stats.sample:
        head = escape(f"{document.id} {document.title}")
        parts.append(f"<h3>{head}</h3><p class=text>{escape(_shortened(document.text))}</p>\n")
    return html_page("Corpus", _STYLE, "".join(parts))


_STYLE = """
.text { white-space: pre-wrap; }
td { max-width: 40rem; overflow-wrap: anywhere; }
svg text { font-size: 13px; }
"""


def _sizes(stats: CorpusStats, ledger: Ledger) -> list[list[str]]:
    total = ledger.total
    near = total.dropped.get("near duplicate", [0, 0])[0]
    exact = total.dropped.get("duplicate", [0, 0])[0]
    return [
        ["documents", f"{stats.documents:,}"],
        ["lines", f"{stats.lines:,}"],
        ["eojeols", f"{stats.eojeols:,}"],
        ["characters", f"{stats.characters:,}"],
        ["MB", f"{stats.bytes / 1e6:,.1f}"],
        ["exact duplicates of those read", _share(exact, total.read[0])],
        ["near duplicates of those read", _share(near, total.read[0])],
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"


def _lengths(stats: CorpusStats) -> list[tuple[str, int]]:
    """Documents by characters, from one power of two up to the next."""
    if not stats.lengths:
        return []
    powers = range(min(stats.lengths), max(stats.lengths) + 1)
    return [(f"{2**power:,} to {2 ** (power + 1) - 1:,}", stats.lengths[power]) for power in powers]


def _classes(stats: CorpusStats) -> list[list[str]]:
    found = [name for name in CLASSES if stats.classes[name]]
    found.sort(key=lambda name: -stats.classes[name])
    return [[name, _share(stats.classes[name], stats.characters)] for name in found]


def _top(boilerplate: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(boilerplate.items(), key=lambda item: (-item[1], item[0]))[:MOST_LINES]


def _flush_left(rows: list[list[str]], title: str) -> str:
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    lines = [f"{name:<{widths[0]}}  {count:>{widths[1]}}  {bar}" for name, count, bar in rows]
    return "\n".join([f"{title}:", *lines])


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def _plot(counts: Mapping[str, int]) -> str:
    """Horizontal bars as SVG, a bar a name."""
    most, height = max(counts.values(), default=1), 22
    bars = "".join(
        f'<text x="180" y="{row * height + 15}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="190" y="{row * height + 3}" width="{600 * count / most:.1f}" height="16" '
        f'fill="#6b8fd6"/><text x="{195 + 600 * count / most:.1f}" y="{row * height + 15}">'
        f"{count:,}</text>"
        for row, (name, count) in enumerate(counts.items())
    )
    return f'<svg width="900" height="{len(counts) * height + 6}">{bars}</svg>\n'
