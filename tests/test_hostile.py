"""What a hostile folder or file does to each command: one line, an exit code, nothing left."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from kobert_kit.cli import main
from kobert_kit.corpus.files import find_files
from kobert_kit.errors import DataError, TrainingError, UsageError
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.pretrain.run import pretrain
from kobert_kit.pretrain.settings import Machine, PretrainSettings
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.data import load_data
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
from kobert_kit.tokenizer.loading import file_digests

LINES = [
    f"{who}가 {what}를 {deed}."
    for who in ("친구", "고모", "화가")
    for what in ("노래", "커피", "지도")
    for deed in ("좋아했다", "그렸습니다", "가져왔어요")
]
RUN = PretrainSettings("tiny", steps=3, batch_size=2, length=16, held_out_share=0.0)
ONE = Machine(threads=1, workers=1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "text.txt"
    path.write_text("\n\n".join(LINES))
    return path


@pytest.fixture(scope="module")
def vocab(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile-vocab") / "vocab"
    build_vocab([corpus], folder, BuildSettings(500), workers=1)
    return folder


@pytest.mark.parametrize(
    "name, bad, reason",
    [
        ("a.txt", b"\xff\xfe\xfa", "not UTF-8"),
        ("a.jsonl", b'{"title": "x"}', "no 'text'"),
        ("b.jsonl", b'{"text": 3}', "not a string"),
        ("c.jsonl", b'{"text": "half', "not JSON"),
        ("d.jsonl", b"[1]", "not a JSON object"),
    ],
)
def test_a_bad_line_is_named_counted_and_not_fatal(name, bad, reason, tmp_path, capsys):
    lines = [json.dumps({"text": line}) if name.endswith("l") else line for line in LINES]
    separator = b"\n" if name.endswith("l") else b"\n\n"
    path = tmp_path / name
    path.write_bytes(separator.join([lines[0].encode(), bad, *(x.encode() for x in lines[1:])]))
    arguments = ["build-vocab", str(path), "--vocab-size", "500", "--workers", "1"]
    main([*arguments, "--output", str(tmp_path / "v")])
    place = f"{path}:{3 if name.endswith('t') else 2}"
    assert place in (said := capsys.readouterr().out) and reason in said
    reading = json.loads((tmp_path / "v" / "kobert_kit.json").read_text())["results"]["reading"]
    assert sum(reading["skipped"].values()) == 1 and reading["documents"] == len(LINES)


@pytest.mark.parametrize("rate", [1e30, float("inf"), float("nan")])
def test_a_run_that_diverges_is_never_finished(rate, corpus, vocab, tmp_path):
    settings = PretrainSettings(**(vars(RUN) | {"learning_rate": rate}))
    with pytest.raises((TrainingError, UsageError), match="--learning-rate"):
        pretrain([corpus], vocab, tmp_path / "m", settings, ONE, print)
    assert not (tmp_path / "m" / "kobert_kit.json").exists()


@pytest.mark.parametrize("unit", ["\0", "보", "먹었습니다", "a1", "👍🏽", "ㅋ"])
def test_a_long_run_without_spaces_takes_seconds_and_loses_nothing(unit):
    text = unit * (20_000 // len(unit))
    started = time.process_time()
    pieces = Splitter().split(text)
    assert time.process_time() - started < 60, "quadratic time would be minutes"
    assert "".join(text[p.start : p.end] for p in pieces) == text
    assert pieces[0].starts_eojeol and not any(p.starts_eojeol for p in pieces[1:])


def damage(folder: Path, kind: str) -> None:
    record = folder / "kobert_kit.json"
    values = json.loads(record.read_text())
    if kind == "cut":
        (folder / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes()[:3000])
    elif kind == "edited":
        text = (folder / "tokenizer.json").read_text()
        (folder / "tokenizer.json").write_text(text.replace('"노래"', '"모래"'))
    elif kind == "missing":
        (folder / "tokenizer_config.json").unlink()
    elif kind == "no recipe":
        config = folder / "tokenizer_config.json"
        config.write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
        values["results"]["files"] = file_digests(folder)
        record.write_text(json.dumps(values))
    elif kind == "null versions":
        record.write_text(json.dumps(values | {"versions": None}))


@pytest.mark.parametrize("kind", ["cut", "edited", "missing", "no recipe", "null versions"])
def test_a_damaged_tokenizer_folder_is_refused_before_anything_is_written(
    kind, corpus, vocab, tmp_path
):
    bad = tmp_path / "vocab"
    shutil.copytree(vocab, bad)
    damage(bad, kind)
    with pytest.raises(DataError, match=str(bad)):
        pretrain([corpus], bad, tmp_path / "m", RUN, ONE, print)
    assert not (tmp_path / "m").exists()


def test_what_a_stage_wrote_into_a_corpus_folder_is_not_corpus(corpus, tmp_path):
    shutil.copy(corpus, tmp_path / "text.txt")
    build_vocab([tmp_path], tmp_path / "vocab", BuildSettings(500), workers=1)
    assert find_files([tmp_path]) == [tmp_path / "text.txt"]
    said: list[str] = []
    for _ in range(2):  # the model's own files do not make it another corpus either
        pretrain([tmp_path], tmp_path / "vocab", tmp_path / "model", RUN, ONE, said.append)
    assert "finished already" in said[-1]


def write_nli(folder: Path, content: str | bytes) -> Path:
    for split in ("train", "dev"):
        path = folder / "klue-nli-v1.1" / f"klue-nli-v1.1_{split}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def nli_record(number: int, **changes: object) -> dict[str, object]:
    values = {"guid": f"g{number}", "premise": "비가 온다.", "hypothesis": "날이 맑다."}
    return values | {"gold_label": "contradiction"} | changes


def test_lone_surrogates_and_a_byte_order_mark_in_task_files(tmp_path):
    records = [nli_record(0, premise="\ud83d 비"), nli_record(1, guid="\udc00")]
    folder = write_nli(tmp_path, b"\xef\xbb\xbf" + json.dumps(records).encode())
    data = load_data(TASKS["nli"], folder)
    assert data.dev[0].text_a == "\ufffd 비" and data.dev[1].guid == "\ufffd"
    assert data.fingerprint()


@pytest.mark.parametrize("content", ["[" * 100_000, "[1" + "0" * 6000 + "]", "{}", "[]"])
def test_task_files_that_cannot_be_read(content, tmp_path):
    with pytest.raises(DataError, match=r"klue-nli-v1\.1_train\.json"):
        load_data(TASKS["nli"], write_nli(tmp_path, content))


def test_a_data_dir_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"--data-dir .*no such folder"):
        load_data(TASKS["nli"], tmp_path / "none")


def test_a_model_without_weights_leaves_nothing_and_the_rerun_works(corpus, vocab, tmp_path):
    from kobert_kit.finetune.run import FinetuneSettings, finetune

    model = tmp_path / "model"
    pretrain([corpus], vocab, model, RUN, ONE, print)
    data = write_nli(tmp_path, json.dumps([nli_record(n) for n in range(6)]))
    quick = FinetuneSettings(epochs=1, max_length=16)
    weights = (model / "model.safetensors").rename(tmp_path / "aside")
    with pytest.raises(DataError, match="no weights"):
        finetune(TASKS["nli"], model, data, tmp_path / "out", quick, [0], print, 1)
    assert not (tmp_path / "out").exists()
    weights.rename(model / "model.safetensors")
    summary = finetune(TASKS["nli"], model, data, tmp_path / "out", quick, [0], print, 1)
    assert summary["metrics"]["klue_nli_acc"]["mean"] is not None
