"""Tasks of one's own: what is read from their files, how it is scored, and that they learn."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest
import torch
from own_sample import READY, tagged, texts_of, write_ready
from real_text import task_file
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score
from tiny_models import write_encoder
from transformers import AutoModelForMultipleChoice, AutoTokenizer

from kobert_kit.cli import main
from kobert_kit.cli.klue import klue
from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.baseline import majority
from kobert_kit.finetune.model import build_classifier, open_model_folder
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.catalogue import get_task
from kobert_kit.tasks.choice import ChoiceQuestion
from kobert_kit.tasks.data import load_data
from kobert_kit.tasks.formats.squad import Question
from kobert_kit.tasks.hub import read_hub
from kobert_kit.tasks.own.description import KINDS, read_description
from kobert_kit.tasks.own.ready import ready_tasks
from kobert_kit.tasks.own.tasks import answer_scores
from kobert_kit.tasks.sentence import Example
from kobert_kit.tasks.tagging import begun, joined, scores

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
TASK = """
name = "moods"
kind = "{kind}"
format = "{format}"
{keys}
files = "moods_{{split}}.{format}"
[columns]
{columns}
"""
MOODS = [
    ("r1", "밥이 맛있다", 2, "좋음"),
    ("r2", '그는 "별로"라며 웃었다', 1, "나쁨"),
    ("r3", "맵고,\n짜다", 0, "나쁨"),
]
COLUMNS = 'guid = "id"\ntext = "review"\nlabel = "mood"'


def own(folder: Path, **changes: str):
    given = {"kind": "classification", "format": "tsv", "columns": COLUMNS}
    given |= {"keys": 'labels = ["좋음", "나쁨"]'} | changes
    path = folder / "moods.toml"
    path.write_text(TASK.format(**given), encoding="utf-8")
    return get_task(str(path))


def write_moods(folder: Path, format: str, moods=MOODS) -> None:
    names = ["id", "review", "score", "mood"]
    for split in ("train", "dev"):
        with (folder / f"moods_{split}.{format}").open("w", encoding="utf-8", newline="") as file:
            if format == "csv":
                csv.writer(file).writerows([names, *moods])
            elif format == "json":
                json.dump([dict(zip(names, mood, strict=True)) for mood in moods], file)
            elif format == "jsonl":
                lines = [json.dumps(dict(zip(names, m, strict=True))) for m in moods]
                file.write("\n".join([*lines, ""]))
            else:
                file.write("\r\n".join("\t".join(map(str, row)) for row in [names, *moods]))


@pytest.mark.parametrize("format", ["csv", "json", "jsonl"])
def test_every_format_gives_the_same_examples(format, tmp_path):
    write_moods(tmp_path, format)
    data = load_data(own(tmp_path, format=format), tmp_path)
    assert data.dev == data.train == [Example(id, text, None, mood) for id, text, _, mood in MOODS]


def test_quotes_are_quotes_between_tabs(tmp_path):
    write_moods(tmp_path, "tsv", MOODS[:2])
    data = load_data(own(tmp_path), tmp_path)
    assert [each.text_a for each in data.train] == ["밥이 맛있다", '그는 "별로"라며 웃었다']
    path = tmp_path / "moods_train.tsv"
    path.write_text(path.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")
    columns = "text = 2\nlabel = 4"
    task = own(tmp_path, columns=columns, keys='header = false\nlabels = ["좋음", "나쁨"]')
    assert [e.guid for e in load_data_of(task, path)] == ["moods_train-1", "moods_train-2"]


def load_data_of(task, path: Path) -> list:
    return [task.parse(record, where) for where, record in task.records(path)]


def test_labels_by_other_names_and_numbers(tmp_path):
    write_moods(tmp_path, "json")
    columns = 'text = "review"\ntext_b = "mood"\nlabel = "score"'
    keys = 'labels = { 2 = "높음", 1 = "낮음", 0 = "낮음" }'
    task = own(tmp_path, kind="pair", format="json", columns=columns, keys=keys)
    train = load_data(task, tmp_path).train
    assert [(e.guid, e.text_b, e.label) for e in train] == [
        ("moods_train-1", "좋음", "높음"),
        ("moods_train-2", "나쁨", "낮음"),
        ("moods_train-3", "나쁨", "낮음"),
    ]
    task = own(tmp_path, kind="regression", format="json", columns=columns, keys="lowest = 0")
    assert [each.label for each in load_data(task, tmp_path).train] == [2.0, 1.0, 0.0]


def test_a_path_into_a_record(tmp_path):
    records = [{"text": "밥", "labels": {"real": 1.5}}, {"text": "죽", "labels": {"real": 2}}]
    for split in ("train", "dev"):
        (tmp_path / f"moods_{split}.json").write_text(json.dumps(records))
    columns = 'text = "text"\nlabel = "labels.real"'
    task = own(tmp_path, kind="regression", format="json", columns=columns, keys="")
    assert [each.label for each in load_data(task, tmp_path).train] == [1.5, 2.0]


BAD = {
    "no text": (["x", "", 0, "좋음"], r"moods_train.tsv:4 \(x\): 'review' is empty"),
    "label": (["x", "밥", 0, "그냥"], r"\(x\): 'mood' is '그냥'; expected one of 좋음, 나쁨"),
    "too few": (["x", "밥"], r":4: 2 fields, where the first line has 4"),
    "too many": (["x", "밥", 0, "좋음", ""], r":4: 5 fields"),
    "no guid": (["", "밥", 0, "좋음"], "'id' is ''; expected a guid"),
    "guid twice": (["r1", "밥", 0, "좋음"], "the guid r1 stands at record 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_is_named_skipped_and_counted_or_stops(name, tmp_path):
    row, message = BAD[name]
    task = own(tmp_path)
    write_moods(tmp_path, "tsv", MOODS[:2])
    path = tmp_path / "moods_train.tsv"
    line = "\t".join(map(str, row))
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_data(task, tmp_path)
    data = load_data(task, tmp_path, strict=False)
    assert len(data.train) == 2 and len(data.skipped["train"]) == 1


@pytest.mark.parametrize("score", ["", "5.1", "nan", "inf", "셋", "-1"])
def test_a_score_that_is_none(score, tmp_path):
    write_moods(tmp_path, "tsv", [*MOODS[:2], ("r3", "밥", score, "좋음")])
    columns = 'text = "review"\nlabel = "score"'
    task = own(tmp_path, kind="regression", columns=columns, keys="lowest = 0\nhighest = 5")
    with pytest.raises(DataError, match=r"tsv:4: 'score' is .*; expected a number from 0 to 5"):
        load_data(task, tmp_path)


@pytest.mark.parametrize(
    "keys, wanted",
    [
        ("lowest = 0", "a number from 0"),
        ("highest = 5", "a number to 5"),
        ("lowest = 0\nhighest = 5", "a number from 0 to 5"),
        ("", "a number"),
    ],
)
def test_the_limits_of_a_score_are_said(keys, wanted, tmp_path):
    write_moods(tmp_path, "tsv", [*MOODS[:2], ("r3", "밥", "셋", "좋음")])
    task = own(tmp_path, kind="regression", columns='text = "review"\nlabel = "score"', keys=keys)
    with pytest.raises(DataError, match=f"'score' is '셋'; expected {wanted}$"):
        load_data(task, tmp_path)


@pytest.mark.parametrize("column", ["id", "review", "mood"])
def test_a_field_that_is_null(column, tmp_path):
    record = {"id": "r1", "review": "밥", "mood": "좋음"} | {column: None}
    (tmp_path / "moods_train.json").write_text(json.dumps([record]), encoding="utf-8")
    (tmp_path / "moods_dev.json").touch()
    with pytest.raises(DataError, match=f"'{column}' is null$"):
        load_data(own(tmp_path, format="json"), tmp_path)


def test_a_file_without_the_column(tmp_path):
    write_moods(tmp_path, "tsv", MOODS[:2])
    task = own(tmp_path, columns='text = "reviw"\nlabel = "mood"')
    message = "no column reviw for 'columns.text' .did you mean 'review'.*id, review, score, mood"
    with pytest.raises(DataError, match=message):
        load_data(task, tmp_path, strict=False)
    (tmp_path / "moods_train.csv").write_text('id,review,score,mood\nx,"밥', encoding="utf-8")
    with pytest.raises(DataError, match=r"moods_train.csv:2: not CSV"):
        load_data_of(own(tmp_path, format="csv"), tmp_path / "moods_train.csv")
    (tmp_path / "moods_train.jsonl").write_text('{"id": "x"\n[]\n', encoding="utf-8")
    task = own(tmp_path, format="jsonl")
    problems = [record for _, record in task.records(tmp_path / "moods_train.jsonl")]
    assert "not JSON" in problems[0] and "expected an object" in problems[1]


@pytest.mark.parametrize("encoding", ["cp949", "utf-16"])
@pytest.mark.parametrize("format", ["tsv", "csv", "json", "jsonl"])
def test_a_file_that_is_not_utf_8_is_told_what_to_be(format, encoding, tmp_path):
    (tmp_path / f"moods_train.{format}").write_text('{"review": "밥"}', encoding=encoding)
    (tmp_path / f"moods_dev.{format}").touch()
    with pytest.raises(
        DataError, match=rf"moods_train.{format}: not UTF-8 at byte \d+; save it as"
    ):
        load_data(own(tmp_path, format=format), tmp_path)


def test_commas_where_tabs_are_read(tmp_path):
    write_moods(tmp_path, "csv", MOODS[:2])
    for split in ("train", "dev"):
        (tmp_path / f"moods_{split}.csv").rename(tmp_path / f"moods_{split}.tsv")
    with pytest.raises(DataError, match=r'commas part the fields\? say format = "csv"'):
        load_data(own(tmp_path), tmp_path)


def test_where_files_are_looked_for(tmp_path):
    task = own(tmp_path)
    below = tmp_path / "data" / "a" / "b"
    below.mkdir(parents=True)
    with pytest.raises(DataError, match=r"no moods_train.tsv, moods_dev.tsv in it, nor up to 2"):
        load_data(task, tmp_path / "data")
    write_moods(below, "tsv", MOODS[:2])
    assert len(load_data(task, tmp_path / "data").train) == 2
    (tmp_path / "data" / "a" / "c").mkdir()
    write_moods(tmp_path / "data" / "a" / "c", "tsv", MOODS[:2])
    with pytest.raises(DataError, match=r"b/moods_train.tsv and .*c/moods_train.tsv both fit"):
        load_data(task, tmp_path / "data")
    with pytest.raises(UsageError, match="no such folder"):
        load_data(task, tmp_path / "none")
    with pytest.raises(UsageError, match="moods: not read from the hub; name --data-dir"):
        load_data(task, None)


@pytest.mark.parametrize("name", READY)
def test_ready_tasks_read_their_layout(name, tmp_path):
    data = load_data(get_task(name), write_ready(name, tmp_path))
    assert len(data.train) == (120 if name == "kornli" else 60)
    assert len(data.dev) == 24 and not data.skipped


def test_what_ready_tasks_read(tmp_path):
    def dev(name: str) -> list:
        return load_data(get_task(name), write_ready(name, tmp_path / name)).dev

    assert dev("nsmc")[1] == Example("1", "국수 장면은 최고다", None, "positive")
    assert dev("kornli")[1] == Example(
        "xnli.dev.ko-3", '민수가 "국수"을 먹었다', "민수는 굶었다", "contradiction"
    )
    assert dev("korsts")[4].label == 4.0
    assert [each.label for each in dev("kobest-wic")[:4]] == ["True", "False", "True", "False"]
    assert dev("kobest-copa")[0] == ChoiceQuestion(
        "1", "김밥을 먹었다. 결과", None, "alternative_2", ("배가 고팠다.", "배가 불렀다.")
    )
    assert dev("kobest-hellaswag")[2].label == "ending_3"
    assert dev("kobest-hellaswag")[2].choices[2] == "맛있게 먹는다."
    words = dev("naver-ner")
    assert words[0].text == "민수가 어제 부산 바닷가에서 김밥 먹었다 ."
    assert words[0].of_units(words[0].tags) == [
        *["B-PER", "B-DAT", "B-LOC", "I-LOC"], *["O"] * 3
    ]  # fmt: skip
    assert [(e.text, e.tags) for e in dev("naver-ner-tsv")] == [(e.text, e.tags) for e in words]


HUB = {
    "kobest-boolq": {"paragraph": "Text", "question": "Question"},
    "kobest-copa": {
        "premise": "sentence",
        "question": "question",
        "alternative_1": "1",
        "alternative_2": "2",
    },
    "kobest-hellaswag": {
        "context": "context",
        **{f"ending_{n}": f"choice{n}" for n in range(1, 5)},
    },
    "kobest-sentineg": {"sentence": "Text"},
    "kobest-wic": {"word": "Target", "context_1": "SENTENCE1", "context_2": "SENTENCE2"},
}


@pytest.mark.parametrize("name", HUB)
def test_the_hub_gives_the_same_examples(name, tmp_path):
    task = get_task(name)
    data_dir = write_ready(name, tmp_path)
    dev = load_data(task, data_dir).dev
    path = next(data_dir.rglob("dev.tsv"))
    header, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [
        {column: line[header.index(there)] for column, there in HUB[name].items()}
        | {"label": task.labels.index(each.label)}
        for line, each in zip(lines, dev, strict=True)
    ]
    dataset = datasets.Dataset.from_list(rows)
    dataset = dataset.cast_column("label", datasets.ClassLabel(names=list(task.labels)))
    found = read_hub(task, dataset, "dev")
    assert [replace(each, guid="") for each in found] == [replace(each, guid="") for each in dev]
    unlabelled = datasets.Dataset.from_list([row | {"label": -1} for row in rows[:2]])
    with pytest.raises(DataError, match=rf"hub skt/kobest_v1:{name[7:]} dev: record 1: 'label'"):
        read_hub(task, unlabelled, "dev")


def test_tags_of_words_go_on_over_the_space_and_begin_where_nothing_does():
    text = joined("g", ["이", "순신", "장군"], ["B-PER", "I-PER", "O"], " ")
    assert text.text == "이 순신 장군" and text.spans == ((0, 1), (2, 4), (5, 7))
    assert text.tags == ("B-PER", "I-PER", "I-PER", "I-PER", "O", "O", "O")
    assert joined("g", "가나", ["B-PER", "O"], "").tags == ("B-PER", "O")
    assert begun(["I-A", "I-A", "I-B", "O", "I-B", "B-B"]) == [
        *["B-A", "I-A", "B-B", "O", "B-B", "B-B"]
    ]


@pytest.mark.parametrize("mode", ["always", "vocab"])
@pytest.mark.parametrize("unit", ["word", "character"])
def test_gold_tags_come_back_from_the_tokens(mode, unit, tmp_path):
    """An oracle: what a perfect model says is the gold, with long texts cut into windows."""
    if unit == "word":
        task = get_task("naver-ner")
        examples = load_data(task, write_ready("naver-ner", tmp_path)).dev
    else:
        lines = [
            "이\tB-P",
            "순\tI-P",
            " \tI-P",
            "신\tI-P",
            "이\tO",
            "",
            "한\tB-P",
            " \tO",
            "강\tB-P",
            "",
        ]
        for split in ("train", "dev"):
            (tmp_path / f"moods_{split}.words").write_text("\n".join(lines), encoding="utf-8")
        keys = 'unit = "character"\nlabels = ["P"]'
        task = own(tmp_path, kind="tagging", format="words", keys=keys, columns="text=1\nlabel=2")
        examples = load_data(task, tmp_path).dev
        assert [each.text for each in examples] == ["이순 신이", "한 강"]
    tokenizer = AutoTokenizer.from_pretrained(TOKENIZERS / mode)
    rows = task.encode(examples, tokenizer, 8)
    assert len(rows) > len(examples) or unit == "character"
    certain = np.where(np.arange(len(task.labels)) == rows.labels[:, None], 0.0, -1e3)
    outputs = np.split(certain, rows.offsets[1:-1])
    if unit == "word":
        assert task.score(rows, outputs) == {"entity_f1": 100.0, "entity_macro_f1": 100.0}
        line = next(iter(task.predictions(rows, outputs)))
        assert [(e["type"], e["text"]) for e in line["entities"]] == [
            *[("PER", "민수가"), ("DAT", "어제"), ("LOC", "부산 바닷가에서")]
        ]
    else:
        assert task.decode(rows, outputs)[1] == ["B-P", "O", "B-P"]


def test_entities_are_scored_by_hand():
    gold = [["B-A", "I-A", "O", "B-B"], ["B-A", "O"]]
    pred = [["B-A", "I-A", "B-B", "O"], ["O", "O"]]
    # A: 1 right of 2 gold, 1 found: 2/3. B: none right. Together 1 right, 3 gold, 2 found: 2/5.
    assert scores(gold, pred) == pytest.approx({"entity_f1": 40, "entity_macro_f1": 100 / 3})


BAD_TAGS = {
    "unknown": ("1\t밥\tFOO_B\n", "'3' is 'FOO_B'; expected one of .*PER_B.*-"),
    "too few": ("1\t밥\tFOD_B\n2\t국\n", "has no column 3"),
    "no tags": ("1\t밥\n", "no '3'"),
    "no word": ("1\t\t-\n", "'2' is ''; expected a word"),
}


@pytest.mark.parametrize("name", BAD_TAGS)
def test_a_bad_sentence_is_skipped(name, tmp_path):
    bad, message = BAD_TAGS[name]
    path = write_ready("naver-ner", tmp_path) / "NER" / "train" / "train_data"
    path.write_text(path.read_text(encoding="utf-8") + "\n" + bad, encoding="utf-8")
    data = load_data(get_task("naver-ner"), tmp_path, strict=False)
    assert len(data.train) == 60 and len(data.skipped["train"]) == 1
    with pytest.raises(DataError, match=message):
        raise DataError(data.skipped["train"][0])


def test_answers_are_scored_as_korquad_does():
    questions = [Question("a", "〈김밥〉과 떡", "?", ((1, "김밥"),), None)]
    assert answer_scores(questions, ["〈김밥〉"]) == {"exact_match": 100.0, "char_f1": 100.0}
    values = answer_scores(questions, ["김밥과"])  # 2 of 3 and 2 of 2 characters
    assert values == pytest.approx({"exact_match": 0.0, "char_f1": 80.0})


QUICK = FinetuneSettings(epochs=10, batch_size=8, learning_rate=1e-2, max_length=48)


def run(name: str, tmp_path: Path, settings=QUICK, kind: str = "bert"):
    data_dir = write_ready(name, tmp_path / "data")
    model = write_encoder(tmp_path / kind, texts_of(data_dir), kind)
    task = get_task(name)
    finetune(task, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    rows = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    last = json.loads((seed / "metrics.json").read_text())["last"]
    return task, load_data(task, data_dir).dev, seed, rows, last


@pytest.mark.parametrize("name", ["nsmc", "korsts", "korquad", "naver-ner", "kobest-copa"])
def test_another_headline_needs_another_folder(name, tmp_path):
    data_dir = write_ready(name, tmp_path / "data")
    model = write_encoder(tmp_path / "model", texts_of(data_dir))
    described = ready_tasks()[name].read_text(encoding="utf-8")
    lines = [line for line in described.splitlines() if not line.startswith("headline")]
    settings = FinetuneSettings(epochs=1, max_length=32, limit=4)
    for headline in KINDS[read_description(ready_tasks()[name]).kind].metrics:
        path = tmp_path / f"{headline}.toml"
        path.write_text("\n".join([f'headline = "{headline}"', *lines]), encoding="utf-8")
        where = (get_task(str(path)), model, data_dir, tmp_path / "out", settings)
        if not (tmp_path / "out").exists():
            finetune(*where, [0], print, threads=1)
    with pytest.raises(UsageError, match=f"now run with 'headline' {headline}"):
        finetune(*where, [1], print, threads=1)


@pytest.mark.parametrize("labels", [[2.0**24 + n for n in range(6)], [n / 3 for n in range(6)]])
def test_scores_are_of_the_values_that_the_file_has(labels, tmp_path):
    """Also of those that float32 rounds, and makes equal."""
    moods = [(f"r{n}", "밥이 맛있다", label, "좋음") for n, label in enumerate(labels)]
    write_moods(tmp_path, "tsv", moods)
    task = own(tmp_path, kind="regression", columns='text = "review"\nlabel = "score"', keys="")
    folder = open_model_folder(write_encoder(tmp_path / "model", ["밥이 맛있다"]))
    rows = task.encode(load_data(task, tmp_path).dev, folder.tokenizer, 16)
    pred = [3.0, 1.0, 2.0, 5.0, 4.0, 6.0]
    values = task.score(rows, [np.array([each], dtype=np.float32) for each in pred])
    assert values["pearson"] == pytest.approx(100 * pearsonr(labels, pred).statistic, abs=1e-9)
    assert values["spearman"] == pytest.approx(100 * spearmanr(labels, pred).statistic, abs=1e-9)


@pytest.mark.parametrize("lowest", [-200.0, -100.0])
def test_a_score_is_learnt_whatever_its_value(lowest, tmp_path):
    moods = [(f"r{n}", "밥이 맛있다", lowest + n % 2, "좋음") for n in range(6)]
    write_moods(tmp_path, "tsv", moods)
    task = own(tmp_path, kind="regression", columns='text = "review"\nlabel = "score"', keys="")
    folder = open_model_folder(write_encoder(tmp_path / "model", ["밥이 맛있다"]))
    rows = task.encode(load_data(task, tmp_path).train, folder.tokenizer, 16)
    objective = TaskObjective(task, rows, rows, 0, True, batch_size=6, seed=0)
    assert objective.batch(0, 0, 1, 0.0).weight == 6


@pytest.mark.parametrize("name", ["nsmc", "kobest-copa"])
def test_learns_labels_and_its_predictions_give_its_scores(name, tmp_path):
    task, dev, _, rows, last = run(name, tmp_path)
    assert [(row["guid"], row["gold"]) for row in rows] == [(e.guid, e.label) for e in dev]
    gold, pred = [row["gold"] for row in rows], [row["pred"] for row in rows]
    assert last["accuracy"] == pytest.approx(100 * accuracy_score(gold, pred))
    assert last["macro_f1"] == pytest.approx(100 * f1_score(gold, pred, average="macro"))
    assert last[task.headline] > 90
    assert majority(task, tmp_path / "data")["accuracy"] == 50.0


def test_learns_scores_and_ranks(tmp_path):
    _, _, _, rows, last = run("korsts", tmp_path)
    gold, pred = [row["gold"] for row in rows], [row["pred"] for row in rows]
    assert last["pearson"] == pytest.approx(100 * pearsonr(gold, pred).statistic)
    assert last["spearman"] == pytest.approx(100 * spearmanr(gold, pred).statistic)
    assert last["spearman"] > 80


def test_learns_tags_of_words(tmp_path):
    _, dev, seed, rows, last = run("naver-ner", tmp_path, replace(QUICK, max_length=32))
    gold = [["-".join(t.split()[::-1]) if t else "O" for _, t in words] for words in tagged(24)]
    assert [row["gold"] for row in rows] == gold
    assert scores(gold, [row["pred"] for row in rows]) == pytest.approx(last)
    assert last["entity_f1"] > 90
    counts = np.array(json.loads((seed / "confusion.json").read_text())["counts"])
    assert counts.sum() == sum(len(each.spans) for each in dev)


def test_choices_neither_depend_on_the_batch_nor_on_us(tmp_path):
    """The saved model, as transformers loads and pads it, picks the same choices."""
    task, dev, seed, rows, last = run("kobest-hellaswag", tmp_path)
    assert last["accuracy"] > 80
    model = AutoModelForMultipleChoice.from_pretrained(seed).eval()
    tokenizer = AutoTokenizer.from_pretrained(seed)
    for row, each in zip(rows, dev, strict=True):
        inputs = tokenizer([each.text_a] * 4, list(each.choices), padding=True, return_tensors="pt")
        with torch.inference_mode():
            logits = model(**{name: value[None] for name, value in inputs.items()}).logits[0]
        probabilities = dict(zip(task.labels, logits.softmax(-1).tolist(), strict=True))
        assert row["probabilities"] == pytest.approx(probabilities, abs=1e-5)
        assert row["pred"] == max(probabilities, key=probabilities.get)


def test_choices_of_one_question_stay_together(tmp_path):
    data_dir = write_ready("kobest-hellaswag", tmp_path)
    folder = open_model_folder(write_encoder(tmp_path / "model", texts_of(data_dir)))
    task = get_task("kobest-hellaswag")
    dev = load_data(task, data_dir).dev
    rows = task.encode(dev, folder.tokenizer, 24)
    assert len(rows) == len(dev) == len(rows.lengths) and len(rows.offsets) == 4 * len(dev) + 1
    objective = TaskObjective(task, rows, rows, 0, True, 4, 0)
    batch = objective.batch(0, 0, 1, 0.0)
    assert batch.input_ids.shape[:2] == (4, 4) and batch.weight == 4
    assert batch.tokens == int(batch.attention_mask.sum())
    model = build_classifier(folder, task, False, 0).eval()
    with torch.inference_mode():
        loss = objective.loss(model, batch)
        logits = objective.logits(model, batch)
        by_hand = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="sum")
    assert loss.item() == pytest.approx(by_hand.item())


def test_the_command_takes_names_and_files(tmp_path, capsys):
    data_dir = write_ready("nsmc", tmp_path / "data")
    path = data_dir / "nsmc" / "ratings_train.txt"
    path.write_text(path.read_text(encoding="utf-8") + "77\t\t1\n", encoding="utf-8")
    text = ready_tasks()["nsmc"].read_text(encoding="utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace('"nsmc"', '"mine"'), encoding="utf-8")
    twin = Path(shutil.copy(mine, tmp_path / "twin.toml"))
    model = write_encoder(tmp_path / "model", texts_of(data_dir))
    words = ["klue", "--model", str(model), "--data-dir", str(data_dir), "--threads", "1"]
    words += ["--epochs", "1", "--output", str(tmp_path / "out")]
    main([*words, "--task", "nsmc", "--task", str(mine)])
    said = capsys.readouterr().out
    assert "(77): 'document' is empty" in said and "train: 1 bad record skipped" in said
    assert (tmp_path / "out" / "nsmc" / "seed-0" / "confusion.txt").exists()
    assert (tmp_path / "out" / "mine" / "metrics.json").exists()
    for wrong, code, message in [
        (["--task", "nmsc"], 2, "did you mean 'nsmc'"),
        (["--task", str(tmp_path / "none.toml")], 2, "no such file"),
        (["--task", str(mine), "--task", str(twin)], 2, "another has the name mine"),
        (["--task", "nsmc", "--strict", "--seed", "3"], 1, "(77)"),
    ]:
        with pytest.raises(SystemExit) as caught:
            main([*words, *wrong])
        assert caught.value.code == code and message in capsys.readouterr().err


def test_the_help_names_every_ready_task():
    text = next(option.help for option in klue.params if option.name == "tasks")
    assert all(name in text for name in ready_tasks())


REAL = [
    ("nsmc", "nsmc", ["nsmc_train.txt", "nsmc_dev.txt"], (60_000, 5_000)),
    ("korsts", "korsts", ["sts-train.tsv", "sts-dev.tsv"], (5_749, 1_500)),
]


@pytest.mark.parametrize("name, archive, files, counts", REAL)
def test_real_files(name, archive, files, counts, tmp_path):
    for file in files:
        task_file(archive, file, tmp_path)
    data = load_data(get_task(name), tmp_path, strict=False)
    skipped = {split: len(messages) for split, messages in data.skipped.items()}
    found = (len(data.train), len(data.dev))
    assert (found[0] + skipped.get("train", 0), found[1] + skipped.get("dev", 0)) == counts
    assert sum(skipped.values()) < 10
