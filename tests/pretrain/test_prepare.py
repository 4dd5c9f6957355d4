"""The prepared folder: the same for any workers, parts and kills; what `pretrain` makes of it."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import kobert_kit.pretrain.encode
from kobert_kit.cli import group
from kobert_kit.corpus.sentences import sentence_starts
from kobert_kit.errors import DataError, UsageError
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.pretrain.encode import EncodeSettings
from kobert_kit.pretrain.export import export_arrow
from kobert_kit.pretrain.prepare import open_prepared, prepare
from kobert_kit.pretrain.prepared import EOJEOL, MORPHEME, SENTENCE, open_shards
from kobert_kit.pretrain.run import build_objective, pretrain
from kobert_kit.pretrain.settings import Machine, PretrainSettings
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
from kobert_kit.tokenizer.loading import encode_plain, plain_tokenizer
from kobert_kit.tokenizer.subject import open_subject

TEXT = (
    "달빛마을 도서관은 {n}일에 문을 열었다. 주민 {n}명이 모였습니다! “정말 기뻐요.”\n"
    "내년에는 {n}곳이 더 생긴다고 합니다."
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text("\n\n".join(TEXT.format(n=n) for n in range(400)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tokenizer(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocab") / "vocab"
    build_vocab([corpus], folder, BuildSettings(500), workers=1)
    return folder


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kobert_kit.pretrain.encode, "CHUNK_CHARACTERS", 2_000)
    monkeypatch.setattr(kobert_kit.pretrain.encode, "SHARD_CHUNKS", 3)


def run(corpus: Path, tokenizer: Path, output: Path, **changes: int) -> list[str]:
    said: list[str] = []
    prepare([corpus], output, EncodeSettings(tokenizer, **{"workers": 1, **changes}), said.append)
    return said


def contents(folder: Path) -> dict[str, bytes]:
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted(folder.glob("shard-*/*"))
    }


@pytest.fixture(scope="module")
def prepared(corpus: Path, tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared") / "prepared"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kobert_kit.pretrain.encode, "CHUNK_CHARACTERS", 2_000)
        patch.setattr(kobert_kit.pretrain.encode, "SHARD_CHUNKS", 3)
        run(corpus, tokenizer, folder)
    return folder


def test_ids_and_marks_are_those_of_the_text(corpus: Path, tokenizer: Path, prepared: Path) -> None:
    shards = open_shards(prepared)
    assert len(shards) > 3
    documents = corpus.read_text(encoding="utf-8").split("\n\n")
    ids = np.concatenate([shard.ids for shard in shards])
    marks = np.concatenate([shard.marks for shard in shards])
    encodings = encode_plain(plain_tokenizer(tokenizer), documents)
    assert ids.dtype == np.uint16
    assert ids.tolist() == [number for encoding in encodings for number in encoding.ids]
    assert sum(shard.counts["documents"] for shard in shards) == len(documents) == 400
    splitter, ends = Splitter(), np.cumsum([len(encoding.ids) for encoding in encodings])
    for number in range(0, 400, 20):
        text, starts = documents[number], [start for start, _ in encodings[number].offsets]
        mine = marks[ends[number] - len(starts) : ends[number]]
        begun = {
            bit: {start for start, mark in zip(starts, mine, strict=True) if mark & bit}
            for bit in (EOJEOL, MORPHEME, SENTENCE)
        }
        assert begun[SENTENCE] == set(sentence_starts(text))
        words = list(re.finditer(r"\S+", text))
        analysed = {w.start() + piece.start for w in words for piece in splitter.split(w.group())}
        assert begun[MORPHEME] == analysed & set(starts), "each eojeol analysed alone"
        assert {word.start() for word in words} <= begun[EOJEOL] & begun[MORPHEME]
        for start in begun[EOJEOL] - {word.start() for word in words}:
            assert not (text[start].isalnum() and text[start - 1].isalnum()), "at punctuation only"


def test_workers_and_parts_change_nothing(
    corpus: Path, tokenizer: Path, prepared: Path, tmp_path: Path
) -> None:
    run(corpus, tokenizer, tmp_path / "two", workers=2)
    assert contents(tmp_path / "two") == contents(prepared)
    parts = tmp_path / "parts"
    for part in (1, 0, 2):
        said = run(corpus, tokenizer, parts, part=part, parts=3)
        assert f"part {part + 1} of 3 is done" in said[-1]
        with pytest.raises(DataError, match="unfinished; run the same prepare command"):
            open_prepared(parts, tokenizer)
    assert contents(parts) == contents(prepared)
    before = {path: path.stat().st_mtime_ns for path in parts.glob("shard-*/*")}
    run(corpus, tokenizer, parts)
    assert {path: path.stat().st_mtime_ns for path in parts.glob("shard-*/*")} == before
    assert open_prepared(parts, tokenizer).tokens == open_prepared(prepared, tokenizer).tokens


def killed_at(place: str, program: str, work: Path, *arguments: Path) -> None:
    """Run ``program``, which is killed where it is about to call ``place`` (module:name:times).

    It does that itself, so that how busy the machine is does not decide what has been written.
    """
    (work / "run.py").write_text(KILLED + program)
    command = [sys.executable, str(work / "run.py"), place, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, start_new_session=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


KILLED = """
import importlib, os, signal, sys
from pathlib import Path

def killed_at(module, name, times):
    holder = importlib.import_module(module)
    call, left = getattr(holder, name), int(times)
    def counted(*arguments, **more):
        nonlocal left
        left -= 1
        if not left:
            os.killpg(0, signal.SIGKILL)
        return call(*arguments, **more)
    setattr(holder, name, counted)

if __name__ == "__main__":
    killed_at(*sys.argv[1].split(":"))
"""

PREPARE = """
    import kobert_kit.pretrain.encode as e
    from kobert_kit.pretrain.prepare import prepare
    e.CHUNK_CHARACTERS, e.SHARD_CHUNKS = 2000, 3
    corpus, tokenizer, output = map(Path, sys.argv[2:])
    prepare([corpus], output, e.EncodeSettings(tokenizer, workers=1), print)
"""


@pytest.mark.parametrize(
    "place",
    [
        "kobert_kit.pretrain.encode:write_shard:1",
        "kobert_kit.pretrain.encode:write_shard:3",
        "numpy:save:6",  # in the second shard
        "kobert_kit.pretrain.prepared:write_json:2",
        "os:replace:5",
        "kobert_kit.pretrain.prepare:finish_output:1",
        "kobert_kit.records:write_record:1",
    ],
)
def test_a_killed_run_goes_on_where_it_was(
    place: str, corpus: Path, tokenizer: Path, prepared: Path, tmp_path: Path
) -> None:
    output = tmp_path / "prepared"
    killed_at(place, PREPARE, tmp_path, corpus, tokenizer, output)
    assert not (output / "kobert_kit.json").exists()
    before = {path: path.stat().st_mtime_ns for path in output.glob("shard-*/*")}
    run(corpus, tokenizer, output)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert contents(output) == contents(prepared)
    assert {path.name for path in output.iterdir()} == {path.name for path in prepared.iterdir()}


def test_pretraining_is_the_same_from_the_folder_and_from_the_text(
    corpus: Path, tokenizer: Path, prepared: Path, tmp_path: Path
) -> None:
    settings = PretrainSettings("tiny", steps=4, batch_size=4, length=32, held_out_share=0.1)
    for name, source in (("text", corpus), ("folder", prepared)):
        output = tmp_path / name
        pretrain([source], tokenizer, output, settings, Machine(threads=1, workers=1), print)
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("text", "folder"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    records = [
        json.loads((tmp_path / name / "kobert_kit.json").read_text()) for name in ("text", "folder")
    ]
    assert records[0]["inputs"] == records[1]["inputs"]


def test_shards_of_another_corpus_are_not_taken_for_ours(
    corpus: Path, tokenizer: Path, prepared: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text(corpus.read_text(encoding="utf-8").replace("주민", "시민"), encoding="utf-8")
    run(other, tokenizer, tmp_path / "theirs", part=1, parts=2)
    run(corpus, tokenizer, tmp_path / "ours", part=0, parts=2)
    shutil.copytree(tmp_path / "theirs" / "shard-00001", tmp_path / "ours" / "shard-00001")
    with pytest.raises(DataError, match="shard-00001: made from another corpus"):
        run(corpus, tokenizer, tmp_path / "ours")
    shutil.rmtree(tmp_path / "ours" / "shard-00001")
    last = sorted(prepared.glob("shard-*"))[-1].name
    more = f"shard-{int(last[-5:]) + 1:05d}"
    shutil.copytree(prepared / last, tmp_path / "ours" / more)
    with pytest.raises(DataError, match=f"remove {more} and those after it"):
        run(corpus, tokenizer, tmp_path / "ours")
    shutil.rmtree(tmp_path / "ours" / more)
    run(corpus, tokenizer, tmp_path / "ours")
    assert contents(tmp_path / "ours") == contents(prepared)


def test_finished_shards_outlive_a_damaged_file(
    corpus: Path, tokenizer: Path, tmp_path: Path
) -> None:
    folder, output = tmp_path / "corpus", tmp_path / "prepared"
    folder.mkdir()
    shutil.copy(corpus, folder / "a.txt")
    whole = gzip.compress(corpus.read_bytes())
    (folder / "b.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="truncated"):
        run(folder, tokenizer, output)
    assert len(list(output.glob("shard-*"))) > 2


@pytest.mark.parametrize("pack", [False, True])
def test_a_step_has_the_tokens_of_full_sequences(
    pack: bool, tokenizer: Path, prepared: Path
) -> None:
    settings = PretrainSettings(
        "tiny", steps=1, length=40, batch_size=24, long_length=90, pack_documents=pack
    )
    objective = build_objective(open_shards(prepared), open_subject(str(tokenizer)), settings)
    for spent, tokens in ((0.0, 24 * 40), (0.95, 10 * 90)):
        steps = [objective.batch(step, 0, 1, spent).tokens for step in range(60)]
        assert np.mean(steps) == pytest.approx(tokens, rel=0.04)


def test_what_is_wrong_is_said(
    corpus: Path, tokenizer: Path, prepared: Path, tmp_path: Path
) -> None:
    other = tmp_path / "vocab"
    build_vocab([corpus], other, BuildSettings(400), workers=1)
    with pytest.raises(DataError, match="prepared with another tokenizer than"):
        open_prepared(prepared, other)
    with pytest.raises(UsageError, match="begun with another tokenizer"):
        run(corpus, other, prepared)
    eojeols = tmp_path / "eojeols"
    settings = EncodeSettings(tokenizer, morphemes=False, workers=1)
    prepare([corpus], eojeols, settings, print)
    machine = Machine(threads=1)
    run_settings = PretrainSettings("tiny", steps=2)
    with pytest.raises(DataError, match="without morphemes, which --mask-unit morpheme needs"):
        pretrain([eojeols], tokenizer, tmp_path / "model", run_settings, machine, print)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("damage", ["missing", "shorter", "empty", "changed", "marker", "gone"])
def test_a_damaged_shard_is_named(
    damage: str, corpus: Path, tokenizer: Path, tmp_path: Path
) -> None:
    output = tmp_path / "prepared"
    run(corpus, tokenizer, output)
    shard = output / "shard-00001"
    if damage == "missing":
        (shard / "marks.npy").unlink()
    elif damage == "shorter":
        data = (shard / "ids.npy").read_bytes()
        (shard / "ids.npy").write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        (shard / "ids.npy").write_bytes(b"")
    elif damage == "changed":
        data = bytearray((shard / "ids.npy").read_bytes())
        data[-1] ^= 1
        (shard / "ids.npy").write_bytes(data)
    elif damage == "marker":
        (shard / "shard.json").write_text('{"documents": 3, "tokens": 5}')
    else:
        shard.rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"shard-00001: (damaged|missing)"):
        open_prepared(output, tokenizer)


@pytest.mark.parametrize("wrong", ["another corpus", "one less"])
def test_a_finished_folder_with_other_shards_is_refused(
    wrong: str, corpus: Path, tokenizer: Path, prepared: Path, tmp_path: Path
) -> None:
    output, other, text = tmp_path / "prepared", tmp_path / "other", tmp_path / "other.txt"
    shutil.copytree(prepared, output)
    last = sorted(output.glob("shard-*"))[-1]
    if wrong == "one less":
        shutil.rmtree(last)
    else:
        text.write_text(corpus.read_text(encoding="utf-8").replace("주민", "시민"))
        run(text, tokenizer, other)
        shutil.rmtree(output / "shard-00001")
        shutil.copytree(other / "shard-00001", output / "shard-00001")
    message = (
        "shard-00001: made from another" if wrong == "another corpus" else "prepared: .* where"
    )
    with pytest.raises(DataError, match=message):
        open_prepared(output, tokenizer)
    with pytest.raises(DataError, match=message):
        export_arrow(output, tmp_path / "arrow")
    assert not (tmp_path / "arrow").exists()


def test_the_arrow_data_set_holds_the_same(prepared: Path, tmp_path: Path) -> None:
    from datasets import load_from_disk

    assert export_arrow(prepared, tmp_path / "new" / "arrow")
    data = load_from_disk(str(tmp_path / "new" / "arrow"))
    shards = open_shards(prepared)
    assert len(data) == 400
    assert [n for row in data["input_ids"] for n in row] == np.concatenate(
        [shard.ids for shard in shards]
    ).tolist()
    marks = np.concatenate([shard.marks for shard in shards])
    for name, bit in (("eojeol", EOJEOL), ("morpheme", MORPHEME), ("sentence", SENTENCE)):
        assert [n for row in data[name] for n in row] == ((marks & bit) > 0).tolist()
    record = json.loads((tmp_path / "new" / "arrow" / "kobert_kit.json").read_text())
    inputs = json.loads((prepared / "kobert_kit.json").read_text())["inputs"]
    assert record["stage"] == "export-arrow" and record["inputs"] == inputs


def test_the_same_export_again_does_nothing_and_another_is_refused(
    prepared: Path, tmp_path: Path
) -> None:
    other, target = tmp_path / "other", tmp_path / "arrow"
    shutil.copytree(prepared, other)
    record = json.loads((other / "kobert_kit.json").read_text())
    record["inputs"]["corpus"] = "0" * 32
    (other / "kobert_kit.json").write_text(json.dumps(record))
    assert export_arrow(prepared, target)
    before = {path: path.stat().st_mtime_ns for path in target.iterdir()}
    assert not export_arrow(prepared, target)
    with pytest.raises(UsageError, match="made from another text; name a new folder"):
        export_arrow(other, target)
    assert {path: path.stat().st_mtime_ns for path in target.iterdir()} == before


def test_where_no_export_can_go_is_said_before_the_work(
    corpus: Path, tokenizer: Path, tmp_path: Path
) -> None:
    output, mine = tmp_path / "made" / "prepared", tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("소중한 글")
    (tmp_path / "nowhere").symlink_to(tmp_path / "none")
    targets = {
        output: "lie in one another",
        output / "arrow": "lie in one another",
        output.parent: "lie in one another",
        mine: "exists already",
        tmp_path / "nowhere": "exists already",
        mine / "thesis.txt" / "arrow": "thesis.txt.*cannot be written",
    }
    command = ["prepare", str(corpus), "--tokenizer", str(tokenizer), "--output", str(output)]
    for target, message in targets.items():
        with pytest.raises(UsageError, match=f"--export-arrow .*{message}"):
            group.main([*command, "--export-arrow", str(target)], standalone_mode=False)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "nowhere"}
    assert (mine / "thesis.txt").read_text() == "소중한 글"


EXPORT = """
    from kobert_kit.pretrain.export import export_arrow
    export_arrow(*map(Path, sys.argv[2:]))
"""


@pytest.mark.parametrize(
    "place",
    [
        "kobert_kit.pretrain.export:_write:1",
        "kobert_kit.pretrain.export:sync_path:1",
        "kobert_kit.pretrain.export:write_record:1",
        "kobert_kit.records:sync_path:2",
    ],
)
def test_a_killed_export_leaves_nothing_that_is_read_or_stays(
    place: str, prepared: Path, tmp_path: Path
) -> None:
    from datasets import load_from_disk

    target = tmp_path / "out" / "arrow"
    killed_at(place, EXPORT, tmp_path, prepared, target)
    assert not target.exists()
    assert export_arrow(prepared, target) and len(load_from_disk(str(target))) == 400
    assert [path.name for path in target.parent.iterdir()] == ["arrow"]


LIMITED = """
import resource, signal, sys
from pathlib import Path
from kobert_kit.pretrain.export import export_arrow
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # half a one would be read by all that comes after
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try: export_arrow(Path(sys.argv[1]), Path(sys.argv[2]))
except Exception as error: print(type(error).__name__, error)
"""


@pytest.mark.parametrize("limit", [4_096, 60_000])
def test_a_full_disk_ends_an_export_with_one_line(
    limit: int, prepared: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", LIMITED, str(prepared), str(tmp_path / "arrow"), str(limit)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    assert said.startswith("DataError") and "make room and run the same command" in said
    assert not list(tmp_path.iterdir())


def test_a_damaged_shard_ends_an_export(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "prepared")
    (tmp_path / "prepared" / "shard-00001" / "marks.npy").write_bytes(b"half")
    with pytest.raises(DataError, match="shard-00001: damaged"):
        export_arrow(tmp_path / "prepared", tmp_path / "arrow")
    assert [path.name for path in tmp_path.iterdir()] == ["prepared"]
