"""Records come out of files in any encoding, and damage costs no more than it must."""

from __future__ import annotations

import codecs
import os
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from corpus_files import COMPRESS, jsonl, parquet, write_bytes

import kobert_kit.corpus.stage.cutting
from kobert_kit.corpus.files import format_of
from kobert_kit.corpus.formats.encodings import Transcoded, detect
from kobert_kit.corpus.formats.raw import FileEnd, Raw
from kobert_kit.corpus.stage.cutting import FORMATS, read_raw
from kobert_kit.corpus.stage.parsing import Parsed, parse

SYLLABLES = [chr(code) for code in range(0xAC00, 0xD7A4)]
TEXTS = ["봄비가 온다.\n우산을 챙겼다.", "뷁! 똠방각하, 펲시콜라 ㅋㅋ", "café 漢字 ½"]


def read(path: Path, text_field: str = "text") -> tuple[list[tuple[int, Parsed]], FileEnd]:
    *found, end = read_raw(0, path, text_field, lambda consumed: None)
    assert isinstance(end, FileEnd)
    kind, records = format_of(path, FORMATS), [raw for raw in found if isinstance(raw, Raw)]
    return [(raw.line, parse(raw, kind, text_field)) for raw in records], end


@pytest.mark.parametrize("compression", ["", ".gz", ".bz2"])
@pytest.mark.parametrize(
    "encoding, mark",
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("cp949", b""),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
    ],
)
@pytest.mark.parametrize("ascii_first", [0, 300_000])
def test_encodings_are_recognised(
    tmp_path: Path, encoding: str, mark: bytes, ascii_first: int, compression: str
) -> None:
    texts = TEXTS[:2] if encoding == "cp949" else TEXTS
    texts = ["plain ASCII " * (ascii_first // 12), *texts] if ascii_first else texts
    content = mark + "\r\n\r\n".join(t.replace("\n", "\r\n") for t in texts).encode(encoding)
    found, end = read(write_bytes(tmp_path / f"a.txt{compression}", content))
    assert [parsed.text for _, parsed in found] == texts
    assert (end.encoding, end.problem) == (encoding, "")


def test_cp949_and_utf8_are_told_apart_by_any_line() -> None:
    for line in ["가", "먹었습니다", "ㅋㅋㅋ", "“따옴표”", "한 글자 뷁"]:
        assert detect(line.encode()) == "utf-8"
        assert detect(line.encode("cp949")) == "cp949"
        assert detect(("가나다" * 1000 + line).encode()[:-1]) == "utf-8", "cut inside a character"
    assert Transcoded([b"only ascii"]).encoding == "ascii"


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_one_line_in_another_encoding_costs_that_line(tmp_path: Path, encoding: str) -> None:
    bad = b"\xff\xff\xff"
    lines = [f'{{"text": "{n}번째 줄"}}'.encode(encoding) for n in range(9)]
    lines[4] = b'{"text": "' + bad + b'"}'
    found, _ = read(write_bytes(tmp_path / "a.jsonl", b"\n".join(lines)))
    assert [line for line, parsed in found if parsed.problem] == [5]
    assert found[4][1].problem == ("not UTF-8" if encoding == "utf-8" else "not cp949")
    text = [f"{n}번째 줄".encode(encoding) for n in range(9)]
    text[4] = bad
    ((_, parsed),), _ = read(write_bytes(tmp_path / "a.txt", b"\n".join(text)))
    assert parsed.bad_lines == (5,) and parsed.text.count("\n") == 7
    table = b"text\n" + b"\n".join(text)
    found, _ = read(write_bytes(tmp_path / "a.tsv", table))
    assert [line for line, parsed in found if parsed.problem] == [6]


@pytest.mark.parametrize("compression", COMPRESS)
def test_tables(tmp_path: Path, compression: str) -> None:
    rows = 'id,review,label\n1,"쉼표, 그리고\n줄바꿈 ""따옴표""",0\n2,평범한 글,1\n3,짧다\n\n4,,1\n'
    found, end = read(write_bytes(tmp_path / f"a.csv{compression}", rows.encode("cp949")), "review")
    assert [(line, p.id, p.text or p.problem) for line, p in found] == [
        (2, "1", '쉼표, 그리고\n줄바꿈 "따옴표"'),
        (4, "2", "평범한 글"),
        (5, "", "more or fewer columns than the header"),
        (7, "", "empty text"),
    ]
    assert end.encoding == "cp949"
    tabs = 'text\tid\n따옴표 "하나\t1\n다음\t2\n'
    found, _ = read(write_bytes(tmp_path / f"a.tsv{compression}", tabs.encode()))
    assert [(p.id, p.text) for _, p in found] == [("1", '따옴표 "하나'), ("2", "다음")]
    _, end = read(tmp_path / f"a.tsv{compression}", "review")
    assert end.problem == "no column 'review', only text, id; name it with --text-field"


def test_fields_of_other_names(tmp_path: Path) -> None:
    rows = {"body": ["가", "나"], "id": ["a", "b"]}
    path = write_bytes(tmp_path / "a.parquet", parquet(rows))
    assert [(p.id, p.text) for _, p in read(path, "body")[0]] == [("a", "가"), ("b", "나")]
    problem = read(path)[1].problem
    assert "no column 'text', only body, id" in problem and "--text-field" in problem
    path = write_bytes(tmp_path / "a.jsonl", jsonl({"body": "가"}, {"text": "나"}))
    assert [p.text or p.problem for _, p in read(path, "body")[0]] == ["가", "no 'body'"]


@pytest.mark.parametrize("field", ["title", "id", "body"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "json", "wiki_00"])
def test_the_text_may_be_in_a_field_of_any_name(tmp_path: Path, kind: str, field: str) -> None:
    texts = ["첫째 기사의 제목", "둘째 기사의 제목"]
    rows = [{"id": "7", "title": "바다", "label": "1"} | {field: text} for text in texts]
    if kind == "parquet":
        content = parquet({name: [row[name] for row in rows] for name in rows[0]})
    elif kind in ("csv", "tsv"):
        table = [list(rows[0]), *(list(row.values()) for row in rows)]
        content = "\n".join({"csv": ",", "tsv": "\t"}[kind].join(row) for row in table).encode()
    else:
        content = jsonl(*rows)
    name = kind if kind == "wiki_00" else f"a.{kind}"
    if kind == "json":
        pytest.importorskip("ijson")
    found, end = read(write_bytes(tmp_path / name, content), field)
    assert not end.problem
    expected = [(row["id"], row["title"], row[field]) for row in rows]
    assert [(p.id, p.title, p.text) for _, p in found] == expected


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.csv"])
def test_a_line_that_is_too_long_is_left_out_and_never_held(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kobert_kit.corpus.stage.cutting, "LONGEST_RECORD", 50_000)
    good = [b'{"text": "good"}', b'{"text": "also good"}']
    head = b"text\n" if name == "a.csv" else b""
    path = write_bytes(tmp_path / name, head + good[0] + b"\n" + b"x" * 999_999 + b"\n" + good[1])
    if name == "a.csv":
        path.write_bytes(head + b"good\n" + b"x" * 999_999 + b"\nalso good")
    found, end = read(path)
    assert [bool(parsed.problem) for _, parsed in found] == [False, True, False]
    assert not end.problem


def test_nested_json_and_truncated_archives(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "deep.jsonl", b'{"text": ' + b"[" * 200_000 + b'\n{"text": "a"}')
    assert [p.problem for _, p in read(path)[0]] == ["not JSON", ""]
    rows = jsonl(*({"text": f"{n} {os.urandom(50).hex()}"} for n in range(5_000)))
    for compression in (".gz", ".xz", ".zst"):
        path = write_bytes(tmp_path / f"a.jsonl{compression}", rows)
        path.write_bytes(path.read_bytes()[: -path.stat().st_size // 2])
        found, end = read(path)
        assert found and not any(parsed.problem for _, parsed in found)
        assert end.problem.startswith(f"truncated or damaged after line {len(found):,}")


@pytest.mark.parametrize(
    "compression, characters",
    [(".gz", 1_000), (".gz", 300_000), (".xz", 300_000), (".zst", 300_000)],
)
def test_what_lies_before_the_damage_is_kept_in_any_script(
    tmp_path: Path, compression: str, characters: int
) -> None:
    syllables = random.Random(1).choices(SYLLABLES, k=characters)
    texts = ["".join(syllables[at : at + 40]) for at in range(0, characters, 40)]
    for name, content in (
        ("a.jsonl", jsonl(*({"text": text} for text in texts))),
        ("a.txt", "\n\n".join(texts).encode()),
        ("whole.txt", "\n".join(texts).encode()),  # one document
    ):
        path = write_bytes(tmp_path / f"{name}{compression}", content)
        path.write_bytes(path.read_bytes()[:-20])
        found, end = read(path)
        assert "truncated or damaged" in end.problem and end.encoding == "utf-8"
        kept = [line for _, parsed in found for line in parsed.text.split("\n")]
        assert kept == texts[: len(kept)] and not any(parsed.problem for _, parsed in found)
        # zstandard holds a block of 128 KB back, in which a text takes 120 bytes.
        assert len(kept) >= len(texts) - ((1 << 17) // 120 + 1 if compression == ".zst" else 99)
        assert kept


@pytest.mark.parametrize("compression", [".gz", ".xz", ".bz2", ".zst"])
@pytest.mark.parametrize("share", [0.3, 0.8])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "wiki_00"])
def test_damage_inside_a_compressed_file_leaves_what_lies_before_it(
    tmp_path: Path, compression: str, share: float, name: str
) -> None:
    rng = random.Random(3)
    # A block of bzip2 is 900 KB, and is given out whole; one of zstandard 128 KB.
    count = 40_000 if compression == ".bz2" else 4_000
    texts = ["".join(rng.choices(SYLLABLES, k=40)) for _ in range(count)]
    content = jsonl(*({"text": text} for text in texts))
    if name == "a.csv":
        content = "\n".join(["text", *texts]).encode()
    path = write_bytes(tmp_path / f"{name}{compression}", content)
    packed = bytearray(path.read_bytes())
    at = int(len(packed) * share)
    packed[at : at + 200] = bytes(255 - byte for byte in packed[at : at + 200])
    path.write_bytes(packed)
    found, end = read(path)
    assert end.problem.startswith("truncated or damaged after line ")
    # What the decompressor gave from the damage on may be anything.
    least = int(count * share) - {".bz2": 900_000, ".zst": 1 << 17}.get(compression, 4_000) // 120
    assert least > 0 and [p.text for _, p in found[:least]] == texts[:least]


@pytest.mark.parametrize("compression", [".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_marks_are_seen_where_much_is_decompressed_at_once(
    tmp_path: Path, compression: str, encoding: str
) -> None:
    syllables = random.Random(2).choices(SYLLABLES, k=90_000)
    texts = ["".join(syllables[at : at + 3_000]) for at in range(0, 90_000, 3_000)]
    path = write_bytes(tmp_path / f"a.txt{compression}", "\n\n".join(texts).encode(encoding))
    assert [parsed.text for _, parsed in read(path)[0]] == texts
    path = write_bytes(
        tmp_path / f"a.csv{compression}", "\n".join(["text", *texts]).encode(encoding)
    )
    assert [parsed.text for _, parsed in read(path)[0]] == texts


def test_what_is_no_table_is_named(tmp_path: Path) -> None:
    for content in (b"id,text\r1,\xea\xb0\x80\r2,b\r", bytes(range(256)) * 100):
        found, end = read(write_bytes(tmp_path / "a.csv", content))
        assert not found and end.problem.startswith(("no table", "no column"))


def test_bytes_in_a_table_of_columns_are_text_where_they_can_be(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "a.parquet", parquet({"text": ["안녕".encode(), b"\xff"]}))
    assert [p.text or p.problem for _, p in read(path)[0]] == ["안녕", "not UTF-8"]


def test_a_file_that_changes_or_goes_while_it_is_read_is_named(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "a.jsonl", jsonl(*[{"text": "가"}] * 10))
    records = read_raw(0, path, "text", lambda consumed: None)
    next(records)
    with path.open("ab") as stream:
        stream.write(b'{"text": "later"}')
    *_, end = records
    assert isinstance(end, FileEnd) and "changed while it was read" in end.problem
    _, end = read(tmp_path / "gone.txt")
    assert end.problem == "cannot be read (No such file or directory)"


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "a.txt", b"secret")
    path.chmod(0)
    assert read(path)[1].problem == "cannot be read (Permission denied)"


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.txt.zst", "a.parquet"])
def test_an_empty_file_is_called_so(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert read(tmp_path / name)[1].problem == "the file is empty"
    _, end = read(write_bytes(tmp_path / "blank.csv.gz", b"\ntext\n"))
    assert end.problem == "its first line has no columns"


def test_a_table_of_columns_may_be_of_any_type(tmp_path: Path) -> None:
    import pyarrow as pa

    texts = ["첫째 글이다.", "둘째 글이다."]
    bytes_twice = pa.array([b"\xff", "안녕".encode()]).dictionary_encode()
    columns = [
        (pa.array(texts).dictionary_encode(), texts),
        (bytes_twice, ["not UTF-8", "안녕"]),
        (pa.array([texts, []]), ["'text' is not a string"] * 2),
        (pa.array([2**62, 1], pa.timestamp("ns")), ["'text' is not a string"] * 2),
        (pa.array([2**61, 1], pa.timestamp("us")), ["'text' is not a string"] * 2),
        (pa.array([2**62, 1], pa.duration("ns")), ["'text' is not a string"] * 2),
    ]
    for column, expected in columns:
        path = write_bytes(tmp_path / "a.parquet", parquet({"text": column}))
        assert [p.text or p.problem for _, p in read(path)[0]] == expected
        path = write_bytes(tmp_path / "b.parquet", parquet({"id": column, "text": texts}))
        assert [p.text for _, p in read(path)[0]] == texts


def test_two_columns_of_the_name_are_named(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.Table.from_arrays([pa.array(["가"]), pa.array(["나"])], names=["text", "text"])
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    path = write_bytes(tmp_path / "a.parquet", sink.getvalue().to_pybytes())
    assert read(path)[1].problem == "several columns 'text'; rename all but one"
    found, end = read(write_bytes(tmp_path / "a.csv", b"text,text\na,b\n"))
    assert not found and end.problem == "several columns 'text'; rename all but one"


ROW = '{n},"쉼표, 그리고 ""따옴표"" {n}"\n'


@pytest.mark.parametrize(
    "odd", ['{n},"열린 글\n', '{n},"""열린 글\n', '{n},"열린"" 글\n', '"{n},열린 글\n', '{n},"\n']
)
@pytest.mark.parametrize("behind", ["{n},평범한 글\n", '{n},""\n', "\n", ""])
def test_a_quote_that_never_closes_costs_its_line_and_no_other(
    tmp_path: Path, odd: str, behind: str
) -> None:
    rows = ["id,text\n", *(ROW.format(n=n) for n in range(5)), odd.format(n=5)]
    rows += [behind.format(n=n) for n in range(6, 600)]
    found, end = read(write_bytes(tmp_path / "a.csv", "".join(rows).encode()))
    assert not end.problem
    assert [p.text for _, p in found[:5]] == [f'쉼표, 그리고 "따옴표" {n}' for n in range(5)]
    assert (found[5][0], found[5][1].problem) == (7, "a quote that opens here and never closes")
    if behind.startswith("{n}"):
        expected = [(n + 2, str(n), "평범한 글") for n in range(6, 600)]
        if '"' in behind:
            expected = [(n + 2, "", "") for n in range(6, 600)]
        assert [(line, p.id, p.text) for line, p in found[6:]] == expected
    else:
        assert len(found) == 6


def test_a_quote_that_opens_where_another_row_ends_is_found(tmp_path: Path) -> None:
    table = 'id,text\n1,"두 줄에\n걸친 글"\n2,"세 줄에\n\n걸치고","다시 열린 글\n3,끝\n4,끝 글\n'
    found, _ = read(write_bytes(tmp_path / "a.csv", table.encode()))
    assert [(line, p.text or p.problem) for line, p in found] == [
        (2, "두 줄에\n걸친 글"),
        (6, "a quote that opens here and never closes"),
        (7, "끝"),
        (8, "끝 글"),
    ]
    _, end = read(write_bytes(tmp_path / "a.csv", b'"id,text\n1,a\n'))
    assert end.problem == "no table: line 1: a quote that opens here and never closes"


def test_a_quoted_field_that_is_too_long_ends_with_its_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kobert_kit.corpus.stage.cutting, "LONGEST_RECORD", 5_000)
    lines = [f"{n},{n}번째 글" for n in range(2_000)]
    for at in (1_400, 900, 0):
        lines.insert(at, 'x,"열린 글')
    table = "id,text\n" + "\n".join([*lines, '9,"닫힌\n글"'])
    found, end = read(write_bytes(tmp_path / "a.csv", table.encode("utf-16")))
    bad = [(line, p.problem) for line, p in found if p.problem]
    assert [line for line, _ in bad] == [2, 903, 1_404]
    assert {problem for _, problem in bad} == {"a quote that opens here and never closes"}
    assert len(found) == 2_004 and found[-1][1].text == "닫힌\n글" and not end.problem
