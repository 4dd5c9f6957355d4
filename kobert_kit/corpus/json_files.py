"""JSON files of many documents as a stream, one document in memory at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

from kobert_kit.corpus.encodings import CP949, Transcoded
from kobert_kit.corpus.raw import Raw
from kobert_kit.errors import DataError

# Documents lie in an array, or in one under one of these keys (Modu; AI-Hub).
_KEYS = {"document", "documents", "data"}
_DEEPEST = 100  # levels; no corpus has a tenth of it, and a parser would drown in more


class _Stream:
    """Blocks as a file in UTF-8, as far as the parser asks for."""

    def __init__(self, blocks: Transcoded) -> None:
        self._blocks, self._transcoded = iter(blocks), blocks
        self._decoder = codecs.getincrementaldecoder(CP949)(errors="replace")

    def read(self, size: int) -> bytes:
        if size == 0:
            return b""
        block = next((block for block in self._blocks if block), b"")
        if self._transcoded.lines_in != CP949:
            return block
        # Half a character at the end of a block waits for the rest of it.
        while not (text := self._decoder.decode(block, final=not block)) and block:
            block = next(self._blocks, b"")
        return text.encode()


def cut_json(file: int, blocks: Transcoded, text_field: str) -> Iterator[Raw]:
    """The documents of a JSON file; the line of each is its number, from 1."""
    import ijson

    number = depth = level = 0
    root = key = ""
    builder: Any = None
    try:
        for event, value in ijson.basic_parse(_Stream(blocks)):
            opens, closes = event.startswith("start_"), event.startswith("end_")
            depth -= closes
            if builder is None and event == "start_map" and _is_document(depth, root, key):
                builder, level = ijson.ObjectBuilder(), depth
            if builder is not None:
                builder.event(event, value)
                if closes and depth == level:
                    number += 1
                    yield Raw(file, number, builder.value)
                    builder = None
            elif event == "map_key" and depth == 1:
                key = value
            root = event if opens and depth == 0 else root
            depth += opens
            if depth > _DEEPEST:
                raise DataError(f"nested deeper than {_DEEPEST} levels after document {number:,}")
    except ijson.JSONError as error:
        what = " ".join(str(error).split())[:80]
        raise DataError(f"not JSON, or damaged after document {number:,} ({what})") from None
    if not number:
        raise DataError("no documents in a layout of JSON that is known here")


def _is_document(depth: int, root: str, key: str) -> bool:
    return (depth == 1 and root == "start_array") or (depth == 2 and key in _KEYS)
