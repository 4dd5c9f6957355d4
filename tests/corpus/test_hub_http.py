"""Data sets of the hub come over HTTP, from a server that answers as the hub does."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpus_files import jsonl, parquet
from hub_client import kobert_kit, run_python
from hub_server import Files, Hub
from test_curate import contents, lines

from kobert_kit.corpus.stage.curate import read_ledger

NAME = "wikimedia/wikipedia"
SOURCE = f"hf:{NAME}:20231101.ko"
WORDS = ("바다", "산길", "나무", "저녁", "아침", "구름", "기차", "시장", "편지", "노래", "강물")


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


def texts(count: int, start: int = 0) -> list[str]:
    """Documents of about 6 kB, as UTF-8, that share no sentence."""
    made = []
    for number in range(start, start + count):
        words = random.Random(number).choices(WORDS, k=800)
        made.append(f"{number}번째 글이다. " + " ".join(words))
    return made


def card(configs: dict[str, dict[str, str]]) -> bytes:
    """README.md with the files of each split of each configuration."""
    rows = ["---", "license: cc-by-sa-3.0", "configs:"]
    for config, splits in configs.items():
        rows += [f"- config_name: {config}", "  data_files:"]
        for split, path in splits.items():
            rows += [f"  - split: {split}", f"    path: '{path}'"]
    return "\n".join([*rows, "---", "# 위키백과", ""]).encode()


def rows(found: list[str], start: int = 0) -> bytes:
    numbers = [str(number) for number in range(start, start + len(found))]
    return parquet({"id": numbers, "title": [f"제목 {n}" for n in numbers], "text": found})


def wikipedia(first: list[str], second: list[str]) -> Files:
    return {
        "README.md": card(
            {
                "20231101.en": {"train": "20231101.en/train-*.parquet"},
                "20231101.ko": {"train": "20231101.ko/train-*.parquet"},
            }
        ),
        "20231101.en/train-00000-of-00001.parquet": rows(["Not Korean."]),
        "20231101.ko/train-00000-of-00002.parquet": rows(first),
        "20231101.ko/train-00001-of-00002.parquet": rows(second, len(first)),
    }


def test_a_data_set_becomes_documents_of_one_commit(hub: Hub, tmp_path: Path) -> None:
    wanted = texts(30)
    commit = hub.commit(NAME, wikipedia([*wanted, " "], [wanted[4], "짧은 글이다."]))
    command = ("corpus", SOURCE, "--output", tmp_path / "out", "--workers", 1)
    done = kobert_kit(hub, tmp_path / "home", *command)
    assert not done.returncode, done.stderr
    found = lines(tmp_path / "out", "documents")
    assert [line["text"] for line in found] == [*wanted, "짧은 글이다."]
    last = {"id": "32", "source": "wikipedia", "title": "제목 32", "text": "짧은 글이다."}
    assert found[-1] == last
    total = read_ledger(tmp_path / "out").total
    assert total.read[0] == 33 and total.kept[0] == 31 and total.balance() == (0, 0)
    assert {reason: counts[0] for reason, counts in total.dropped.items()} == {
        "empty text": 1,
        "duplicate": 1,
    }
    record = json.loads((tmp_path / "out" / "kobert_kit.json").read_text(encoding="utf-8"))
    assert record["inputs"][f"data set {SOURCE}"] == commit
    # The first file is large, so it comes from where the hub stores such.
    assert any(each.startswith("GET /storage/") for each in hub.asked)
    assert not any(".en/" in each for each in hub.asked)

    before = contents(tmp_path / "out")
    again = kobert_kit(hub, tmp_path / "home", *command)
    assert not again.returncode and "finished already" in again.stdout

    hub.commit(NAME, wikipedia([*wanted, " "], ["새 글이다."]))
    moved = kobert_kit(hub, tmp_path / "home", *command)
    assert moved.returncode == 2
    assert f"begun with another data set {SOURCE}, which has changed since" in moved.stderr
    assert contents(tmp_path / "out") == before


def test_a_stream_that_broke_off_is_continued(hub: Hub, tmp_path: Path) -> None:
    files = wikipedia(texts(250), texts(150, 250))
    hub.commit(NAME, files)
    whole, out = ("corpus", SOURCE, "--workers", 1, "--output"), tmp_path / "out"
    done = kobert_kit(hub, tmp_path / "home", *whole, tmp_path / "whole")
    assert not done.returncode, done.stderr

    digest = hub.digest(files["20231101.ko/train-00001-of-00002.parquet"])
    hub.trouble = lambda method, path: "cut" if digest in path else None
    broken = kobert_kit(hub, tmp_path / "home", *whole, out)
    assert broken.returncode == 1
    assert f"error: {SOURCE}: broke off after row 250 (" in broken.stderr.lower()
    assert "run the same command again to continue" in broken.stderr
    assert "Traceback" not in broken.stderr
    assert not (out / "kobert_kit.json").exists() and not list((out / "documents").iterdir())
    assert (out / "work" / "cleaned-000000").exists()
    assert "unfinished" in kobert_kit(hub, tmp_path / "home", "corpus", "stats", out).stderr

    # The branch moves on meanwhile; the run ends with the commit that it began with.
    hub.trouble = None
    hub.commit(NAME, wikipedia(["다른 글이다."], ["새 글이다."]))
    again = kobert_kit(hub, tmp_path / "home", *whole, out)
    assert not again.returncode, again.stderr
    assert contents(out) == contents(tmp_path / "whole")


READ = """
import json, sys
from pathlib import Path
from kobert_kit.corpus.stage.hub import hub_revision, read_hub
from kobert_kit.corpus.formats.raw import Raw
from kobert_kit.errors import KobertKitError

for source in map(Path, sys.argv[1:]):
    texts, sizes, said = [], [], ""
    try:
        for found in read_hub(0, source, hub_revision(source), "text", sizes.append):
            if isinstance(found, Raw):
                texts.append(found.content["text"])
            else:
                said = f"end {found.problem}"
    except KobertKitError as error:
        said = f"{type(error).__name__} {error}"
    print(json.dumps([texts, said, sum(sizes)]))
"""


def read(hub: Hub, home: Path, *sources: str) -> list[tuple[list[str], str]]:
    """The texts of each source, and how it ended."""
    done = run_python(hub, home, READ, *sources)
    assert not done.returncode, done.stderr
    found: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(sources)
    for texts, _, told in found:
        assert told == sum(len(text.encode()) for text in texts)
    return [(texts, said) for texts, said, _ in found]


def test_what_is_named_is_read_or_refused_with_what_there_is(hub: Hub, tmp_path: Path) -> None:
    one, other = parquet({"text": ["하나다."]}), parquet({"text": ["둘이다."]})
    hub.commit("a/plain", {"train.parquet": one, "test.parquet": other})
    hub.commit("a/dev", {"README.md": card({"x": {"dev": "*.parquet"}}), "a.parquet": one})
    both = {"README.md": card({"x": {"dev": "a*", "test": "b*"}}), "a.parquet": one}
    hub.commit("a/both", {**both, "b.parquet": other})
    hub.commit(NAME, wikipedia(["하나다."], ["둘이다."]))
    hub.commit("a/script", {"script.py": b"", "README.md": b""})
    hub.commit("a/empty", {"README.md": b"# none\n"})
    hub.commit("a/card", {"README.md": b"---\nconfigs: [\n---\n", "train.parquet": one})
    hub.commit("a/torn", {"train.parquet": one[:-9]})
    hub.moved["wikipedia"] = NAME
    hub.moved["old/plain"] = "a/plain"
    wanted: dict[str, tuple[list[str], str]] = {
        "hf:a/plain": (["하나다."], "end"),
        "hf:a/plain:default:test": (["둘이다."], "end"),
        "hf:old/plain": (["하나다."], "end"),
        "hf:a/dev": (["하나다."], "end"),
        "hf:a/both": ([], "UsageError hf:a/both: several splits and no 'train', only dev, test;"),
        "hf:a/both:x:train": ([], "UsageError hf:a/both:x:train: no split 'train', only dev, test"),
        f"hf:{NAME}": ([], f"UsageError hf:{NAME}: Config name is missing"),
        f"hf:{NAME}:20231101.ja": ([], "BuilderConfig '20231101.ja' not found"),
        "hf:a/none": ([], "UsageError hf:a/none: no such data set on the hub, or none that you"),
        "hf:wikipedia": ([], f"UsageError hf:wikipedia: the hub has it as {NAME}, so name that"),
        "hf:a/script": ([], "UsageError hf:a/script: Dataset scripts are no longer supported"),
        "hf:a/empty": ([], "UsageError hf:a/empty: The directory at"),
        "hf:a/card": ([], "DataError hf:a/card: the hub does not give it (while parsing a flow"),
        "hf:a/torn": ([], "UsageError hf:a/torn: Parquet magic bytes not found"),
    }
    for source, (texts, said) in zip(wanted, read(hub, tmp_path / "home", *wanted), strict=True):
        assert texts == wanted[source][0] and wanted[source][1] in said, (source, said)


def test_a_hub_that_is_out_of_order_is_no_end_of_a_data_set(hub: Hub, tmp_path: Path) -> None:
    forms: dict[str, Files] = {
        "rows": {
            "README.md": card({"x": {"train": "train-*"}}),
            "train-0.parquet": rows(texts(20)),
            "train-1.parquet": rows(texts(20, 20)),
        },
        "lines": {
            "train-0.jsonl.gz": gzip.compress(jsonl(*({"text": text} for text in texts(20)))),
            "train-1.jsonl.gz": gzip.compress(jsonl(*({"text": text} for text in texts(20, 20)))),
        },
    }
    # What is asked for: about the data set, its card, its files by name, then what is in them.
    places = {"about": "/api/datasets/a/", "card": "README.md", "tree": "/tree/", "data": "-1."}
    cases: list[tuple[str, str, int | str]] = [
        *(("rows", at, kind) for at in ("about", "tree") for kind in (500, "close")),
        *(("rows", "card", kind) for kind in (500, "cut")),
        *(("rows", "data", kind) for kind in (500, 504, 404, "close", "cut")),
        *(("lines", "data", kind) for kind in (500, "cut")),
    ]
    for form, at, kind in cases:
        hub.commit(f"a/{form}-{at}-{kind}", forms[form])

    def trouble(method: str, path: str) -> int | str | None:
        for form, at, kind in cases:
            if f"a/{form}-{at}-{kind}" in path and places[at] in path:
                # Files are looked up by HEAD, which answers; what is in them does not come.
                return kind if at != "data" or method == "GET" else None
        return None

    hub.large, hub.trouble = 1 << 30, trouble
    sources = [f"hf:a/{form}-{at}-{kind}" for form, at, kind in cases]
    for (_, at, _), source, (found, said) in zip(
        cases, sources, read(hub, tmp_path / "home", *sources), strict=True
    ):
        if at == "data":
            assert found == texts(20), source
            assert said.startswith(f"DataError {source}: broke off after row 20 ("), said
            assert said.endswith("run the same command again to continue"), said
        else:
            assert not found, source
            what = "cannot be reached" if at == "about" else "does not give it"
            assert said.startswith(f"DataError {source}: the hub {what} ("), said
            assert "check the network" in said


def test_an_older_copy_in_the_cache_does_not_stand_in(hub: Hub, tmp_path: Path) -> None:
    hub.commit("a/news", {"train.parquet": parquet({"text": ["어제 소식이다."]})})
    load = "import datasets; print(datasets.load_dataset('a/news')['train']['text'][0])"
    assert run_python(hub, tmp_path / "home", load).stdout == "어제 소식이다.\n"
    hub.commit("a/news", {"train.parquet": parquet({"text": ["오늘 소식이다."]})})
    hub.trouble = lambda method, path: 500 if path.endswith("README.md") else None
    ((found, said),) = read(hub, tmp_path / "home", "hf:a/news")
    assert not found and said.startswith("DataError hf:a/news: the hub does not give it ("), said
