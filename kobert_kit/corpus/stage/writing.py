"""Last step, in a worker: what is kept becomes lines of a shard, what is not a line of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kobert_kit.corpus.sentences import sentence_spans
from kobert_kit.corpus.stage.chunks import Account, Dropped, Kept, compress, read_chunk
from kobert_kit.corpus.stage.comparing import Comparison
from kobert_kit.corpus.stage.context import Context, worker_context
from kobert_kit.corpus.stage.judging import JUDGED
from kobert_kit.corpus.stage.ledger import Ledger

DUPLICATE, NEAR_DUPLICATE = "duplicate", "near duplicate"
_LEVEL = 3  # zstandard's own default


@dataclass
class Written:
    """Compressed JSON lines of the documents kept and of what was dropped, and the ledger."""

    documents: bytes
    dropped: bytes
    ledger: Ledger = field(default_factory=Ledger)


def write_lines(number: int) -> Written:
    """The chunk ``number`` as it goes into its shard."""
    context = worker_context()
    account, documents = read_chunk(context.chunk(JUDGED, number))
    ledger = Ledger()
    kept: list[str] = []
    for document, (stays, place, similarity) in zip(
        documents, _comparison(context.work).chunk(number), strict=True
    ):
        if stays:
            line = _line(document, context)
            kept.append(line)
            ledger.keep(context.source(document.file), document.size, len(document.text.encode()))
        else:
            account.dropped.append(_copy(document, place, similarity, context))
    account.dropped.sort(key=lambda entry: (entry.file, entry.line))
    _close(account, ledger, context)
    dropped = [_dropped_line(entry, context) for entry in account.dropped]
    return Written(_compressed(kept), _compressed(dropped), ledger)


@cache
def _comparison(work: Path) -> Comparison:
    return Comparison(work)


def _line(document: Kept, context: Context) -> str:
    fields: dict[str, Any] = {"id": document.id, "source": context.source(document.file)}
    if document.title:
        fields["title"] = document.title
    fields["text"] = document.text
    if document.sentences is not None:
        fields["sentences"] = sentence_spans(document.text, document.sentences)
    return json.dumps(fields, ensure_ascii=False)


def _copy(document: Kept, place: tuple[int, int], similarity: float, context: Context) -> Dropped:
    """A document that goes because another, at ``place``, is kept."""
    reason = DUPLICATE if similarity == 1 else NEAR_DUPLICATE
    detail = f"of {context.path(place[0])}:{place[1]}, which comes first"
    if similarity < 1:
        detail += f"; similarity {similarity:.2f}"
    return Dropped(document.file, document.line, reason, document.size, detail=detail)


def _close(account: Account, ledger: Ledger, context: Context) -> None:
    """Enter in the ledger what a chunk's account says."""
    for source, (documents, size) in account.read.items():
        ledger.read(source, documents, size)
    for entry in account.dropped:
        if entry.unit == "document":
            ledger.drop(context.source(entry.file), entry.reason, entry.size)
    ledger.filters = account.filters
    ledger.boilerplate = account.boilerplate
    ledger.overlaps = account.overlaps
    ledger.found = account.found
    for file, encoding, problem in account.files:
        ledger.end_file(context.path(file), context.source(file), encoding, problem)


def _dropped_line(entry: Dropped, context: Context) -> str:
    fields: dict[str, Any] = {
        "file": context.path(entry.file),
        "line": entry.line,
        "source": context.source(entry.file),
        "unit": entry.unit,
        "reason": entry.reason,
        "bytes": entry.size,
    }
    return json.dumps(
        fields | ({"detail": entry.detail} if entry.detail else {}), ensure_ascii=False
    )


def _compressed(lines: list[str]) -> bytes:
    return compress("".join(f"{line}\n" for line in lines).encode(), _LEVEL) if lines else b""
