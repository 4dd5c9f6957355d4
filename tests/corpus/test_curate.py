"""The corpus stage: nothing lost, nothing twice, the same bytes however it was run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard
from corpus_files import jsonl, page, parquet, write_bytes

from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.files import find_files
from kobert_kit.corpus.reading import read_documents
from kobert_kit.corpus.sentences import sentence_starts
from kobert_kit.corpus.stage.curate import CorpusSettings, Sentences, make_corpus, read_ledger
from kobert_kit.corpus.stage.ledger import Ledger
from kobert_kit.corpus.stage.steps import Pace
from kobert_kit.errors import DataError, UsageError

SMALL = {"chunk_bytes": 20_000, "shard_chunks": 3}
NOUNS = "강 산 바다 도서관 시장 학교 기차 우체국 공원 항구 극장 마을 농장 섬 다리 시청 병원"
VERBS = "걷는다 기다린다 만난다 떠난다 돌아온다 바라본다 지나간다 머문다 쉰다 노래한다"


def sentence(rng: random.Random) -> str:
    first, second = rng.sample(NOUNS.split(), 2)
    day = rng.randrange(1, 10_000)
    return f"{first}에서 {second}까지 {day}번째 손님이 {rng.choice(VERBS.split())}."


def text(rng: random.Random, sentences: int = 12) -> str:
    made = [sentence(rng) for _ in range(sentences)]
    return "\n".join(" ".join(made[at : at + 4]) for at in range(0, sentences, 4))


def run(sources: list[Path], output: Path, **options: Any) -> Ledger:
    pace = {name: options.pop(name) for name in ("workers", "part", "parts") if name in options}
    settings = CorpusSettings(**{"presets": {"": "wiki"}, **options})
    make_corpus(
        sources, output, settings, Pace(**{"workers": 1, **SMALL, **pace}), lambda line: None
    )
    return read_ledger(output) if pace.get("parts", 1) == 1 else Ledger()


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    found = []
    for path in sorted((folder / kind).iterdir()):
        with zstandard.open(path, "rt", encoding="utf-8") as stream:
            found += [json.loads(line) for line in stream]
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """All that a folder holds but the record, which has the time in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    found = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    del found["kobert_kit.json"]
    return found


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two sources with copies within and across them, boilerplate, and bad lines."""
    folder, rng = tmp_path_factory.mktemp("sources"), random.Random(1)
    texts = [text(rng) for _ in range(300)]
    first = jsonl(*({"text": made + "\n무단 전재와 재배포를 금합니다."} for made in texts))
    write_bytes(folder / "news.jsonl.xz", first + b'{"text": 1}\n{"body": "x"}\n\xff\xfe\n')
    near = ["\n".join(made.split("\n")[::-1]) for made in texts[5::10]]
    second = [*(text(rng) for _ in range(100)), *texts[::10], *near, "짧다", "only english " * 20]
    (folder / "web").mkdir()
    write_bytes(folder / "web" / "a.txt", "\n\n".join(second[:70]).encode("cp949"))
    write_bytes(folder / "web" / "b.txt.gz", "\n\n".join(second[70:]).encode())
    return [folder / "news.jsonl.xz", folder / "web"]


@pytest.fixture(scope="module")
def made(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "clean"
    run(sources, folder)
    return folder


def test_every_document_is_kept_or_dropped_with_its_place_and_reason(
    sources: list[Path], made: Path
) -> None:
    ledger, kept, dropped = read_ledger(made), lines(made, "documents"), lines(made, "dropped")
    for flow in (*ledger.sources.values(), ledger.total):
        assert flow.balance() == (0, 0)
    assert ledger.sources["news"].read[0] == 303 and ledger.sources["web"].read[0] == 162
    assert ledger.total.kept[0] == len(kept) == 400
    assert Counter(entry["reason"] for entry in dropped) == {
        "duplicate": 30,
        "near duplicate": 30,
        "'text' is not a string": 1,
        "no 'text'": 1,
        "not UTF-8": 1,
        "too short": 1,
        "too little Hangul": 1,
    }
    assert sum(n for n, _ in ledger.total.dropped.values()) == len(dropped)
    bad = next(entry for entry in dropped if entry["reason"] == "not UTF-8")
    assert (bad["file"], bad["line"], bad["bytes"]) == (str(sources[0]), 303, 2)
    copy = next(entry for entry in dropped if entry["reason"] == "near duplicate")
    assert f"of {sources[0]}:" in copy["detail"] and "similarity 0." in copy["detail"]
    assert ledger.boilerplate == {"무단 전재와 재배포를 금합니다.": 300}
    assert ledger.filters["boilerplate"].documents == 300
    assert {file["encoding"] for file in ledger.files} == {"utf-8", "cp949"}
    assert ledger.total.bytes_written == sum(len(line["text"].encode()) for line in kept)


def test_other_commands_read_the_folder_as_a_corpus(made: Path) -> None:
    files = find_files([made])
    assert [path.parent.name for path in files] == ["documents"] * len(files) and len(files) > 1
    report = ReadReport()
    assert [d.text for d in read_documents(files, report)] == [
        line["text"] for line in lines(made, "documents")
    ]
    assert not report.skipped


def test_workers_and_parts_change_no_byte(sources: list[Path], made: Path, tmp_path: Path) -> None:
    run(sources, tmp_path / "three", workers=3)
    assert contents(tmp_path / "three") == contents(made)
    for part in (2, 0, 1):
        run(sources, tmp_path / "parts", part=part, parts=3)
        with pytest.raises(DataError, match="unfinished; run the same corpus command"):
            find_files([tmp_path / "parts"])
    run(sources, tmp_path / "parts")
    assert contents(tmp_path / "parts") == contents(made)


PROGRAM = """
import sys
from pathlib import Path
from kobert_kit.corpus.stage.curate import CorpusSettings, make_corpus
from kobert_kit.corpus.stage.steps import Pace
if __name__ == "__main__":
    settings = CorpusSettings({"": "wiki"})
    pace = Pace(workers=2, chunk_bytes=20_000, shard_chunks=3)
    make_corpus([Path(a) for a in sys.argv[2:]], Path(sys.argv[1]), settings, pace, print)
"""


def limited(size: int) -> str:
    """The program with a limit to the size of files, none of which is half a module's byte code."""
    return PROGRAM.replace(
        "if __name__",
        "import resource\nsys.dont_write_bytecode = True\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\nif __name__",
    )


def test_twenty_kills_at_any_moment_end_in_the_same_bytes(
    sources: list[Path], made: Path, tmp_path: Path
) -> None:
    rng, kills, output = random.Random(3), 0, tmp_path / "killed"
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(output), *map(str, sources)]
    longest = 4.0  # seconds up to a kill; follows the machine, which has other work now and then
    while kills < 20:
        if (output / "kobert_kit.json").exists():
            subprocess.run(command, check=True, capture_output=True)
            assert contents(output) == contents(made)
            shutil.rmtree(output)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.2, 0.9) * longest)
        process.kill()
        killed = process.wait() == -signal.SIGKILL
        kills, longest = kills + killed, longest * (1.2 if killed else 0.6)
    subprocess.run(command, check=True, capture_output=True)
    assert contents(output) == contents(made)


@pytest.mark.skipif(sys.platform != "linux", reason="the system's limits differ")
@pytest.mark.parametrize("largest", [2_000, 9_000, 60_000])
def test_a_full_disk_is_told_and_the_same_command_goes_on(
    sources: list[Path], made: Path, tmp_path: Path, largest: int
) -> None:
    """A limit to the size of files stands in for the disk: the same call fails in the same way."""
    (tmp_path / "limited.py").write_text(limited(largest))
    (tmp_path / "program.py").write_text(PROGRAM)
    arguments = [str(tmp_path / "full"), *map(str, sources)]
    command = [sys.executable, str(tmp_path / "limited.py"), *arguments]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    assert "DataError" in said and "make room and run the same command again" in said
    command = [sys.executable, str(tmp_path / "program.py"), *arguments]
    subprocess.run(command, check=True, capture_output=True)
    assert contents(tmp_path / "full") == contents(made)


def test_a_finished_folder_is_left_alone_and_another_command_refused(
    sources: list[Path], made: Path
) -> None:
    before = contents(made)
    run(sources, made)
    assert contents(made) == before
    with pytest.raises(UsageError, match="begun with sources"):
        run(sources, made, presets={"": "news"})
    with pytest.raises(UsageError, match="begun with another corpus"):
        run(sources[::-1][:1] + sources[:1], made, presets={"": "wiki"})


@pytest.mark.parametrize("scope", ["document", "corpus"])
def test_duplicate_lines_and_documents(tmp_path: Path, scope: str) -> None:
    rows = ["하나\n둘\n하나", "둘\n셋", "둘\n셋", "넷"]
    path = write_bytes(tmp_path / "a.jsonl", jsonl(*({"text": row} for row in rows)))
    ledger = run([path], tmp_path / "out", presets={}, filters=(f"duplicate-lines={scope}",))
    kept = [line["text"] for line in lines(tmp_path / "out", "documents")]
    assert kept == (
        ["하나\n둘", "둘\n셋", "넷"] if scope == "document" else ["하나\n둘", "셋", "넷"]
    )
    reason = "duplicate" if scope == "document" else "no lines left"
    assert {why: n for why, (n, _) in ledger.total.dropped.items()} == {reason: 1}
    assert lines(tmp_path / "out", "dropped")[0]["line"] == 3


def test_presets_by_source_and_sentences(tmp_path: Path) -> None:
    talk = write_bytes(tmp_path / "talk.txt", "진짜ㅋㅋㅋㅋㅋㅋ  재밌다. 또 볼래!!!!!".encode())
    law = write_bytes(tmp_path / "law.txt", "제1조  목적이다. 제2조는 정의다.".encode())
    run(
        [talk, law],
        tmp_path / "out",
        presets={"talk": "comments", "": "none"},
        sentences=Sentences("rule", sentence_starts),
    )
    first, second = lines(tmp_path / "out", "documents")
    assert first["text"] == "진짜ㅋㅋㅋ 재밌다. 또 볼래!!!" and first["source"] == "talk"
    assert second["text"] == "제1조  목적이다. 제2조는 정의다."
    spans = [first["text"][start:end] for start, end in first["sentences"]]
    assert spans == ["진짜ㅋㅋㅋ 재밌다.", "또 볼래!!!"]
    with pytest.raises(UsageError, match=r"--preset web=\.\.\.: no such source; .* are talk"):
        run([talk, law], tmp_path / "other", presets={"web": "news"})
    assert not (tmp_path / "other").exists()


def test_the_job_goes_on_past_what_is_broken(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_bytes(folder / "good.txt", "멀쩡한 글".encode())
    rows = jsonl(*({"text": f"{n}: {os.urandom(40).hex()}"} for n in range(2_000)))
    broken = write_bytes(folder / "broken.jsonl.gz", rows)
    broken.write_bytes(broken.read_bytes()[:-40_000])
    (folder / "loop").symlink_to(folder)
    (folder / "self.txt").symlink_to(folder / "self.txt")
    write_bytes(folder / "table.csv", b"a,b\n1,2\n")
    write_bytes(folder / "more.7z", b"7z")
    ledger = run([folder], tmp_path / "out", presets={"": "none"})
    problems = {Path(file["file"]).name: file["problem"] for file in ledger.problems()}
    assert problems.keys() == {"broken.jsonl.gz", "self.txt", "table.csv", "more.7z"}
    assert problems["broken.jsonl.gz"].startswith("truncated or damaged after line 1,")
    assert problems["more.7z"] == "an archive, which is not read; unpack it first"
    assert "broken link" in problems["self.txt"] and "no column 'text'" in problems["table.csv"]
    assert 1_000 < ledger.total.kept[0] < 2_000


def test_files_that_are_passed_over_are_counted_by_suffix(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("a.txt", "README", "README.md", ".hidden.hwp", "나/b.hwp", "나/c.HWP", "d.ndjson"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(f"{name}: 나루터에 배가 들어온다.", encoding="utf-8")
    (folder / "list").write_text("배", encoding="utf-8")
    (folder / "rows.ndjson.gz").write_bytes(b"")
    with zipfile.ZipFile(folder / "old.zip", "w") as archive:
        for name in ("a.txt", "readme.txt", "b.docx", ".c.docx"):
            archive.writestr(name, f"{name}: 강가에 배가 닿는다.")
    with tarfile.open(folder / "new.tar.gz", "w:gz") as tar:
        tar.add(folder / "나" / "b.hwp", "b.hwp")
    ledger = run([folder], tmp_path / "out", presets={}, near_duplicates=False)
    assert ledger.total.kept[0] == 2
    told = {entry["problem"] for entry in ledger.problems()}
    assert {entry["file"] for entry in ledger.problems()} == {str(folder)}
    assert told == {
        "3 files in .hwp passed over, the first new.tar.gz/b.hwp; convert what is text",
        "1 file in .ndjson passed over, the first d.ndjson; convert what is text",
        "1 file in .ndjson.gz passed over, the first rows.ndjson.gz; convert what is text",
        "1 file in .docx passed over, the first old.zip/b.docx; convert what is text",
        "1 file of no suffix passed over, the first list; convert what is text",
    }


def test_files_of_many_suffixes_take_few_lines(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_bytes(tmp_path / "in" / "a.txt", "멀쩡한 글".encode())
    for number in range(200):
        (tmp_path / "in" / f"page.{number}").touch()
    (tmp_path / "in" / os.fsdecode("page.쪽".encode("cp949"))).touch()
    ledger = run([tmp_path / "in"], tmp_path / "out", presets={})
    told = [entry["problem"] for entry in ledger.problems()]
    assert len(told) == 21 and sum(int(each.split()[0]) for each in told) == 201
    assert any(each.startswith("181 files in other formats") for each in told)


def test_a_corpus_of_which_nothing_is_left_says_why(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "a.txt", b"short")
    with pytest.raises(DataError, match=r"no documents are left \(too short: 1\)"):
        run([path], tmp_path / "out", presets={"": "none"}, filters=("length=9",))
    (tmp_path / "empty.txt").touch()
    with pytest.raises(DataError, match=r"no documents are left \(the files are empty"):
        run([tmp_path / "empty.txt"], tmp_path / "out2")
    with pytest.raises(UsageError, match=r"gone: no such file"):
        run([tmp_path / "gone"], tmp_path / "out3")


def test_an_output_in_a_source_is_refused(tmp_path: Path) -> None:
    """It would be a source itself the next time."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("글이다.")
    for output in (tmp_path / "texts", tmp_path / "texts" / "clean"):
        with pytest.raises(UsageError, match="lies in the source"):
            run([tmp_path / "texts"], output)
    assert [path.name for path in (tmp_path / "texts").iterdir()] == ["a.txt"]


def test_names_of_korean_windows_are_written_as_they_were_meant(tmp_path: Path) -> None:
    folder = tmp_path / "모음"
    folder.mkdir()
    rng = random.Random(8)
    made = text(rng)
    try:
        (folder / os.fsdecode("신문.txt".encode("cp949"))).write_text(made, encoding="utf-8")
        (folder / os.fsdecode("목록.csv".encode("cp949"))).write_bytes(b"id,\xbb\xbf\xff\n1,a\n")
    except OSError:
        pytest.skip("this file system has no names but of UTF-8")
    (folder / "나중.txt").write_text(made, encoding="utf-8")
    (folder / "하나.txt").write_text(made, encoding="utf-8")
    os.symlink("gone", folder / os.fsdecode("끊긴.txt".encode("cp949")))
    held = write_bytes(tmp_path / os.fsdecode("평가.txt".encode("cp949")), sentence(rng).encode())
    ledger = run([folder], tmp_path / "clean", evaluation=(held,))
    assert {entry["file"] for entry in ledger.files} == {
        f"{folder}/{name}" for name in ("신문.txt", "목록.csv", "나중.txt", "하나.txt", "끊긴.txt")
    }
    assert {Path(entry["file"]).name for entry in ledger.problems()} == {"목록.csv", "끊긴.txt"}
    assert ledger.evaluation[0].file == f"{tmp_path}/평가.txt"
    assert {Path(entry["file"]).name for entry in lines(tmp_path / "clean", "dropped")} == {
        "하나.txt",
        "신문.txt",
    }
    source = next(folder.glob("*신문*"), folder / os.fsdecode("신문.txt".encode("cp949")))
    (document,) = read_documents(find_files([source]), ReadReport())
    assert document.id == "신문.txt:1"


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.csv", "a.html"])
def test_a_record_that_is_too_long_counts_with_all_its_bytes(name, tmp_path, monkeypatch):
    monkeypatch.setattr("kobert_kit.corpus.stage.cutting.LONGEST_RECORD", 50_000)
    good = '{"text": "좋은 글이다."}' if name == "a.jsonl" else "좋은 글이다."
    lines_before = {"a.csv": ["text", good], "a.html": []}.get(name, [good, ""])
    (tmp_path / name).write_text("\n".join([*lines_before, "x" * 999_999]), encoding="utf-8")
    (tmp_path / "b.txt").write_text(good, encoding="utf-8")
    run([tmp_path / name, tmp_path / "b.txt"], tmp_path / "out", presets={"": "none"})
    (dropped,) = lines(tmp_path / "out", "dropped")[:1]
    assert dropped["reason"] == "longer than 32 MiB" and dropped["bytes"] == 999_999


@pytest.mark.parametrize("bad", ['3,"열린 글', "3,4,5", "3", 'ㄱ,"닫힌 글"\r나'])
def test_a_row_of_a_table_that_is_none_counts_with_its_bytes(tmp_path: Path, bad: str) -> None:
    table = "id,text\n1,첫째 글이다.\n" + bad + "\n5,다섯째 글이다.\n"
    path = write_bytes(tmp_path / "a.csv", table.encode())
    ledger = run([path], tmp_path / "out", presets={"": "none"})
    kept = [line["text"] for line in lines(tmp_path / "out", "documents")]
    assert kept == ["첫째 글이다.", "다섯째 글이다."] and not ledger.problems()
    (dropped,) = lines(tmp_path / "out", "dropped")
    size = len(bad.encode())
    assert dropped["line"] == 3 and size - bad.count(",") <= dropped["bytes"] <= size
    assert ledger.total.balance() == (0, 0) and ledger.total.read[0] == 3


@pytest.mark.skipif(sys.platform != "linux", reason="the system's limits differ")
@pytest.mark.parametrize("packed", ["a.parquet.xz", "a.tar"])
def test_no_room_for_a_temporary_file_ends_the_job_until_there_is(
    tmp_path: Path, packed: str
) -> None:
    """A limit to the size of files stands in for the disk, as above."""
    rng = random.Random(12)
    noise = [rng.randbytes(10_000) for _ in range(40)]
    made = parquet({"text": [text(rng) for _ in noise], "noise": noise})
    before = write_bytes(tmp_path / "before.txt", "\n\n".join(map(str, range(99))).encode())
    source = tmp_path / packed
    if packed == "a.tar":
        with tarfile.open(source, "w") as archive:
            info = tarfile.TarInfo("inner.parquet")
            info.size = len(made)
            archive.addfile(info, io.BytesIO(made))
    else:
        write_bytes(source, made)
    (tmp_path / "limited.py").write_text(limited(200_000))
    (tmp_path / "program.py").write_text(PROGRAM)
    for program, output in (("limited", "full"), ("program", "full"), ("program", "whole")):
        command = [sys.executable, str(tmp_path / f"{program}.py"), str(tmp_path / output)]
        done = subprocess.run([*command, before, source], capture_output=True, text=True)
        if program == "limited":
            (said,) = (line for line in done.stderr.splitlines() if line.startswith("kobert_kit."))
            assert str(source) in said and tempfile.gettempdir() in said and "TMPDIR" in said
            assert done.returncode and not (tmp_path / output / "kobert_kit.json").exists()
        else:
            assert not done.returncode, done.stderr
    assert len(lines(tmp_path / "full", "documents")) == len(noise)
    assert contents(tmp_path / "full") == contents(tmp_path / "whole")


def test_pages_and_rows_that_are_no_documents_count_with_their_text(tmp_path: Path) -> None:
    wiki = pytest.importorskip("mwparserfromhell") and [
        page("바다", "바다는 넓다."),
        page("옛 바다", "#넘겨주기 [[바다]]", redirect="<redirect title='바다' />"),
        page("틀:바다", "물 & 소금", ns=10),
        page("표", "{|\n| 표만 있다\n|}"),
    ]
    xml = f"<mediawiki>{''.join(wiki)}</mediawiki>"
    sources = [
        write_bytes(tmp_path / "wiki.xml", xml.encode()),
        write_bytes(tmp_path / "rows.parquet", parquet({"text": [b"\xb0\xa1\xff", b" \n", b"ok"]})),
        write_bytes(
            tmp_path / "table.csv", b"id,text\n1,\xff\xfe\n2,ok\n" + "3,가나\n".encode() * 9
        ),
    ]
    ledger = run(sources, tmp_path / "out", presets={"": "none"}, near_duplicates=False)
    sizes = [
        (Path(row["file"]).name, row["bytes"])
        for row in lines(tmp_path / "out", "dropped")
        if row["reason"] != "duplicate"
    ]
    redirect, template, only_a_table = "#넘겨주기 [[바다]]", "물 & 소금", "{|\n| 표만 있다\n|}"
    assert sizes == [
        *(("wiki.xml", len(t.encode())) for t in (redirect, template, only_a_table)),
        ("rows.parquet", 3),
        ("rows.parquet", 2),
        ("table.csv", 2),
    ]
    assert ledger.total.balance() == (0, 0)
