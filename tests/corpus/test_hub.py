"""Data sets of the hub are streamed through `datasets`; a folder in their layout stands in."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_files import parquet, write_bytes
from test_curate import lines, run

from kobert_kit.corpus.stage.context import name_sources
from kobert_kit.corpus.stage.hub import HubSource, parse_hub
from kobert_kit.errors import DataError, UsageError

TEXTS = [f"{n}번째 글이다. 바다에는 {n * 7919}번 배가 다닌다." for n in range(40)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    folder = tmp_path / "set"
    (folder / "ko").mkdir(parents=True)
    (folder / "etc").mkdir()
    half = {"text": TEXTS[:20], "id": list(range(20)), "title": ["배"] * 20}
    write_bytes(folder / "ko" / "train-0.parquet", parquet(half))
    rest = {"text": TEXTS[20:], "id": list(range(20, 40)), "title": ["배"] * 20}
    write_bytes(folder / "ko" / "train-1.parquet", parquet(rest))
    write_bytes(folder / "ko" / "test-0.parquet", parquet({"text": ["시험이다."]}))
    write_bytes(folder / "etc" / "dev.parquet", parquet({"body": ["다른 글이다."]}))
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: ko\n  data_files:\n  - split: train\n    path: ko/train*\n"
        "  - split: test\n    path: ko/test*\n- config_name: etc\n  data_files:\n  - split: dev\n"
        "    path: etc/*\n---\n"
    )
    return folder


def test_rows_are_documents_and_any_number_of_workers_gives_the_same(
    folder: Path, tmp_path: Path
) -> None:
    source = Path(f"hf:{folder}:ko")
    ledger = run([source], tmp_path / "out", presets={}, workers=2)
    found = lines(tmp_path / "out", "documents")
    assert [line["text"] for line in found] == TEXTS
    assert (found[3]["id"], found[3]["title"], found[3]["source"]) == ("3", "배", "set")
    assert [file["file"] for file in ledger.files] == [str(source)] and not ledger.problems()
    run([source], tmp_path / "one", presets={})
    assert lines(tmp_path / "one", "documents") == found
    plan = (tmp_path / "out" / "plan.json").read_text(encoding="utf-8")
    assert f'"data set {source}": "' in plan


def test_splits_configurations_and_columns(folder: Path, tmp_path: Path) -> None:
    both = [Path(f"hf:{folder}:ko:test"), Path(f"hf:{folder}:etc")]
    ledger = run(both, tmp_path / "out", presets={})
    assert [line["text"] for line in lines(tmp_path / "out", "documents")] == ["시험이다."]
    (problem,) = ledger.problems()
    assert problem["problem"] == "no column 'text', only body; name it with --text-field"
    run(both[1:], tmp_path / "body", presets={}, text_field="body")
    assert [line["text"] for line in lines(tmp_path / "body", "documents")] == ["다른 글이다."]
    for source, message in (
        (f"hf:{folder}:ko:dev", "no split 'dev', only train, test"),
        (f"hf:{folder}:en", "BuilderConfig 'en' not found"),
        (f"hf:{folder}", "Config name is missing"),
        (f"hf:{folder}:ko:train:x", "no name of a data set; write hf:OWNER/NAME"),
        ("hf:", "no name of a data set"),
        ("hf:a/b/c/d", "neither a folder nor a name of a data set"),
    ):
        with pytest.raises(UsageError, match=message):
            run([Path(source)], tmp_path / "bad", presets={})
    assert not (tmp_path / "bad").exists()


BROKEN = {
    "train.jsonl": [
        *(f'{{"text": "{text}", "title": null, "note": "NOTE"}}' for text in TEXTS),
        *(f'{{"text": "{text}", "title": "배", "note": ""}}' for text in TEXTS),
        '{"text": 배가 없다',
        '{"text": "뒤의 글이다.", "title": null}',
    ],
    "train.csv": [
        "text,note",
        *(f"{text},NOTE" for text in TEXTS * 2),
        "둘,셋,넷,다섯",
        "뒤의 글,배",
    ],
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("note", [0, 300_000])  # the library reads 10 MB at a time
def test_rows_before_damage_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, note: int
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    (tmp_path / "set").mkdir()
    content = "\n".join(BROKEN[name]).replace("NOTE", "x" * note)
    (tmp_path / "set" / name).write_text(f"{content}\n", encoding="utf-8")
    source = Path(f"hf:{tmp_path / 'set'}")
    ledger = run([source], tmp_path / "out", presets={}, near_duplicates=False)
    before = 2 * len(TEXTS)
    assert ledger.total.read[0] == before and ledger.total.balance() == (0, 0)
    assert [line["text"] for line in lines(tmp_path / "out", "documents")] == TEXTS
    (problem,) = ledger.problems()
    assert problem["problem"].startswith(f"damaged after row {before} (")


def test_a_row_that_is_too_long_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kobert_kit.corpus.stage.hub.LONGEST_RECORD", 1_000)
    made = {"text": [TEXTS[0], "긴 글이다. " * 100, TEXTS[1]]}
    write_bytes(folder / "ko" / "test-0.parquet", parquet(made))
    run([Path(f"hf:{folder}:ko:test")], tmp_path / "out", presets={})
    assert [line["text"] for line in lines(tmp_path / "out", "documents")] == TEXTS[:2]
    (dropped,) = lines(tmp_path / "out", "dropped")
    assert (dropped["line"], dropped["reason"]) == (2, "longer than 32 MiB")
    assert dropped["bytes"] == 100 * len("긴 글이다. ".encode())


def test_without_the_hub_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"hf:a/b: the hub cannot be reached .*HF_HUB_OFFLINE"):
        run([Path("hf:a/b")], tmp_path / "out", presets={})
    assert not (tmp_path / "out").exists()


def test_names() -> None:
    wiki = Path("hf:wikimedia/wikipedia:20231101.ko")
    assert parse_hub(wiki) == HubSource("wikimedia/wikipedia", "20231101.ko")
    assert parse_hub(Path("hf:a/b:c:d")) == HubSource("a/b", "c", "d")
    assert name_sources([wiki, wiki]) == ["wikipedia", "wikipedia-2"]
