"""What the terminal shows of a clean corpus, from its ledger."""

from __future__ import annotations

from pathlib import Path

from kobert_kit.corpus.stage.ledger import Flow, Ledger, Overlap
from kobert_kit.report.tables import table


def describe_ledger(ledger: Ledger) -> str:
    """What became of the documents of each source, why, and which files have problems."""
    lines = [table(*source_table(ledger))]
    reasons = sorted(ledger.total.dropped.items(), key=lambda item: -item[1][0])
    if reasons:
        lines.append("dropped: " + ", ".join(f"{why} {count:,}" for why, (count, _) in reasons))
    if ledger.evaluation:
        lines.append(table(*overlap_table(ledger)))
    lines += [f"{file['file']}: {file['problem']}" for file in ledger.problems()]
    return "\n".join(lines)


Table = tuple[list[str], list[list[str]]]  # the header, and the rows


def source_table(ledger: Ledger) -> Table:
    """Documents and sizes of each source, and of all together."""
    flows = list(ledger.sources.items())
    if len(flows) > 1:
        flows.append(("all", ledger.total))
    header = ["source", "read", "kept", "dropped", "MB read", "MB kept"]
    return header, [_row(name, flow) for name, flow in flows]


def overlap_table(ledger: Ledger) -> Table:
    """What was found of each file of evaluation data."""
    header = ["evaluation data", "sentences", "too short", "found", "documents"]
    return header, [_overlap_row(overlap) for overlap in ledger.evaluation]


def _row(name: str, flow: Flow) -> list[str]:
    read, size = flow.read
    kept = flow.kept[0]
    numbers = [f"{count:,}" for count in (read, kept, read - kept)]
    return [name, *numbers, f"{size / 1e6:,.1f}", f"{flow.bytes_written / 1e6:,.1f}"]


def _overlap_row(overlap: Overlap) -> list[str]:
    counts = (overlap.sentences, overlap.too_short, overlap.found, overlap.documents)
    return [Path(overlap.file).name, *(f"{count:,}" for count in counts)]
