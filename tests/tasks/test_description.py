"""A TOML file that describes a task: what is wrong in it is named by file and key."""

from __future__ import annotations

import pytest

from kobert_kit.errors import DataError, UsageError
from kobert_kit.tasks.catalogue import TASKS, get_task
from kobert_kit.tasks.formats.files import SplitFiles
from kobert_kit.tasks.own.description import KINDS, Columns, read_description
from kobert_kit.tasks.own.ready import ready_tasks

PAIR = """
name = "reviews"
kind = "pair"
files = "reviews_{split}.tsv"
labels = ["좋음", "나쁨"]

[columns]
text = "review"
text_b = "answer"
label = "mood"
"""
TAGGING = """
name = "parts"
kind = "tagging"
format = "words"
labels = ["PART"]
[files]
train = ["a.txt", "b.txt"]
dev = "c.txt"
[columns]
text = 1
label = 2
"""
CHOICE = """
name = "next"
kind = "choice"
files = "{split}.jsonl"
format = "jsonl"
labels = { 0 = "first", 1 = "second" }
[columns]
text = ["context", "question"]
choices = ["a", "b"]
label = "answer"
"""


def read(tmp_path, text: str):
    path = tmp_path / "my_task.toml"
    path.write_text(text, encoding="utf-8")
    return read_description(path)


def test_what_a_file_says(tmp_path):
    pair = read(tmp_path, PAIR)
    assert pair.files == (SplitFiles(("reviews_train.tsv",), ("reviews_dev.tsv",)),)
    assert pair.columns == Columns(text=("review",), text_b=("answer",), label="mood")
    assert pair.label_names == ("좋음", "나쁨") and pair.headline == "accuracy"
    tagging = read(tmp_path, TAGGING)
    assert tagging.files == (SplitFiles(("a.txt", "b.txt"), ("c.txt",)),)
    assert tagging.names_of_tags == {"B-PART": "B-PART", "I-PART": "I-PART", "O": "O"}
    choice = read(tmp_path, CHOICE)
    assert choice.columns.text == ("context", "question")
    assert choice.names_of_labels == {
        "0": "first",
        "1": "second",
        "first": "first",
        "second": "second",
    }


BAD = {
    "unknown key": (
        PAIR.replace("files =", 'label = "x"\nfiles ='),
        "'label' .*did you mean 'labels'",
    ),
    "unknown column": (
        PAIR.replace("text_b", "textb"),
        r"'columns.textb' is no key.*'text_b'\?\); allowed: text, ",
    ),
    "no column": (
        PAIR.replace('label = "mood"', ""),
        "no 'columns.label', which a pair task needs",
    ),
    "no labels": (PAIR.replace("labels =", "#"), "no 'labels', which a pair task needs"),
    "no name": (PAIR.replace("name =", "#"), "no 'name', which every task needs"),
    "no kind": (PAIR.replace("kind =", "#"), "no 'kind'"),
    "no files": (PAIR.replace("files =", "#"), "no 'files'"),
    "no columns": (PAIR.partition("[columns]")[0], "no 'columns'"),
    "kind": (
        PAIR.replace('"pair"', '"pairs"'),
        "'kind' is 'pairs' .did you mean 'pair'.*allowed: classification",
    ),
    "headline": (
        PAIR.replace("files =", 'headline = "f1"\nfiles ='),
        "'headline' is 'f1'.*allowed: accuracy, macro_f1",
    ),
    "headline of another kind": (
        PAIR.replace("files =", 'headline = "pearson"\nfiles ='),
        "allowed: accuracy, macro_f1",
    ),
    "format": (
        PAIR.replace("files =", 'format = "xlsx"\nfiles ='),
        "'format' is 'xlsx'.*allowed: tsv, csv, json, jsonl$",
    ),
    "header": (
        PAIR.replace("files =", 'header = "no"\nfiles ='),
        "'header' is 'no'; allowed: true, false",
    ),
    "a name without header": (
        PAIR.replace("files =", "header = false\nfiles ="),
        "'columns.text' is 'review'.*numbers: 1, 2",
    ),
    "a folder as name": (PAIR.replace('"reviews"', '"../reviews"'), "'name' is '../reviews'"),
    "files without split": (PAIR.replace("_{split}", ""), r"'files' is .*\{split\}"),
    "only train": (TAGGING.replace("dev =", "#"), "no 'files.dev'"),
    "another split": (TAGGING.replace("dev =", "test ="), "'files.test' is no key"),
    "labels": (PAIR.replace('["좋음", "나쁨"]', "2"), "'labels' is 2; a list of names"),
    "one label": (PAIR.replace('["좋음", "나쁨"]', '["좋음"]'), "'labels' needs at least two"),
    "tags": (TAGGING.replace("labels", 'tags = "{type}"\nlabels'), r"'tags' is .*\{place\}"),
    "unit": (
        TAGGING.replace("labels", 'unit = "char"\nlabels'),
        "'unit' is 'char'.*word, character",
    ),
    "choices and labels": (
        CHOICE.replace('"a", "b"', '"a", "b", "c"'),
        "names 2 choices, 'columns.choices' 3",
    ),
    "one choice": (CHOICE.replace('["a", "b"]', '"a"'), "'columns.choices' names one column"),
    "two labels columns": (
        CHOICE.replace('"answer"', '["a", "b"]'),
        "'columns.label' names several",
    ),
    "a label twice": (PAIR.replace('"나쁨"', '"좋음"'), "'labels' names a label twice"),
    "texts of tags": (TAGGING.replace("text = 1", "text = [1, 2]"), "'columns.text' names several"),
    "a name twice": (TAGGING.replace("b.txt", "b/a.txt"), "'files' names a twice.*columns.guid"),
    "limits": (
        PAIR.replace("pair", "regression").replace("labels =", "lowest = 5\nhighest = 0 #"),
        "'highest' is 0, not above 'lowest', 5",
    ),
    "labels of a regression": (
        PAIR.replace("pair", "regression"),
        "'labels' is no key of a regression task",
    ),
    "columns of span": (PAIR.replace("pair", "span"), "'labels' is no key of a span task"),
    "no TOML": (PAIR.replace('"pair"', "pair"), r"not TOML \(.*line 3"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_wrong(name, tmp_path):
    text, message = BAD[name]
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'my_task.toml'}:")


def test_names_of_tasks(tmp_path):
    for name in [*TASKS, *ready_tasks()]:
        assert get_task(name).name == name
    with pytest.raises(UsageError, match=r"nmsc: one of .*did you mean 'nsmc'"):
        get_task("nmsc")
    with pytest.raises(UsageError, match=r"none\.toml: no such file"):
        get_task(str(tmp_path / "none.toml"))
    (tmp_path / "nli.toml").write_text(PAIR.replace("reviews", "nli"), encoding="utf-8")
    with pytest.raises(DataError, match="'name' is nli, which is a task of KLUE's"):
        get_task(str(tmp_path / "nli.toml"))


def test_every_kind_has_a_ready_task():
    assert {read_description(path).kind for path in ready_tasks().values()} == set(KINDS)
