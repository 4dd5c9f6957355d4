"""Records and folders: written whole or not at all, and never over something else."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kobert_kit.errors import DataError, UsageError
from kobert_kit.records import (
    Record,
    atomic_file,
    check_finished,
    check_plan,
    claim_output,
    fingerprint_files,
    fingerprint_values,
    finish_output,
    read_record,
    reopen_output,
    versions,
    write_json,
)


def test_a_stage_claims_finishes_and_finds_its_folder(tmp_path: Path):
    folder = tmp_path / "deep" / "out"
    assert claim_output(folder, "pretrain") is False
    with pytest.raises(DataError, match="unfinished; run the same pretrain command again"):
        read_record(folder, "pretrain")
    assert claim_output(folder, "pretrain") is False, "an unfinished folder may be continued"
    record = Record("pretrain", settings={"a": 1}, inputs={"corpus": "ff"}, seed=3, seconds=1.5)
    finish_output(folder, record)
    assert read_record(folder, "pretrain") == record
    check_finished(folder)
    assert claim_output(folder, "pretrain") is True
    reopen_output(folder, "pretrain")
    with pytest.raises(DataError, match="unfinished"):
        check_finished(folder)
    assert claim_output(folder, "pretrain") is False


def test_what_is_somebody_elses_is_kept(tmp_path: Path):
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"holds something else \(photo.jpg"):
        claim_output(tmp_path, "pretrain")
    assert os.listdir(tmp_path) == ["photo.jpg"]
    finish_output(tmp_path, Record("tokenizer"))
    with pytest.raises(UsageError, match="holds something else"):
        claim_output(tmp_path, "pretrain")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        claim_output(tmp_path / "file", "pretrain")


def test_records_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(DataError, match=r"no kobert_kit\.json"):
        read_record(tmp_path, "tokenizer")
    (tmp_path / "kobert_kit.json").write_text('{"stage": "tok')
    with pytest.raises(DataError, match="not a record"):
        read_record(tmp_path, "tokenizer")
    write_json(tmp_path / "kobert_kit.json", {"stage": "klue"})
    with pytest.raises(DataError, match="made by the stage 'klue', expected 'tokenizer'"):
        read_record(tmp_path, "tokenizer")


def test_a_plan_is_kept_and_compared(tmp_path: Path):
    plan = Record("pretrain", settings={"steps": 10, "betas": (0.9, 0.98)}, inputs={"corpus": "a"})
    check_plan(tmp_path, plan)
    check_plan(tmp_path, plan)
    for changes, said in (
        ({"steps": 20}, "begun with --steps 10, now run with --steps 20"),
        ({"held_out_share": 0.1}, "begun without --held-out, now run with --held-out 0.1"),
        ({"pack_documents": True}, "begun without --pack-documents, now run with --pack-docu"),
    ):
        with pytest.raises(UsageError, match=said):
            check_plan(tmp_path, Record("pretrain", {**plan.settings, **changes}, plan.inputs))
    with pytest.raises(UsageError, match="begun with another corpus"):
        check_plan(tmp_path, Record("pretrain", plan.settings, {"corpus": "b"}))
    with pytest.raises(UsageError, match="begun without a model"):
        check_plan(tmp_path, Record("pretrain", plan.settings, {"corpus": "a", "model": "c"}))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"settings": {}}', "\0\0"])
def test_a_damaged_plan_is_named(tmp_path: Path, content: str):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(DataError, match=r"plan\.json: damaged"):
        check_plan(tmp_path, Record("pretrain"))


def test_what_a_plan_says_of_pretraining_and_fine_tuning_are_options():
    from kobert_kit.cli.klue import klue
    from kobert_kit.cli.pretrain import pretrain
    from kobert_kit.finetune.run import FinetuneSettings
    from kobert_kit.pretrain.settings import PretrainSettings
    from kobert_kit.records import _as_option

    for command, settings, constant in (
        (pretrain, PretrainSettings, set()),
        (klue, FinetuneSettings, {"--warmup-share", "--weight-decay"}),
    ):
        options = {name for parameter in command.params for name in parameter.opts}
        named = {_as_option(name, True).removeprefix("with ") for name in vars_of(settings)}
        assert named - constant <= options


def vars_of(settings: type) -> list[str]:
    return [field.name for field in dataclasses.fields(settings)]


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "values.json"
    write_json(path, {"가": 1})
    with pytest.raises(RuntimeError), atomic_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert json.loads(path.read_text()) == {"가": 1}
    assert os.listdir(tmp_path) == ["values.json"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path):
    path = tmp_path / "values.json"
    write_json(path, list(range(2000)))
    writer = multiprocessing.get_context("fork").Process(target=_write_often, args=(path,))
    writer.start()
    while writer.is_alive():
        assert len(json.loads(path.read_text())) in (2000, 3000)
    writer.join()
    assert writer.exitcode == 0


def _write_often(path: Path) -> None:
    for turn in range(60):
        write_json(path, list(range(2000 if turn % 2 else 3000)))


def test_fingerprints_follow_contents_alone(tmp_path: Path):
    for name, content in (("a", b"12"), ("b", b"3"), ("c", b"1"), ("d", b"23"), ("e", b"12")):
        (tmp_path / name).write_bytes(content)
    a, b, c, d, e = (tmp_path / name for name in "abcde")
    assert fingerprint_files([a, b]) == fingerprint_files([e, b])
    assert len({fingerprint_files(x) for x in ([a, b], [c, d], [b, a], [a])}) == 4
    assert fingerprint_values({"x": 1, "y": "나"}) == fingerprint_values({"y": "나", "x": 1})


def test_versions_name_what_is_installed():
    found = versions("click", "no-such-package")
    assert found["click"] and found["kobert-kit"] and "no-such-package" not in found


def test_a_finished_folder_has_nothing_that_a_kill_left(tmp_path: Path):
    claim_output(tmp_path, "pretrain")
    (tmp_path / ".mine").write_text("kept")
    code = (
        "import os, sys; from pathlib import Path; from kobert_kit.records import atomic_file\n"
        "with atomic_file(Path(sys.argv[1])) as path: path.write_text('half'); os._exit(9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "tokenizer.json")])
    assert killed.returncode == 9 and len(list(tmp_path.glob(".tokenizer.json.*"))) == 1
    finish_output(tmp_path, Record("pretrain"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mine", "kobert_kit.json"]
