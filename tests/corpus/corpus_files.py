"""Writers of corpus files in every format and compression, by the libraries' own means."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def write_bytes(path: Path, content: bytes) -> Path:
    """Write ``content``, compressed as the suffix of ``path`` says."""
    suffix = path.suffix if path.suffix in COMPRESS else ""
    path.write_bytes(COMPRESS[suffix](content))
    return path


def jsonl(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def parquet(columns: dict[str, Any]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def page(title: str, text: str, ns: int = 0, redirect: str = "") -> str:
    """A page of the dump of a MediaWiki."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>7</id>{redirect}\n"
        f"<revision><id>99</id><text xml:space='preserve'>{text}</text></revision></page>\n"
    )
