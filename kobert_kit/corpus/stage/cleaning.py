"""First step, in a worker: records become documents, and filters mend them one by one."""

from __future__ import annotations

import numpy as np

from kobert_kit.corpus.copies.hashes import hash_lines
from kobert_kit.corpus.files import readable_path
from kobert_kit.corpus.formats.raw import FileEnd, Raw
from kobert_kit.corpus.reading import EMPTY
from kobert_kit.corpus.stage.chunks import Account, Dropped, Kept, write_chunk
from kobert_kit.corpus.stage.context import Context, worker_context
from kobert_kit.corpus.stage.edits import PERSONAL, Edit
from kobert_kit.corpus.stage.filters import EXAMPLES, describe_change
from kobert_kit.corpus.stage.parsing import parse

CLEANED = "cleaned"
NOT_DECODED = "a line that cannot be decoded"


def clean_chunk(number: int, records: list[Raw | FileEnd]) -> None:
    """Make the cleaned chunk ``number`` of ``records``."""
    context, account = worker_context(), Account()
    documents: list[Kept] = []
    for record in records:
        if isinstance(record, FileEnd):
            account.files.append((record.file, record.encoding, record.problem))
        elif document := _clean(record, context, account):
            documents.append(document)
    hashes: list[int] = []
    counts = []
    for document in documents:
        rules = context.filters_of(document.file).lines
        found = hash_lines(document.text) if rules else []
        hashes += found
        counts.append(len(found))
    arrays = {"lines": np.array(hashes, np.uint64), "counts": np.array(counts, np.int64)}
    write_chunk(context.chunk(CLEANED, number), documents, account, arrays)


def _clean(raw: Raw, context: Context, account: Account) -> Kept | None:
    parsed = parse(raw, context.kind(raw.file), context.text_field)
    size = len(parsed.text.encode()) or _size(raw)
    account.count_read(context.source(raw.file), size)
    for line in parsed.bad_lines:
        account.dropped.append(Dropped(raw.file, line, NOT_DECODED, unit="line"))
    if parsed.problem:
        account.dropped.append(Dropped(raw.file, raw.line, parsed.problem, size))
        return None
    edits = context.filters_of(raw.file).edits
    text = _edit(parsed.text, edits, account)
    if not text or text.isspace():
        account.dropped.append(Dropped(raw.file, raw.line, EMPTY, size))
        return None
    id = parsed.id or f"{readable_path(context.files[raw.file].name)}:{raw.line}"
    sentences = context.sentence_starts(text) if context.sentence_starts else None
    title = edits[PERSONAL](parsed.title) if PERSONAL in edits else parsed.title
    return Kept(raw.file, raw.line, id, title, text, size, sentences)


def _size(raw: Raw) -> int:
    """The bytes of a record that is no document: all of them, or those of its field of text where
    they are known; what is no text has none."""
    if isinstance(raw.content, bytes):
        return len(raw.content) or raw.size
    text = raw.content.get("text")
    if isinstance(text, str):
        return len(text.encode(errors="replace"))  # an escaped byte is one
    return len(text) if isinstance(text, bytes) else 0


def _edit(text: str, edits: dict[str, Edit], account: Account) -> str:
    for name, edit in edits.items():
        edited = edit(text)
        if edited != text:
            tally = account.tally(name)
            tally.documents += 1
            tally.characters += len(text) - len(edited)
            if len(tally.examples) < EXAMPLES:
                tally.examples.append(describe_change(text, edited, edits.get(PERSONAL)))
            text = edited
    return text
