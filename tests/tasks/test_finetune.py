"""Fine-tuning end to end on a model of a few weights: what it leaves, and that it adds up."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from klue_sample import write_model, write_split, ynat_records
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from kobert_kit.cli import main
from kobert_kit.errors import DataError, Stopped, UsageError
from kobert_kit.finetune.model import build_classifier, open_model_folder
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.finetune.predict import predict
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.records import Record, read_record, write_record
from kobert_kit.report.compare import compare_runs
from kobert_kit.report.klue import describe
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.data import load_data
from kobert_kit.tokenizer.loading import tokenizer_fingerprint

QUICK = FinetuneSettings(epochs=2, batch_size=16, learning_rate=3e-3, max_length=32)


def run(task, model_dir, data_dir, output, settings=QUICK, seeds=(0,), say=print):
    return finetune(TASKS[task], model_dir, data_dir, output, settings, seeds, say, threads=1)


def predictions(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").open(encoding="utf-8")]


@pytest.mark.parametrize("task", ["nli", "sts", "ynat"])
def test_learns_and_its_predictions_give_its_scores(task, model_dir, data_dir, tmp_path):
    settings = replace(QUICK, epochs=15, learning_rate=1e-2)
    summary = run(task, model_dir, data_dir, tmp_path / "out", settings)
    seed = tmp_path / "out" / "seed-0"
    rows = predictions(seed)
    dev = load_data(TASKS[task], data_dir).dev
    assert [(row["guid"], row["gold"]) for row in rows] == [(e.guid, e.label) for e in dev]
    gold, pred = [row["gold"] for row in rows], [row["pred"] for row in rows]
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert TASKS[task].scores(gold, pred) == pytest.approx(last)
    assert last[TASKS[task].headline] > 80
    assert summary["metrics"][TASKS[task].headline]["mean"] == last[TASKS[task].headline]
    assert read_record(tmp_path / "out", "klue").inputs.keys() == {"model", "tokenizer", "data"}
    assert not (seed / "checkpoints").exists()


def test_probabilities_and_confusion_agree_with_the_predictions(model_dir, data_dir, tmp_path):
    run("nli", model_dir, data_dir, tmp_path / "out")
    seed = tmp_path / "out" / "seed-0"
    confusion = json.loads((seed / "confusion.json").read_text())
    rows = predictions(seed)
    for row in rows:
        assert sum(row["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert row["pred"] == max(row["probabilities"], key=row["probabilities"].get)
    counts = np.array(confusion["counts"])
    assert counts.sum() == len(rows)
    for number, label in enumerate(confusion["labels"]):
        assert counts[number].sum() == sum(row["gold"] == label for row in rows)
        assert counts[:, number].sum() == sum(row["pred"] == label for row in rows)
    accuracy = 100 * np.trace(counts) / counts.sum()
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert last["klue_nli_acc"] == pytest.approx(accuracy)


def test_what_is_saved_predicts_the_same_elsewhere(model_dir, data_dir, tmp_path):
    run("nli", model_dir, data_dir, tmp_path / "out")
    seed = tmp_path / "out" / "seed-0"
    model = AutoModelForSequenceClassification.from_pretrained(seed).eval()
    tokenizer = AutoTokenizer.from_pretrained(seed)
    dev = load_data(TASKS["nli"], data_dir).dev
    pairs = [e.text_a for e in dev], [e.text_b for e in dev]
    inputs = tokenizer(*pairs, return_token_type_ids=True, padding=True, return_tensors="pt")
    with torch.inference_mode():
        labels = model(**inputs).logits.argmax(-1).tolist()
    named = [model.config.id2label[label] for label in labels]
    assert named == [row["pred"] for row in predictions(seed)]
    # The truncation of fine-tuning is not saved with the tokenizer.
    assert len(tokenizer("김밥 " * 60)["input_ids"]) == 62


def test_seeds_give_mean_and_deviation_and_are_not_run_twice(model_dir, data_dir, tmp_path):
    first = run("ynat", model_dir, data_dir, tmp_path / "out", seeds=[0])
    said: list[str] = []
    summary = run("ynat", model_dir, data_dir, tmp_path / "out", seeds=[0, 1, 2], say=said.append)
    assert len(said) == 1 and "seed-0 is finished already" in said[0]
    assert list(summary["seeds"]) == ["0", "1", "2"]
    assert summary["seeds"]["0"] == first["seeds"]["0"]
    values = [seed["last"]["ynat_macro_f1"] for seed in summary["seeds"].values()]
    assert len(set(values)) > 1
    metric = summary["metrics"]["ynat_macro_f1"]
    assert metric["mean"] == pytest.approx(statistics.mean(values))
    assert metric["std"] == pytest.approx(statistics.stdev(values))
    assert metric["best"] == max(values)
    best = summary["seeds"][str(values.index(max(values)))]["last"]
    assert {name: each["best"] for name, each in summary["metrics"].items()} == best
    assert first["metrics"]["ynat_macro_f1"]["std"] is None
    assert f"{metric['mean']:.2f} ± {metric['std']:.2f}" in describe(tmp_path / "out")


def test_best_epoch_is_the_best_and_last_is_the_last(model_dir, data_dir, tmp_path):
    settings = replace(QUICK, epochs=5, learning_rate=1e-2)
    summary = run("ynat", model_dir, data_dir, tmp_path / "out", settings)
    scores = summary["seeds"]["0"]
    curve = [epoch["ynat_macro_f1"] for epoch in scores["epochs"]]
    assert [epoch["epoch"] for epoch in scores["epochs"]] == [1, 2, 3, 4, 5]
    assert scores["best"]["ynat_macro_f1"] == max(curve)
    assert scores["last"]["ynat_macro_f1"] == pytest.approx(curve[-1])


def test_same_seed_same_result(model_dir, data_dir, tmp_path):
    for name in ("a", "b"):
        run("nli", model_dir, data_dir, tmp_path / name)
    files = [tmp_path / name / "seed-0" / "model.safetensors" for name in ("a", "b")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_stopped_run_continues_to_the_same_weights(model_dir, data_dir, tmp_path, monkeypatch):
    run("nli", model_dir, data_dir, tmp_path / "whole")
    batch = TaskObjective.batch

    def interrupted(self, step: int, part: int, parts: int, spent: float):
        if step == 8:
            os.kill(os.getpid(), signal.SIGTERM)
        return batch(self, step, part, parts, spent)

    with monkeypatch.context() as patched:
        patched.setattr(TaskObjective, "batch", interrupted)
        with pytest.raises(Stopped):
            run("nli", model_dir, data_dir, tmp_path / "cut")
    run("nli", model_dir, data_dir, tmp_path / "cut")
    whole, cut = (tmp_path / name / "seed-0" for name in ("whole", "cut"))
    assert (whole / "model.safetensors").read_bytes() == (cut / "model.safetensors").read_bytes()
    assert predictions(whole) == predictions(cut)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"headline": "klue_nli_acc", "last": {}}'])
def test_damaged_scores_are_named_with_the_way_out(damage, model_dir, data_dir, tmp_path):
    out = tmp_path / "out"
    whole = run("nli", model_dir, data_dir, out)
    scores = out / "seed-0" / "metrics.json"
    dev = data_dir / "klue-nli-v1.1" / "klue-nli-v1.1_dev.json"
    (out / "metrics.json").write_text(damage)
    for show in (describe, lambda folder: compare_runs([folder])):
        with pytest.raises(DataError, match=r"out/metrics.json"):
            show(out)
    scores.write_text(damage)
    for again in (
        lambda: run("nli", model_dir, data_dir, out),
        lambda: predict(dev, out, tmp_path / "p.jsonl", print, threads=1),
    ):
        with pytest.raises(DataError, match=r"seed-0/metrics.json: .*delete the folder .*seed-0"):
            again()
    shutil.rmtree(scores.parent)
    assert run("nli", model_dir, data_dir, out)["metrics"] == whole["metrics"]
    assert "nli" in describe(out)


def test_from_scratch_uses_none_of_the_weights(model_dir, data_dir):
    folder, task = open_model_folder(model_dir), TASKS["nli"]
    pretrained, scratch, again, other = (
        build_classifier(folder, task, scratch, seed).bert.embeddings.word_embeddings.weight
        for scratch, seed in ((False, 0), (True, 0), (True, 0), (True, 1))
    )
    assert torch.equal(scratch, again)
    assert not torch.equal(scratch, pretrained) and not torch.equal(scratch, other)


@pytest.mark.parametrize("task", ["nli", "ynat"])
def test_padding_and_order_change_no_prediction(task, model_dir, data_dir):
    folder = open_model_folder(model_dir)
    rows = TASKS[task].encode(load_data(TASKS[task], data_dir).dev, folder.tokenizer, 32)
    objective = TaskObjective(TASKS[task], rows, rows, 0, True, 4, 0)
    model = build_classifier(folder, TASKS[task], False, 0).eval()
    with torch.inference_mode():
        together = objective.predict(model)
        for number in range(len(rows)):
            alone = objective.logits(model, objective._make(rows, np.array([number]))).softmax(-1)
            assert np.allclose(alone.numpy()[0], together[number], atol=1e-6)


def test_a_model_with_one_segment_gets_no_token_types(data_dir, tmp_path):
    model = write_model(tmp_path / "roberta-like", type_vocab_size=1)
    summary = run("nli", model, data_dir, tmp_path / "out")
    assert 0 <= summary["metrics"]["klue_nli_acc"]["mean"] <= 100


def test_long_pairs_are_cut_at_the_longer_text(model_dir, data_dir):
    folder = open_model_folder(model_dir)
    example = load_data(TASKS["nli"], data_dir).dev[0]
    long = replace(example, text_a="김밥 " * 50, text_b="먹었다 \ufffd")
    rows = TASKS["nli"].encode([long, example], folder.tokenizer, 16)
    assert rows.lengths[0] == 16
    assert rows.types[:16].sum() == 3  # 먹었다, U+FFFD, [SEP]


def test_other_settings_need_another_folder(model_dir, data_dir, tmp_path):
    run("nli", model_dir, data_dir, tmp_path / "out")
    with pytest.raises(UsageError, match="begun with --epochs 2, now run with --epochs 3"):
        run("nli", model_dir, data_dir, tmp_path / "out", replace(QUICK, epochs=3))
    with pytest.raises(UsageError, match="now run with --from-scratch"):
        run("nli", model_dir, data_dir, tmp_path / "out", replace(QUICK, from_scratch=True))
    write_split(data_dir, "ynat-v1.1", "train", ynat_records(50))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(UsageError, match=r"holds something else \(thesis.txt"):
        run("ynat", model_dir, data_dir, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_bad_data_leaves_no_output(model_dir, data_dir, tmp_path):
    write_split(data_dir, "klue-nli-v1.1", "train", ynat_records(20))
    with pytest.raises(DataError, match="looks like data of the task ynat"):
        run("nli", model_dir, data_dir, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_models_that_do_not_fit(data_dir, tmp_path):
    def message(model: Path) -> str:
        with pytest.raises(DataError) as caught:
            run("nli", model, data_dir, tmp_path / f"out-{model.name}")
        assert str(model) in str(caught.value)
        return str(caught.value)

    assert "no config.json" in message(tmp_path / "nowhere")

    small = write_model(tmp_path / "small", vocab_size=20)
    assert "20 embeddings" in message(small)
    large = write_model(tmp_path / "large", vocab_size=1000)
    assert "1,000 embeddings" in message(large)

    swapped = write_model(tmp_path / "swapped")
    write_record(swapped, Record("pretrain", inputs={"tokenizer": "another"}))
    assert "not the one that the model was pretrained with" in message(swapped)

    vocabulary = write_model(tmp_path / "vocabulary")
    write_record(vocabulary, Record("tokenizer"))
    assert "made by the stage 'tokenizer'" in message(vocabulary)

    torn = write_model(tmp_path / "torn")
    weights = torn / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    assert "no weights to load" in message(torn)

    deeper = write_model(tmp_path / "deeper")
    config = json.loads((deeper / "config.json").read_text())
    (deeper / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    assert "weights of the encoder are not in it" in message(deeper)


def test_a_fine_tuned_model_is_not_fine_tuned_again(model_dir, data_dir, tmp_path):
    run("nli", model_dir, data_dir, tmp_path / "out")
    with pytest.raises(DataError, match="seed-0: fine-tuned already; name the pretrained model"):
        run("sts", tmp_path / "out" / "seed-0", data_dir, tmp_path / "again")


def test_a_model_of_ours_is_accepted_with_its_own_tokenizer(model_dir, data_dir, tmp_path):
    fingerprint = tokenizer_fingerprint(model_dir)
    write_record(model_dir, Record("pretrain", inputs={"tokenizer": fingerprint}))
    summary = run("nli", model_dir, data_dir, tmp_path / "out", replace(QUICK, limit=20))
    assert summary["seeds"]["0"]["examples"] == {"train": 20, "dev": 20}


def test_a_length_that_the_model_has_no_positions_for(model_dir, data_dir, tmp_path):
    with pytest.raises(UsageError, match="--max-length 65: between 8 and 64"):
        run("nli", model_dir, data_dir, tmp_path / "out", replace(QUICK, max_length=65))


def test_the_command_takes_warmup_and_weight_decay(model_dir, data_dir, tmp_path):
    words = ["klue", "--task", "nli", "--model", str(model_dir), "--data-dir", str(data_dir)]
    words += ["--epochs", "1", "--batch-size", "1", "--limit", "60", "--learning-rate", "1e-3"]
    rates, weights = [], []
    for share, decay in ((0, 0), (0.9, 0), (0.9, 0.5)):
        recipe = ["--warmup-share", str(share), "--weight-decay", str(decay)]
        output = tmp_path / f"{share}-{decay}"
        main([*words, *recipe, "--output", str(output), "--threads", "1"])
        seed = output / "nli" / "seed-0"
        log = [json.loads(line) for line in (seed / "metrics.jsonl").open()]
        rates += [row["learning_rate"] for row in log if "learning_rate" in row]
        model = AutoModelForSequenceClassification.from_pretrained(seed)
        weights.append(model.get_input_embeddings().weight.norm().item())
    spent = 49.5 / 60  # in the middle of step 50, which is logged
    assert rates == pytest.approx([1e-3 * (1 - spent), *[1e-3 * spent / 0.9] * 2])
    assert weights[2] < weights[1]


def test_the_command(model_dir, data_dir, tmp_path, capsys):
    def command(*options: str) -> tuple[int, str, str]:
        words = ["klue", "--model", str(model_dir), "--data-dir", str(data_dir), "--threads", "1"]
        words += ["--epochs", "1", "--max-length", "32", "--output", str(tmp_path / "out")]
        try:
            main([*words, *options])
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    code, out, _ = command("--task", "nli", "--task", "ynat")
    assert code == 0 and "klue_nli_acc" in out and "ynat_macro_f1" in out
    table = (tmp_path / "out" / "ynat" / "seed-0" / "confusion.txt").read_text(encoding="utf-8")
    assert "생활문화" in table
    code, out, _ = command("--task", "nli", "--from-scratch", "--seed", "4")
    assert code == 0 and (tmp_path / "out" / "nli-scratch" / "seed-4" / "metrics.json").exists()
    code, _, error = command("--task", "nli", "--learning-rate", "-1")
    assert code == 2 and "--learning-rate" in error
    code, _, error = command("--task", "nli", "--batch-size", "8")
    assert code == 2 and "begun with --batch-size 32" in error
    code, out, error = command("--task", "nli", "--task", "sts", "--class-balanced", "--seed", "9")
    assert code == 2 and "--class-balanced: sts" in error and not out
    code, out, error = command("--task", "all", "--task", "re-plain", "--seed", "9")
    assert "klue-re-v1.1" in error and "not done: ner, re, dp, mrc, wos, re-plain" in error
    (data_dir / "ynat-v1.1" / "ynat-v1.1_dev.json").write_text("[", encoding="utf-8")
    code, _, error = command("--task", "ynat")
    assert code == 1 and "ynat-v1.1_dev.json:1" in error
