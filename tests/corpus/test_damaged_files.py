"""Whatever is wrong with a file: it is named, the others are read, and the ledger adds up."""

from __future__ import annotations

import gzip
import io
import json
import random
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_files import jsonl, parquet, write_bytes
from test_curate import lines, run, text

from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.reading import read_documents

NUMBERS = "0.5, -2e3, 1e99999999999, " + "9" * 5_000
PARTS = [b'"', b"\\", b"[", b"]", b"{", b"}", b"\0", b"\xff", b"\\udc00", b"\xed\xa0\x80"]
PARTS += [b"9" * 4_400, b"1e9999999999999999999", b"NaN", b",", b"\n", b"\xb0\xa1"]


def json_file(rng: random.Random) -> bytes:
    rows = [{"id": n, "title": "배 😀", "text": text(rng, 2), "n": {"a": [True]}} for n in range(3)]
    content = json.dumps({"data": rows}, ensure_ascii=rng.random() < 0.5)
    return content.replace("true", NUMBERS).encode()


def zip_file(rng: random.Random) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in ("배.txt", "sea/b.jsonl", "c.txt.gz"):
            packing = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
            content = text(rng).encode() if "txt" in name else jsonl({"text": text(rng)})
            archive.writestr(name, gzip.compress(content) if "gz" in name else content, packing)
    return made.getvalue()


def parquet_file(rng: random.Random) -> bytes:
    sink = io.BytesIO()
    columns = {"id": [1, 2, 3], "text": [text(rng), "배", None], "제목": ["가", "나", "다"]}
    packing = rng.choice(["none", "snappy", "zstd"])
    version = rng.choice(["1.0", "2.0"])
    pq.write_table(pa.table(columns), sink, compression=packing, data_page_version=version)
    return sink.getvalue()


KINDS = {"a.json": json_file, "a.zip": zip_file, "a.parquet": parquet_file}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """``content`` with bytes that are flipped, lost, put in, or there twice."""
    broken = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, other = rng.randrange(len(broken) + 1), rng.randrange(len(broken) + 1)
        match rng.randrange(5):
            case 0 | 1:
                broken[at : at + 1] = bytes([rng.randrange(256)])
            case 2:
                broken[at:at] = rng.choice(PARTS)
            case 3:
                del broken[at : at + rng.randrange(1, 30)]
            case 4:
                broken[at:at] = broken[other : other + rng.randrange(60)]
    return bytes(broken)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_anywhere_ends_no_job(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    good = [{"text": text(rng)} for _ in range(20)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "z.jsonl").write_bytes(jsonl(*good))
    for number in range(200):
        content = damaged(KINDS[kind](rng), rng)
        (tmp_path / "in" / f"{number:03}{kind}").write_bytes(content)
    ledger = run([tmp_path / "in"], tmp_path / "out", presets={"": "none"}, near_duplicates=False)
    assert ledger.total.balance() == (0, 0)
    kept, dropped = (lines(tmp_path / "out", kind) for kind in ("documents", "dropped"))
    assert {row["text"] for row in good} <= {row["text"] for row in kept}
    assert len(kept) == ledger.total.kept[0]
    dropped = [row for row in dropped if row["unit"] == "document"]  # others have lost a line
    assert len(dropped) == ledger.total.read[0] - ledger.total.kept[0]
    problems = "".join(file["file"] for file in ledger.problems())
    assert kind in problems and "z.jsonl" not in problems
    if kind != "a.zip":  # whose members are the files
        assert len(ledger.files) == 201


@pytest.mark.parametrize("name", ["a.parquet", "a.parquet.gz"])
@pytest.mark.parametrize(
    "form", [pa.string(), pa.large_string(), pa.binary(), "dictionary"], ids=str
)
def test_a_row_of_parquet_that_is_too_long_costs_itself_and_no_more_memory(
    name: str, form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kobert_kit.corpus.formats.parquet.LONGEST_RECORD", 50_000)
    texts = ["앞의 글이다.", "가" * 3_000_000, "뒤의 글이다.", None, "가" * 16_000, "끝 글이다."]
    column = pa.array(texts)
    column = column.dictionary_encode() if form == "dictionary" else column.cast(form)
    write_bytes(tmp_path / name, parquet({"text": column, "title": ["강"] * 5 + ["산" * 20_000]}))
    tracemalloc.start()
    ledger = run([tmp_path / name], tmp_path / "out", presets={"": "none"})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dropped = [
        (row["line"], row["reason"], row["bytes"]) for row in lines(tmp_path / "out", "dropped")
    ]
    assert dropped == [
        (2, "longer than 32 MiB", 9_000_003),
        (4, "'text' is not a string", 0),
        (6, "longer than 32 MiB", 60_000 + len("끝 글이다.".encode())),
    ]
    assert len(lines(tmp_path / "out", "documents")) == 3 and ledger.total.balance() == (0, 0)
    assert peak < 9_000_000  # Python never holds the text
    report = ReadReport()
    assert len(list(read_documents([tmp_path / name], report))) == 3
    assert report.skipped == {"longer than 32 MiB": 2, "'text' is not a string": 1}
