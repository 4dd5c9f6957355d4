"""The best epoch's model beside the last one's, early stopping, and balanced classes."""

from __future__ import annotations

import json
import math
import os
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from klue_sample import TOPICS
from sklearn.utils.class_weight import compute_class_weight

from kobert_kit.errors import Stopped, UsageError
from kobert_kit.finetune.balance import balanced
from kobert_kit.finetune.best import best_place
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.finetune.predict import predict
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.data import load_data
from kobert_kit.tasks.heads.kinds import Classification
from kobert_kit.tasks.metrics import ynat_macro_f1

LABELS = tuple(TOPICS)
LEARNS = FinetuneSettings(epochs=5, batch_size=16, learning_rate=1e-2, max_length=32)


def errors(gold, pred) -> dict[str, float]:
    return {"ynat_macro_f1": 100 - ynat_macro_f1(gold, pred, LABELS)}


# Ranked by what learning makes less of, so that an early epoch is the best.
UNLEARNT = replace(TASKS["ynat"], scores=errors)


def run(task, model: Path, data: Path, output: Path, settings=LEARNS) -> dict:
    summary = finetune(task, model, data, output, settings, [0], print, threads=1)
    return summary["seeds"]["0"]


def test_the_best_epochs_model_is_kept_beside_the_last_ones(model_dir, data_dir, tmp_path):
    scores = run(UNLEARNT, model_dir, data_dir, tmp_path / "run")
    seed, best = tmp_path / "run" / "seed-0", tmp_path / "run" / "seed-0" / "best"
    assert scores["best"]["epoch"] < 5
    assert scores["best"]["ynat_macro_f1"] > scores["last"]["ynat_macro_f1"]
    dev = data_dir / "ynat-v1.1" / "ynat-v1.1_dev.json"
    for folder, expected in ((seed, scores["last"]), (best, scores["best"])):
        done = predict(dev, folder, tmp_path / "out.jsonl", print, threads=1)
        assert 100 - done.scores["ynat_macro_f1"] == pytest.approx(expected["ynat_macro_f1"])
    assert not (seed / "checkpoints").exists()


def test_no_second_model_where_the_last_epoch_is_the_best(model_dir, data_dir, tmp_path):
    scores = run(TASKS["ynat"], model_dir, data_dir, tmp_path / "run", replace(LEARNS, epochs=1))
    assert scores["best"]["epoch"] == 1
    assert not (tmp_path / "run" / "seed-0" / "best").exists()


def test_early_stop_ends_a_run_that_does_no_better(model_dir, data_dir, tmp_path):
    whole = run(UNLEARNT, model_dir, data_dir, tmp_path / "whole")
    best = whole["best"]["epoch"]
    assert best + 2 < 5
    settings = replace(LEARNS, early_stop=2)
    stopped = run(UNLEARNT, model_dir, data_dir, tmp_path / "stopped", settings)
    assert stopped["epochs"] == whole["epochs"][: int(best) + 2]
    assert stopped["best"] == whole["best"]
    assert stopped["last"]["ynat_macro_f1"] == stopped["epochs"][-1]["ynat_macro_f1"]
    weights = [tmp_path / name / "seed-0/best/model.safetensors" for name in ("whole", "stopped")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_a_stopped_run_keeps_the_best_epoch_of_before(model_dir, data_dir, tmp_path, monkeypatch):
    run(UNLEARNT, model_dir, data_dir, tmp_path / "whole")
    batch = TaskObjective.batch

    def interrupted(self, step: int, part: int, parts: int, spent: float):
        if step == 22:  # of 30
            os.kill(os.getpid(), signal.SIGTERM)
        return batch(self, step, part, parts, spent)

    with monkeypatch.context() as patched:
        patched.setattr(TaskObjective, "batch", interrupted)
        with pytest.raises(Stopped):
            run(UNLEARNT, model_dir, data_dir, tmp_path / "cut")
    assert not (tmp_path / "cut/seed-0/best").exists()
    run(UNLEARNT, model_dir, data_dir, tmp_path / "cut")
    for name in ("model.safetensors", "best/model.safetensors"):
        whole, cut = (tmp_path / run_name / "seed-0" / name for run_name in ("whole", "cut"))
        assert whole.read_bytes() == cut.read_bytes()


def test_which_epoch_is_best():
    values = [math.nan, 2.0, 5.0, 5.0, None]
    assert best_place([{"x": value} for value in values], "x") == 2
    assert best_place([{"x": math.nan}, {"x": None}], "x") == 0


def test_weights_are_those_of_scikit_learn():
    labels = np.random.default_rng(0).choice(4, size=200, p=[0.7, 0.2, 0.1, 0.0])
    head = balanced(Classification(("a", "b", "c", "d")), labels)
    expected = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    assert head.weights == pytest.approx([*expected, 0.0])
    assert np.mean(np.array(head.weights)[labels]) == pytest.approx(1.0)
    logits = torch.randn(200, 4)
    each = -logits.log_softmax(-1)[torch.arange(200), torch.from_numpy(labels)]
    weighted = each * torch.tensor(head.weights)[torch.from_numpy(labels)]
    assert head.loss(logits, torch.from_numpy(labels)).item() == pytest.approx(
        weighted.sum().item(), rel=1e-5
    )


def test_balanced_classes_help_a_rare_label(model_dir, data_dir, tmp_path):
    """One topic for nine in ten titles: unbalanced, a short run predicts little else."""
    records = json.loads((data_dir / "ynat-v1.1" / "ynat-v1.1_train.json").read_text())
    common = [each for each in records if each["label"] == "정치"]
    copies = [each | {"guid": f"{each['guid']}-{n}"} for each in common for n in range(40)]
    path = data_dir / "ynat-v1.1" / "ynat-v1.1_train.json"
    path.write_text(json.dumps(records + copies), encoding="utf-8")
    shares = {}
    for is_balanced in (False, True):
        settings = replace(LEARNS, epochs=1, learning_rate=1e-3, class_balanced=is_balanced)
        output = tmp_path / f"run-{is_balanced}"
        run(TASKS["ynat"], model_dir, data_dir, output, settings)
        lines = (output / "seed-0" / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        counts = Counter(json.loads(line)["pred"] for line in lines)
        shares[is_balanced] = counts["정치"] / len(load_data(TASKS["ynat"], data_dir).dev)
    assert shares[True] < 0.5 < shares[False]


def test_only_classification_is_balanced(model_dir, data_dir, tmp_path):
    with pytest.raises(UsageError, match="--class-balanced: sts does not give"):
        settings = replace(LEARNS, class_balanced=True)
        run(TASKS["sts"], model_dir, data_dir, tmp_path / "run", settings)
    assert not (tmp_path / "run").exists()
