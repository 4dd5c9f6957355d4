"""One table over runs, from the files that they left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kobert_kit.cli import main
from kobert_kit.errors import DataError
from kobert_kit.records import Record, write_record
from kobert_kit.report.compare import compare_runs
from kobert_kit.report.published import PUBLISHED


def write_run(folder: Path, task: str, headline: str, mean: float, std: float | None, **settings):
    (folder / "seed-0").mkdir(parents=True)
    metrics = {headline: {"mean": mean, "std": std, "best": mean}, "another": {"mean": 1.0}}
    summary = {"task": task, "headline": headline, "metrics": metrics, "seeds": {}}
    (folder / "metrics.json").write_text(json.dumps(summary))
    for place in (folder / "seed-0", folder):
        write_record(place, Record("klue", settings={"task": task, "limit": None} | settings))


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    write_run(tmp_path / "a" / "nli", "nli", "klue_nli_acc", 61.0, 1.4142)
    write_run(tmp_path / "a" / "re-plain", "re-plain", "klue_re_micro_f1", 30.0, None)
    write_run(tmp_path / "a" / "nli-scratch", "nli", "klue_nli_acc", 40.0, 0.5)
    write_run(tmp_path / "b" / "ynat", "ynat", "ynat_macro_f1", 70.0, 1.0, limit=100)
    return tmp_path


def cells(text: str) -> dict[str, list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_tasks_are_columns_and_runs_rows(outputs):
    text = compare_runs([outputs / "a", outputs / "b" / "ynat"])
    rows = cells(text)
    assert rows["run"] == ["nli", "re-plain", "ynat"]
    assert rows[str(outputs / "a")] == ["61.00 ± 1.41", "30.00", ""]
    assert rows[f"{outputs / 'a'} (scratch)"] == ["40.00 ± 0.50", "", ""]
    assert rows[str(outputs / "b" / "ynat")] == ["", "", "70.00 ± 1.00*"]
    # As the README of KLUE-benchmark/KLUE has them.
    assert rows["KLUE-BERT-base"] == ["81.63", "66.44", "85.73"]
    assert rows["KLUE-RoBERTa-small"] == ["79.33", "60.89", "84.98"]
    assert rows["KLUE-RoBERTa-base"] == ["84.83", "67.65", "85.07"]
    assert rows["KLUE-RoBERTa-large"] == ["89.17", "71.13", "85.69"]
    assert "nli: klue_nli_acc, re-plain: klue_re_micro_f1, ynat: ynat_macro_f1." in text
    assert "does not say on which split" in text and "--limit" in text


def test_published_figures_are_of_metrics_that_there_are():
    from kobert_kit.tasks import metrics

    names = {name for figures in PUBLISHED.values() for name in figures}
    assert all(hasattr(metrics, name) for name in names)


def test_a_task_that_nobody_published_has_empty_cells(tmp_path):
    write_run(tmp_path / "own", "own", "accuracy", 50.0, None)
    rows = cells(compare_runs([tmp_path / "own"]))
    assert rows[str(tmp_path / "own")] == ["50.00"] and rows["KLUE-BERT-base"] == [""]


def test_the_command(outputs, tmp_path, capsys):
    main(["klue", "--compare", str(outputs / "a"), str(outputs / "b")])
    assert "KLUE-RoBERTa-large" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    for words, code, message in (
        (["--compare", str(tmp_path / "empty")], 1, "no finished run"),
        (["--compare"], 2, "takes the runs"),
        ([str(outputs / "a")], 2, "takes the runs"),
        (["--compare", str(outputs / "a"), "--seeds", "2"], 2, "no use for --seeds"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["klue", *words])
        assert end.value.code == code and message in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage",
    [
        {"metrics": {}},
        {"metrics": None},
        {"metrics": 3},
        {"headline": "none"},
        {"headline": []},
        {"metrics": {"ynat_macro_f1": 3}},
        {"metrics": {"ynat_macro_f1": {"mean": 3}}},
    ],
    ids=str,
)
def test_a_damaged_summary_is_named(damage, tmp_path):
    run = tmp_path / "run"
    write_run(run, "ynat", "ynat_macro_f1", 80.0, 0.5)
    path = run / "metrics.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(DataError, match=r"run/metrics\.json: damaged"):
        compare_runs([run])


def test_a_folder_without_runs(tmp_path):
    with pytest.raises(DataError, match="no finished run"):
        compare_runs([tmp_path])
