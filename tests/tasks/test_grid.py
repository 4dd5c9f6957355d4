"""The paper's grid: a run a point, encoded once, continued, and told honestly."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kobert_kit.cli import main
from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune import grid
from kobert_kit.finetune.grid import Point, points, search
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.records import read_record
from kobert_kit.report.grid import describe_grid
from kobert_kit.tasks.catalogue import TASKS

QUICK = FinetuneSettings(max_length=32, limit=40)


def test_the_grid_is_the_papers():
    found = list(points())
    assert len(found) == len({point.name for point in found}) == 24
    assert {point.learning_rate for point in found} == {2e-5, 3e-5, 5e-5}
    assert {point.batch_size for point in found} == {16, 32}
    assert {point.epochs for point in found} == {2, 3, 4, 5}
    assert found[0].name == "lr-2e-05_batch-16_epochs-2"


@pytest.fixture
def small(monkeypatch) -> list[Point]:
    """A grid of four points, at rates at which a model of a few weights learns."""
    monkeypatch.setattr(grid, "LEARNING_RATES", (3e-3, 1e-2))
    monkeypatch.setattr(grid, "BATCH_SIZES", (16,))
    monkeypatch.setattr(grid, "EPOCHS", (1, 2))
    return list(points())


def test_every_point_is_a_run_of_its_own(small, model_dir, data_dir, tmp_path):
    out = tmp_path / "grid"
    search(TASKS["ynat"], model_dir, data_dir, out, QUICK, [0, 1], print, threads=1)
    means = {}
    for point in small:
        settings = FinetuneSettings(**vars(point), max_length=32, limit=40)
        alone = tmp_path / point.name
        finetune(TASKS["ynat"], model_dir, data_dir, alone, settings, [0, 1], print, threads=1)
        one, other = (
            json.loads((folder / "metrics.json").read_text())["metrics"]
            for folder in (alone, out / point.name)
        )
        assert one == other
        means[point.name] = one["ynat_macro_f1"]["mean"]
    results = read_record(out, "klue-grid").results["points"]
    assert [result["mean"] for result in results] == list(means.values())
    text = describe_grid(out)
    [line] = [line for line in text.splitlines() if "best |" in line]
    best = small[list(means.values()).index(max(means.values()))]
    cells = [cell.strip() for cell in line.split("|")[1:4]]
    assert cells == [f"{best.learning_rate:.0e}", "16", str(best.epochs)]
    assert "the best of 4 points" in text and "flatters" in text


def test_a_grid_continues_and_takes_more_seeds(small, model_dir, data_dir, tmp_path, monkeypatch):
    out = tmp_path / "grid"
    task = TASKS["ynat"]

    def died(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(grid, "finish_output", died)
        with pytest.raises(KeyboardInterrupt):
            search(task, model_dir, data_dir, out, QUICK, [0], print, threads=1)
    with pytest.raises(DataError, match="run the same klue --grid command again"):
        describe_grid(out)
    said: list[str] = []
    search(task, model_dir, data_dir, out, QUICK, [0], said.append, threads=1)
    assert len(said) == 4 and all("is finished already" in line for line in said)
    monkeypatch.setattr(type(task), "encode", died)  # a later call encodes nothing
    search(task, model_dir, data_dir, out, QUICK, [0, 1], said.append, threads=1)
    assert len(said) == 8
    assert len(list(out.glob("*/seed-1/metrics.json"))) == 4
    assert "±" in describe_grid(out)


def test_a_refused_grid_leaves_the_finished_one_whole(small, model_dir, data_dir, tmp_path):
    out = tmp_path / "grid"
    search(TASKS["ynat"], model_dir, data_dir, out, QUICK, [0], print, threads=1)
    before = describe_grid(out)
    for other in (replace(QUICK, limit=41), replace(QUICK, max_length=31)):
        with pytest.raises(UsageError, match="begun with --"):
            search(TASKS["ynat"], model_dir, data_dir, out, other, [0], print, threads=1)
        assert describe_grid(out) == before


def test_the_command(small, model_dir, data_dir, tmp_path, capsys):
    words = ["klue", "--task", "ynat", "--model", str(model_dir), "--data-dir", str(data_dir)]
    words += ["--max-length", "32", "--limit", "40", "--output", str(tmp_path), "--threads", "1"]
    main([*words, "--grid"])
    assert "the best of 4 points" in capsys.readouterr().out
    main(["klue", "--compare", str(tmp_path / "ynat-grid")])
    table = capsys.readouterr().out
    assert all(f"({point.name})" in table for point in small)
    with pytest.raises(SystemExit) as end:
        main([*words, "--grid", "--epochs", "3"])
    assert end.value.code == 2 and "--grid has no use for --epochs" in capsys.readouterr().err


def test_all_tasks_by_one_word(tmp_path, capsys):
    from tiny_models import write_encoder

    from kobert_kit.corpus.sample import sample_folder
    from kobert_kit.tasks.data import load_data

    sample = sample_folder() / "klue_benchmark"
    texts = [str(vars(each)) for each in load_data(TASKS["mrc"], sample).dev]
    model = write_encoder(tmp_path / "model", texts)
    words = ["klue", "--task", "all", "--model", str(model), "--data-dir", str(sample)]
    main([*words, "--limit", "8", "--epochs", "1", "--threads", "1", "--max-length", "96"])
    eight = ("ynat", "sts", "nli", "ner", "re", "dp", "mrc", "wos")
    for name in eight:
        assert (tmp_path / "model" / "klue" / name / "metrics.json").exists()
    main(["klue", "--compare", str(tmp_path / "model" / "klue")])
    head = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| run"))
    assert sorted(head.replace("|", " ").split()) == sorted(["run", *eight])


def test_a_task_without_data_keeps_no_other_from_its_turn(model_dir, data_dir, tmp_path, capsys):
    words = ["klue", "--task", "mrc", "--task", "nli", "--model", str(model_dir), "--epochs", "1"]
    with pytest.raises(SystemExit) as end:
        main([*words, "--data-dir", str(data_dir), "--max-length", "32", "--limit", "16"])
    assert end.value.code == 1
    error = capsys.readouterr().err
    assert "no klue-mrc-v1.1" in error and "error: not done: mrc, for the reasons" in error
    assert (model_dir / "klue" / "nli" / "metrics.json").exists()
