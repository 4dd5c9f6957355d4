"""The quickstart, whole: what pretraining gives on the sample, by the margins the README states."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Points by which the pretrained model beats (from scratch, majority class) at least.
MARGINS = {"nli": (3, 7), "ynat": (30, 60)}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quickstart") / "quickstart"
    command = [sys.executable, "-m", "kobert_kit", "quickstart", "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| pretrained | from scratch | majority class |" in done.stdout
    return folder


def score(run: Path) -> float:
    summary = json.loads((run / "metrics.json").read_text())
    value: float = summary["metrics"][summary["headline"]]["mean"]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("task", ["nli", "ynat"])
def test_pretraining_beats_from_scratch_and_the_majority_class(task: str, output: Path):
    from kobert_kit.corpus.sample import sample_folder
    from kobert_kit.finetune.baseline import majority
    from kobert_kit.tasks.catalogue import get_task

    over_scratch, over_majority = MARGINS[task]
    pretrained = score(output / "klue" / task)
    assert pretrained >= score(output / "klue" / f"{task}-scratch") + over_scratch
    headline = get_task(task).headline
    constant = majority(get_task(task), sample_folder() / "klue_benchmark")[headline]
    assert pretrained >= constant + over_majority
    assert json.loads((output / "model" / "kobert_kit.json").read_text())["results"]
