"""Predictions for files without labels: those that the run itself wrote for dev."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from klue_sample import write_split, ynat_records
from tiny_models import write_encoder

from kobert_kit.cli import main
from kobert_kit.corpus.sample import sample_folder
from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.predict import predict
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.catalogue import TASKS, get_task
from kobert_kit.tasks.data import load_data
from kobert_kit.tasks.formats.official import official_file

SAMPLE = sample_folder() / "klue_benchmark"
QUICK = FinetuneSettings(epochs=1, batch_size=16, learning_rate=3e-3, max_length=64, limit=40)
LABELS = ("gold_label", "labels", "label", "answers", "is_impossible", "state")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_labels(values: object) -> object:
    """A copy of a release's JSON without its labels."""
    if isinstance(values, list):
        return [without_labels(each) for each in values]
    if isinstance(values, dict):
        return {k: without_labels(v) for k, v in values.items() if k not in LABELS}
    return values


def unlabelled_copy(path: Path, folder: Path) -> Path:
    text = path.read_text(encoding="utf-8")
    copy = folder / path.name
    if (ontology := path.with_name("ontology.json")).exists():
        shutil.copy(ontology, folder)
    if "-dp-" in path.name:
        copy.write_text(re.sub(r"\t[^\t\n]*\t[A-Z_]+$", "", text, flags=re.M), encoding="utf-8")
    elif path.suffix == ".tsv":
        text = re.sub(r"\t([BI]-[A-Z]{2}|O)$", "", text, flags=re.MULTILINE)
        text = re.sub(r"<([^<>]*):(?:PS|LC|OG|DT|TI|QT)>", r"\1", text)
        copy.write_text(text, encoding="utf-8")
    else:
        values = without_labels(json.loads(text))
        copy.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    return copy


def same(one: object, other: object) -> bool:
    """Whether two lines agree, but for the last digits of numbers, which padding moves."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one == pytest.approx(other, abs=1e-4)
    return one == other


def without_gold(line: dict) -> dict:
    return {name: value for name, value in line.items() if name != "gold"}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    texts = [str(vars(each)) for t in TASKS.values() for each in load_data(t, SAMPLE).dev]
    return write_encoder(tmp_path_factory.mktemp("encoder"), texts)


@pytest.mark.parametrize("name", TASKS)
def test_a_file_without_labels_gets_what_the_run_predicted_for_dev(name, encoder, tmp_path):
    task = get_task(name)
    run = tmp_path / "run"
    finetune(task, encoder, SAMPLE, run, QUICK, [0], print, threads=1)
    by_the_run = lines(run / "seed-0" / "predictions.jsonl")
    dev = official_file(task.files, SAMPLE, "dev")
    bare = unlabelled_copy(dev, tmp_path)

    done = predict(bare, run, tmp_path / "bare.jsonl", print, threads=1)
    predicted = lines(tmp_path / "bare.jsonl")
    assert done.lines == len(predicted) > len(by_the_run)
    assert not done.skipped and not done.scores
    assert not any("gold" in line for line in predicted)
    assert all(map(same, predicted, map(without_gold, by_the_run)))

    done = predict(dev, run / "seed-0", tmp_path / "gold.jsonl", print, threads=1)
    assert all(map(same, lines(tmp_path / "gold.jsonl"), by_the_run))
    assert done.scores.keys() == json.loads((run / "metrics.json").read_text())["metrics"].keys()


def test_sentences_of_ner_may_be_given_by_their_line_alone(encoder, tmp_path):
    finetune(get_task("ner"), encoder, SAMPLE, tmp_path / "run", QUICK, [0], print, threads=1)
    file = tmp_path / "new.tsv"
    file.write_text("## a-1\t민수가 #1 곳에 갔다\n\n## a-2\t비가 온다.\n", encoding="utf-8")
    predict(file, tmp_path / "run", tmp_path / "new.jsonl", print, threads=1)
    first, second = lines(tmp_path / "new.jsonl")
    assert (first["guid"], len(first["pred"])) == ("a-1", len("민수가 #1 곳에 갔다"))
    assert (second["guid"], len(second["pred"])) == ("a-2", len("비가 온다."))


def test_sentences_that_no_blank_line_parts_are_named(encoder, tmp_path):
    """A word would be lost without a word: of several lines the last alone would be read."""
    file = tmp_path / "new.tsv"
    for name in ("ner", "dp"):
        task = get_task(name)
        file.write_text(
            "## a\t비가 온다.\n## b\t눈이 온다.\n\n## c\t해가 난다.\n", encoding="utf-8"
        )
        for strict in (True, False):
            run = tmp_path / name
            finetune(task, encoder, SAMPLE, run, QUICK, [0], print, threads=1)
            given = (file, run, tmp_path / "out.jsonl", print, 1, strict)
            if strict:
                with pytest.raises(DataError, match="a, b: sentences without a blank line"):
                    predict(*given)
            else:
                assert predict(*given).lines == 1
                assert len(predict(*given).skipped) == 1


def as_korquad(path: Path) -> dict:
    """The answerable questions of a file of KLUE-MRC, laid out as KorQuAD 1.0's."""
    release = json.loads(path.read_text(encoding="utf-8"))
    for article in release["data"]:
        for paragraph in article["paragraphs"]:
            kept = [qa for qa in paragraph["qas"] if not qa["is_impossible"]]
            paragraph["qas"] = [
                {"id": qa["guid"], "question": qa["question"], "answers": qa["answers"]}
                for qa in kept
            ]
    return release


@pytest.mark.parametrize("name", ["mrc", "korquad"])
def test_where_every_question_has_an_answer_one_is_given(name, encoder, tmp_path):
    """Also where no answer has the highest score, as with a model that has learnt little."""
    for split in ("train", "dev"):
        release = as_korquad(official_file(get_task("mrc").files, SAMPLE, split))
        path = tmp_path / f"KorQuAD_v1.0_{split}.json"
        path.write_text(json.dumps(release, ensure_ascii=False), encoding="utf-8")
    run = tmp_path / "run"
    finetune(get_task(name), encoder, tmp_path, run, QUICK, [0], print, threads=1)
    dev = tmp_path / "KorQuAD_v1.0_dev.json"
    predict(dev, run, tmp_path / "gold.jsonl", print, threads=1)
    bare = unlabelled_copy(dev, tmp_path / "run")
    predict(bare, run, tmp_path / "bare.jsonl", print, threads=1)
    predicted = lines(tmp_path / "bare.jsonl")
    assert all(line["pred"] for line in predicted)
    assert any(line["null_score"] > line["best"][0]["score"] for line in predicted)
    assert all(map(same, predicted, map(without_gold, lines(tmp_path / "gold.jsonl"))))


@pytest.mark.parametrize("tuned", [-1e3, -0.5, 1e3])
def test_the_null_threshold_is_that_of_the_run_and_not_tuned_on_what_is_scored(
    tuned, encoder, tmp_path
):
    run, out = tmp_path / "run", tmp_path / "out.jsonl"
    finetune(get_task("mrc"), encoder, SAMPLE, run, QUICK, [0], print, threads=1)
    path = run / "seed-0" / "kobert_kit.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["results"]["null_threshold"] = tuned
    path.write_text(json.dumps(record), encoding="utf-8")
    file = official_file(get_task("mrc").files, SAMPLE, "train")
    scores = predict(file, run, out, print, threads=1).scores
    assert scores["null_threshold"] == tuned
    best = [(line, line["best"][0]) for line in lines(out)]
    texts = [
        each["text"] if line["null_score"] - each["score"] <= tuned else "" for line, each in best
    ]
    right = [text in (line["gold"] or [""]) for text, (line, _) in zip(texts, best, strict=True)]
    assert scores["klue_mrc_em_tuned"] == pytest.approx(100 * sum(right) / len(right))


def test_what_says_that_a_question_has_no_answer():
    asked = {"guid": "a", "context": "김밥을 먹었다.", "question": "무엇을?"}
    plain = replace(get_task("mrc"), may_lack_answer=True)
    for fields, task, impossible in (
        ({}, get_task("mrc"), None),
        ({}, plain, False),
        ({"answers": []}, get_task("korquad"), None),
        ({"answers": None, "is_impossible": True}, get_task("mrc"), False),
        ({"answers": [], "is_impossible": False}, get_task("korquad"), False),
    ):
        record = task.with_label(asked | fields)
        question = task.parse(record, "here")
        assert question.impossible is impossible and not question.answers
    labelled = asked | {"answers": [], "is_impossible": True}
    assert plain.with_label(labelled) is labelled


OWN = {
    "tsv without the column": (
        'format = "tsv"\n',
        'kind = "classification"\nlabels = ["0", "1"]\n',
        ("t\ty\n김밥이 맛있다\t1\n국수가 짜다\t0\n", "t\n국수가 맛있다\n"),
    ),
    "tsv without a header": (
        'format = "tsv"\nheader = false\n',
        'kind = "classification"\nlabels = ["0", "1"]\n',
        ("김밥이 맛있다\t1\n국수가 짜다\t0\n", "국수가 맛있다\n"),
    ),
    "words without tags": (
        'format = "words"\n',
        'kind = "tagging"\nlabels = ["FD"]\nunit = "word"\n',
        ("김밥을\tB-FD\n먹었다\tO\n\n국수가\tB-FD\n짜다\tO\n", "국수를\n먹었다\n"),
    ),
    "words with empty tags": (
        'format = "words"\n',
        'kind = "tagging"\nlabels = ["FD"]\nunit = "word"\n',
        ("김밥을\tB-FD\n먹었다\tO\n\n국수가\tB-FD\n짜다\tO\n", "국수를\t\n먹었다\t\n"),
    ),
    "paths with dots": (
        'format = "jsonl"\n',
        'kind = "tagging"\nlabels = ["FD"]\nunit = "word"\n',
        (
            '{"d": {"t": ["김밥"], "y": ["B-FD"]}}\n{"d": {"t": ["짜다"], "y": ["O"]}}\n',
            '{"d": {"t": ["국수", "먹었다"]}}\n',
        ),
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_the_label_of_a_task_of_ones_own_may_be_missing(name, model_dir, tmp_path):
    layout, kind, (labelled, bare) = OWN[name]
    text, label = (1, 2) if "header" in name or "words" in name else ('"t"', '"y"')
    if "dots" in name:
        text, label = '"d.t"', '"d.y"'
    described = tmp_path / "own.toml"
    described.write_text(
        f'name = "own"\n{kind}files = {{ train = "a", dev = "a" }}\n{layout}'
        f"columns = {{ text = {text}, label = {label} }}\n",
        encoding="utf-8",
    )
    (tmp_path / "a").write_text(labelled, encoding="utf-8")
    (tmp_path / "new").write_text(bare, encoding="utf-8")
    task, settings = get_task(str(described)), FinetuneSettings(epochs=1, max_length=16)
    finetune(task, model_dir, tmp_path, tmp_path / "run", settings, [0], print, threads=1)
    given = (tmp_path / "run", tmp_path / "out.jsonl", print, 1, True, str(described))
    done = predict(tmp_path / "new", *given)
    [line] = lines(tmp_path / "out.jsonl")
    assert done.lines == 1 and not done.scores and "gold" not in line
    if "tagging" in kind:
        assert len(line["pred"]) == 2
    predict(tmp_path / "a", *given)
    assert [line["gold"] for line in lines(tmp_path / "out.jsonl")]
    with pytest.raises(UsageError, match="a task of your own; name its file"):
        predict(tmp_path / "new", tmp_path / "run", tmp_path / "out.jsonl", print)


@pytest.mark.parametrize("kind", ["regression", "tagging"])
def test_a_task_of_ones_own_is_named_by_its_file(kind, model_dir, tmp_path):
    columns, more = {
        "regression": ('{ text = "t", label = "y" }', "lowest = 1\nhighest = 9\n"),
        "tagging": ('{ text = "t", label = "y" }', 'labels = ["PS"]\nunit = "word"\n'),
    }[kind]
    files = 'files = { train = "a.jsonl", dev = "a.jsonl" }\nformat = "jsonl"\n'
    described = tmp_path / "own.toml"
    described.write_text(
        f'name = "own"\nkind = "{kind}"\n{files}columns = {columns}\n{more}', encoding="utf-8"
    )
    label = {"regression": [1, 8, 4.5], "tagging": ["B-PS O", "O O", "O B-PS"]}[kind]
    rows = [{"t": text, "y": y} for text, y in zip(["김밥 먹었다"] * 3, label, strict=True)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "new.jsonl").write_text('{"t": "국수 먹었다"}\n', encoding="utf-8")
    settings = FinetuneSettings(epochs=1, max_length=16)
    task = get_task(str(described))
    finetune(task, model_dir, tmp_path, tmp_path / "run", settings, [0], print, threads=1)
    out = tmp_path / "out.jsonl"
    given = (tmp_path / "new.jsonl", tmp_path / "run", out, print, 1, True)
    predict(*given, str(described))
    [line] = lines(out)
    assert "gold" not in line and "pred" in line
    with pytest.raises(UsageError, match="the model was fine-tuned on own"):
        predict(*given, "nli")


def test_labels_in_another_order_are_not_taken_for_those_learnt(model_dir, tmp_path):
    described = tmp_path / "moods.toml"
    (tmp_path / "a.tsv").write_text("t\ty\n" + "밥이 맛있다\tp\n국이 짜다\tn\n" * 4)

    def task(labels: str):
        described.write_text(
            'name = "moods"\nkind = "classification"\n'
            'files = { train = "a.tsv", dev = "a.tsv" }\n'
            f'labels = {labels}\ncolumns = {{ text = "t", label = "y" }}\n'
        )
        return get_task(str(described))

    settings = FinetuneSettings(epochs=1, max_length=16)
    where = (model_dir, tmp_path, tmp_path / "run", settings)
    finetune(task('["p", "n"]'), *where, [0], print, threads=1)
    out = tmp_path / "out.jsonl"
    given = (tmp_path / "a.tsv", tmp_path / "run", out, print, 1, False, str(described))
    for other in ('["n", "p"]', '["p", "n", "x"]', '["p", "m"]'):
        changed = task(other)
        with pytest.raises(UsageError, match="other labels, or with these in another order"):
            predict(*given)
        with pytest.raises(UsageError, match=r"begun with another (data|label_list)"):
            finetune(changed, *where, [0, 1], print, threads=1, strict=False)
    assert not out.exists()
    task('["p", "n"]')
    assert predict(*given).lines == 8


@pytest.fixture
def ynat_run(model_dir, data_dir, tmp_path) -> Path:
    settings = FinetuneSettings(epochs=3, batch_size=16, learning_rate=1e-2, max_length=32)
    run = tmp_path / "ynat"
    finetune(get_task("ynat"), model_dir, data_dir, run, settings, [0, 1], print, threads=1)
    return run


def test_a_run_stands_for_its_best_seed(ynat_run, data_dir, tmp_path):
    said: list[str] = []
    dev = data_dir / "ynat-v1.1" / "ynat-v1.1_dev.json"
    done = predict(dev, ynat_run, tmp_path / "out.jsonl", said.append, threads=1)
    summary = json.loads((ynat_run / "metrics.json").read_text())
    seeds = {n: values["last"]["ynat_macro_f1"] for n, values in summary["seeds"].items()}
    assert done.scores["ynat_macro_f1"] == pytest.approx(max(seeds.values()))
    assert f"seed-{max(seeds, key=lambda n: (seeds[n], -int(n)))}" in said[0]


def test_bad_records_are_named_and_the_others_predicted(ynat_run, data_dir, tmp_path):
    records = [{"guid": "a", "title": "축구 결승"}, {"guid": "b"}, *ynat_records(1)]
    file = write_split(tmp_path, "ynat-v1.1", "test", records)
    done = predict(file, ynat_run, tmp_path / "out.jsonl", print, threads=1)
    assert [("gold" in line, line["guid"]) for line in lines(tmp_path / "out.jsonl")] == [
        (False, "a"),
        (True, "ynat-0"),
    ]
    assert len(done.skipped) == 1 and "(b): no text in 'title'" in done.skipped[0]
    with pytest.raises(DataError, match=r"\(b\): no text"):
        predict(file, ynat_run, tmp_path / "out.jsonl", print, threads=1, strict=True)


def test_what_is_no_fine_tuned_model_is_said(ynat_run, model_dir, data_dir, tmp_path):
    dev = data_dir / "ynat-v1.1" / "ynat-v1.1_dev.json"
    out = tmp_path / "out.jsonl"
    with pytest.raises(DataError, match="no fine-tuned model; name a folder seed-N"):
        predict(dev, model_dir, out, print)
    with pytest.raises(UsageError, match="a folder; name a file"):
        predict(dev, ynat_run, tmp_path, print)
    copy = shutil.copy(dev, tmp_path / "copy.json")
    with pytest.raises(UsageError, match="the file to predict; name another"):
        predict(Path(copy), ynat_run, ynat_run / ".." / "copy.json", print)
    assert Path(copy).read_bytes() == dev.read_bytes()
    with pytest.raises(UsageError, match="cannot be written"):
        predict(dev, ynat_run, Path(copy) / "out.jsonl", print)
    nli = data_dir / "klue-nli-v1.1" / "klue-nli-v1.1_dev.json"
    with pytest.raises(DataError, match="looks like data of the task nli"):
        predict(nli, ynat_run, out, print)
    (ynat_run / "seed-0" / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match="its tokenizer is not the one"):
        predict(dev, ynat_run / "seed-0", out, print)
    assert not out.exists()


def test_the_command(ynat_run, data_dir, tmp_path, capsys):
    dev = str(data_dir / "ynat-v1.1" / "ynat-v1.1_dev.json")
    words = ["klue", "--predict", dev, "--model", str(ynat_run), "--threads", "1"]
    main([*words, "--output", str(tmp_path / "p.jsonl")])
    assert "30 predictions\nynat_macro_f1: " in capsys.readouterr().out
    for more, message in (
        ([], "name --output"),
        (["--output", "x", "--epochs", "2"], "--predict has no use for --epochs"),
    ):
        with pytest.raises(SystemExit) as end:
            main([*words, *more])
        assert end.value.code == 2 and message in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["klue", "--model", str(ynat_run)])
    assert "name --task" in capsys.readouterr().err
