"""Documents come out of every format as they went in, and everything is accounted for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from corpus_files import COMPRESS, jsonl, parquet, write_bytes

from kobert_kit.corpus.documents import Document, ReadReport, require_documents
from kobert_kit.corpus.files import find_files, total_bytes
from kobert_kit.corpus.reading import read_documents
from kobert_kit.errors import DataError

DOCUMENTS = [
    Document("뉴스-1", "첫눈이 내렸다.\n아이들이 밖으로 뛰어나갔다. ㅋㅋㅋ 👍🏽", "첫눈"),
    Document("7", "  앞뒤 공백과 \t탭,\x00 널 문자도 그대로 둔다.  "),
    Document("뉴스-3", "e\u0301 조합 문자\u2028줄 구분자", "제목"),
]


def read(*files: Path) -> tuple[list[Document], ReadReport]:
    report = ReadReport()
    return list(read_documents(files, report)), report


def content(kind: str) -> bytes:
    if kind == ".txt":
        return "\n \t\n".join(document.text for document in DOCUMENTS).encode()
    rows = [{"id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    if kind == ".jsonl":
        return jsonl(*rows)
    return parquet({name: [row[name] for row in rows] for name in rows[0]})


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("kind", [".txt", ".jsonl", ".parquet"])
def test_round_trip(tmp_path: Path, kind: str, compression: str) -> None:
    path = write_bytes(tmp_path / f"corpus{kind}{compression}", content(kind))
    found, report = read(path)
    if kind == ".txt":
        names = [f"{path.name}:{line}" for line in (1, 4, 6)]
        assert found == [Document(id, d.text) for id, d in zip(names, DOCUMENTS, strict=True)]
    else:
        assert found == DOCUMENTS
    assert (report.files, report.documents, report.skipped.total()) == (1, 3, 0)
    assert report.characters == sum(len(d.text) for d in DOCUMENTS)
    assert report.bytes == sum(len(d.text.encode()) for d in DOCUMENTS)


@pytest.mark.parametrize("compression", COMPRESS)
def test_progress_adds_up_to_the_size_on_disk(tmp_path: Path, compression: str) -> None:
    texts = [f"{number}번째 문서 {number * 7919 % 10007}" for number in range(30_000)]
    write_bytes(tmp_path / f"a.jsonl{compression}", jsonl(*({"text": text} for text in texts)))
    write_bytes(tmp_path / f"b.txt{compression}", "\n\n".join(texts).encode())
    write_bytes(tmp_path / f"c.parquet{compression}", parquet({"text": texts}))
    write_bytes(tmp_path / f"d.parquet{compression}", parquet({"text": texts[:0]}))
    files, report = find_files([tmp_path]), ReadReport()
    steps: list[int] = []
    assert sum(1 for _ in read_documents(files, report, steps.append)) == 90_000
    assert sum(steps) == total_bytes(files)
    assert len(steps) > 8 and min(steps) >= 0
    assert report.files == 4


def test_every_bad_line_is_counted_and_named(tmp_path: Path) -> None:
    lines = [
        b'{"text": "\xea\xb0\x80"}',
        b'{"text": "\xff\xfe"}',
        b"",
        b"{text}",
        b'["text"]',
        b'{"title": "\xea\xb0\x80"}',
        b'{"text": null}',
        b'{"text": " \\n\\u3000"}',
        b"[" * 100_000,
        *[b"!"] * 4,
        b'{"text": "\xeb\x82\x98"}',
    ]
    path = write_bytes(tmp_path / "bad.jsonl", b"\n".join(lines))
    found, report = read(path)
    assert [(d.id, d.text) for d in found] == [("bad.jsonl:1", "가"), ("bad.jsonl:14", "나")]
    assert report.skipped == {
        "not UTF-8": 1,
        "not JSON": 6,
        "not a JSON object": 1,
        "no 'text'": 1,
        "'text' is not a string": 1,
        "empty text": 1,
    }
    assert report.documents + report.skipped.total() == sum(1 for line in lines if line)
    assert [e for e in report.examples if "JSON" in e] == [
        f"{path}:4: not JSON",
        f"{path}:5: not a JSON object",
        f"{path}:9: not JSON",
        f"{path}:10: not JSON",
    ]
    assert f"{path}:2: not UTF-8" in report.summary()
    assert "skipped 11" in report.summary()


def test_a_bad_line_of_text_is_left_out_of_its_document(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "a.txt", "가\n".encode() + b"\xb0\xa1\n" + "나\n\n다".encode())
    found, report = read(path)
    assert [(d.id, d.text) for d in found] == [("a.txt:1", "가\n나"), ("a.txt:5", "다")]
    assert report.examples == [f"{path}:2: not UTF-8"]


def test_bad_rows_of_parquet(tmp_path: Path) -> None:
    import pyarrow as pa

    broken = pa.array([b"\xff", None, "가".encode(), b" "]).view(pa.string())
    path = write_bytes(tmp_path / "a.parquet", parquet({"text": broken, "id": [1, 2, None, 4]}))
    found, report = read(path)
    assert found == [Document("a.parquet:3", "가")]
    assert report.skipped == {"not UTF-8": 1, "'text' is not a string": 1, "empty text": 1}
    assert report.examples[0] == f"{path}:1: not UTF-8"


def test_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    bom = b"\xef\xbb\xbf"
    text = write_bytes(tmp_path / "a.txt", bom + "가\r\n나\r\n\r\n다\r\n".encode())
    lines = write_bytes(tmp_path / "b.jsonl", bom + b'{"text": "a"}\r\n{"text": "b"}\r\n')
    found, report = read(text, lines)
    assert [(d.id, d.text) for d in found] == [
        ("a.txt:1", "가\n나"),
        ("a.txt:4", "다"),
        ("b.jsonl:1", "a"),
        ("b.jsonl:2", "b"),
    ]
    assert not report.skipped


def test_ids_and_titles_of_other_types(tmp_path: Path) -> None:
    rows = [{"text": "가", "id": 0, "title": None}, {"text": "나", "id": None}, {"text": "다"}]
    found, _ = read(write_bytes(tmp_path / "a.jsonl", jsonl(*rows)))
    assert [d.id for d in found] == ["0", "a.jsonl:2", "a.jsonl:3"]
    assert [d.title for d in found] == ["", "", ""]


def test_lone_surrogates_become_the_replacement_character(tmp_path: Path) -> None:
    line = rb'{"text": "\ud83d\ude00 \ud83d \ude00", "id": "\ud83d", "title": "\udc00"}'
    (found,), report = read(write_bytes(tmp_path / "a.jsonl", line))
    assert found == Document("\ufffd", "😀 \ufffd \ufffd", "\ufffd")
    assert report.bytes == len(found.text.encode())


@pytest.mark.parametrize("compression", [c for c in COMPRESS if c])
@pytest.mark.parametrize(
    "damage", ["truncated", "without its end", "corrupt", "empty", "followed by garbage"]
)
def test_a_damaged_archive_is_named(tmp_path: Path, compression: str, damage: str) -> None:
    texts = [f"{number * 48271 % 2147483647:x}" for number in range(50_000)]
    path = tmp_path / f"a.jsonl{compression}"
    whole = write_bytes(path, jsonl(*({"text": text} for text in texts))).read_bytes()
    middle = len(whole) // 2
    broken = {
        "truncated": whole[:middle],
        "without its end": whole[:-3],
        "corrupt": whole[:middle] + bytes(1000) + whole[middle + 1000 :],
        "empty": b"",
        "followed by garbage": whole + b"not compressed",
    }
    path.write_bytes(broken[damage])
    found: list[str] = []
    report = ReadReport()
    with pytest.raises(DataError, match=rf"a\.jsonl{compression}: .*damaged after line [\d,]+ \("):
        for document in read_documents([path], report):
            found.append(document.text)
    if damage != "corrupt":  # what stands behind the damage may decompress to anything
        assert found == texts[: len(found)] and not report.skipped
        if compression != ".bz2":  # which gives nothing before its block of 900 kB is whole
            assert (len(found) == 0) == (damage == "empty")


@pytest.mark.parametrize("compression", [c for c in COMPRESS if c])
def test_archives_joined_end_to_end_are_read_whole(tmp_path: Path, compression: str) -> None:
    pack = COMPRESS[compression]
    path = tmp_path / f"a.jsonl{compression}"
    path.write_bytes(pack(jsonl({"text": "가"})) + pack(jsonl({"text": "나"}, {"text": "다"})))
    assert [d.text for d in read(path)[0]] == ["가", "나", "다"]


def test_parquet_errors_name_the_file_and_what_is_wrong(tmp_path: Path) -> None:
    other = write_bytes(tmp_path / "a.parquet", parquet({"body": ["가"], "url": ["나"]}))
    with pytest.raises(DataError, match=r"a\.parquet: no column 'text', only body, url"):
        read(other)
    with pytest.raises(DataError, match=r"b\.parquet: not a Parquet file"):
        read(write_bytes(tmp_path / "b.parquet", b"plain text, by mistake"))
    packed = write_bytes(tmp_path / "c.parquet.xz", content(".parquet"))
    packed.write_bytes(packed.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"c\.parquet\.xz: the compressed file is truncated"):
        read(packed)
    with pytest.raises(DataError, match=r"d\.parquet"):
        read(tmp_path / "d.parquet")


def test_a_corpus_without_documents_is_an_error_that_says_why(tmp_path: Path) -> None:
    bad = write_bytes(tmp_path / "bad.jsonl", b'{"body": "a"}\n{"body": "b"}\n{}}\n')
    _, report = read(bad)
    with pytest.raises(DataError, match=r"bad\.jsonl.*no documents.*no 'text': 2, not JSON: 1"):
        require_documents(report, [bad])
    blank = write_bytes(tmp_path / "blank.txt", b"\n \n\n")
    _, report = read(blank)
    with pytest.raises(DataError, match=r"blank\.txt: no documents in the corpus: empty"):
        require_documents(report, [blank])
    _, report = read(bad, write_bytes(tmp_path / "good.txt", b"a"))
    require_documents(report, [bad])


def test_text_in_another_encoding_is_sent_to_the_command_that_converts_it(tmp_path: Path) -> None:
    cure = "what is in cp949, EUC-KR or UTF-16 `kobert-kit corpus` converts"
    old, new = "옛날 글이다.\n둘째 줄이다.\n", write_bytes(tmp_path / "new.txt", "새 글".encode())
    path = write_bytes(tmp_path / "old.txt", old.encode("cp949"))
    _, report = read(path)
    with pytest.raises(DataError, match=f"not UTF-8.*{cure}"):
        require_documents(report, [path])
    for encoding in ("cp949", "utf-16"):
        _, report = read(write_bytes(path, old.encode(encoding)), new)
        assert report.summary().endswith(cure), "also where only some files are in it"
    _, report = read(write_bytes(tmp_path / "bad.jsonl", b'{}\n{"text": "a"}'))
    assert report.skipped and cure not in report.summary()


def test_a_line_longer_than_any_block_is_one_document(tmp_path: Path) -> None:
    text = "가나다라 " * 2_000_000
    found, _ = read(write_bytes(tmp_path / "a.jsonl.zst", jsonl({"text": text}, {"text": "끝"})))
    assert [d.text for d in found] == [text, "끝"]


def test_reading_json_lines_needs_no_heavy_import(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "a.jsonl.xz", jsonl({"text": "가"}))
    program = (
        "import sys; from pathlib import Path\n"
        "from kobert_kit.corpus.reading import read_documents\n"
        "from kobert_kit.corpus.documents import ReadReport\n"
        "assert len(list(read_documents([Path(sys.argv[1])], ReadReport()))) == 1\n"
        "assert not {'pyarrow', 'zstandard', 'torch', 'numpy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "corpus"


@pytest.mark.parametrize(
    ("name", "documents"),
    [("law", 231), ("tech_docs", 1_670), ("assembly_bills", 5_896)],
)
def test_real_corpora_are_read_whole(name: str, documents: int) -> None:
    path = SHARED / f"{name}.jsonl.xz"
    if not path.exists():
        pytest.skip("the shared corpora are not beside the repository")
    steps: list[int] = []
    report = ReadReport()
    ids = {document.id for document in read_documents([path], report, steps.append)}
    assert report.documents == len(ids) == documents
    assert not report.skipped and sum(steps) == path.stat().st_size
