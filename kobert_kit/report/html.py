"""The parts that the HTML pages of the reports share."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """
body { font: 16px/1.6 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; margin-bottom: 2rem; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
"""


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is flush left."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>\n"


def html_page(title: str, style: str, body: str) -> str:
    """A whole page that needs nothing else."""
    return (
        '<!doctype html>\n<html lang="ko"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}</body></html>\n"
    )
