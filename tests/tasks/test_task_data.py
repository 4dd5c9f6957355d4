"""Reading: official files, the hub's renumbered labels, and what is wrong with a file, where."""

from __future__ import annotations

import json
import random
from pathlib import Path

import datasets
import pytest
from klue_sample import nli_records, sts_records, write_split, ynat_records

from kobert_kit.cli.klue import TASK_NAMES
from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.baseline import majority
from kobert_kit.tasks.catalogue import TASKS, get_task
from kobert_kit.tasks.data import TaskData, load_data
from kobert_kit.tasks.hub import load_hub, read_hub
from kobert_kit.tasks.sentence import Example

NLI, STS, YNAT = TASKS["nli"], TASKS["sts"], TASKS["ynat"]


def test_official_files(data_dir):
    nli = load_data(NLI, data_dir)
    assert len(nli.train) == 90 and len(nli.dev) == 30
    assert nli.train[0] == Example(
        "nli-0", "아침 에 김밥 을 먹었다", "아침 에 무엇을 먹었다", "entailment"
    )
    assert load_data(STS, data_dir).train[4].label == 4.0
    assert load_data(YNAT, data_dir).train[0] == Example("ynat-0", "국회", None, "정치")


def test_the_folder_may_be_the_release_or_hold_it(data_dir):
    assert load_data(NLI, data_dir) == load_data(NLI, data_dir.parent)


def test_limit_keeps_the_first_of_each(data_dir):
    data, whole = load_data(NLI, data_dir, limit=5), load_data(NLI, data_dir)
    assert data == TaskData(whole.train[:5], whole.dev[:5])
    assert data.fingerprint() != whole.fingerprint()


def hub_dataset(task, shuffle_seed: int) -> datasets.Dataset:
    """The records as the hub has them: labels are numbers, in an order of its own."""
    records = {"nli": nli_records, "ynat": ynat_records}[task.name](40)
    names = list(task.labels)
    random.Random(shuffle_seed).shuffle(names)
    official = task.label[0]
    rows = [
        {k: v for k, v in record.items() if k != official}
        | {task.hub_label[0]: names.index(record[official])}
        for record in records
    ]
    dataset = datasets.Dataset.from_list(rows)
    return dataset.cast_column(task.hub_label[0], datasets.ClassLabel(names=names))


@pytest.mark.parametrize("task", [NLI, YNAT], ids=["nli", "ynat"])
@pytest.mark.parametrize("shuffle_seed", range(3))
def test_hub_labels_are_matched_by_name(task, shuffle_seed, data_dir):
    splits = datasets.DatasetDict({"train": hub_dataset(task, shuffle_seed)})
    assert read_hub(task, splits["train"], "train") == load_data(task, data_dir).train[:40]


def test_hub_scores(data_dir):
    dataset = datasets.Dataset.from_list(sts_records(10))
    assert read_hub(STS, dataset, "train") == load_data(STS, data_dir).train[:10]


def test_a_hub_label_without_a_name():
    dataset = hub_dataset(NLI, 0).cast_column("label", datasets.Value("int64"))
    unlabelled = dataset.map(lambda row: {"label": -1})
    with pytest.raises(DataError, match=r"hub klue/klue:nli dev: record 1 \(nli-0\).*is -1"):
        read_hub(NLI, unlabelled, "dev")


def test_offline(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    with pytest.raises(DataError, match=r"klue/klue:nli could not be loaded.*--data-dir"):
        load_hub(NLI)


def broken(data_dir: Path, change, task=NLI, number: int = 3) -> str:
    """The message for a train file in which ``change`` was done to record ``number``."""
    path = data_dir / task.folder / f"{task.folder}_train.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    change(records[number - 1])
    write_split(data_dir, task.folder, "train", records)
    with pytest.raises(DataError) as caught:
        load_data(task, data_dir)
    assert path.name in str(caught.value) and f"record {number}" in str(caught.value)
    return str(caught.value)


def test_a_label_outside_the_list(data_dir):
    message = broken(data_dir, lambda record: record.update(gold_label="neutral "))
    assert "nli-2" in message and "'neutral '" in message
    assert "entailment, contradiction, neutral" in message


@pytest.mark.parametrize("score", [-0.1, 5.1, "3", None, True, float("nan")])
def test_a_score_that_is_none(data_dir, score):
    message = broken(data_dir, lambda record: record["labels"].update({"real-label": score}), STS)
    assert "sts-2" in message and "labels.real-label" in message


def test_an_empty_text(data_dir):
    message = broken(data_dir, lambda record: record.update(hypothesis=" \t"))
    assert "nli-2" in message and "'hypothesis' is empty" in message


@pytest.mark.parametrize("missing", ["guid", "premise", "gold_label"])
def test_a_missing_field(data_dir, missing):
    assert f"'{missing}'" in broken(data_dir, lambda record: record.pop(missing))


@pytest.mark.parametrize("guid", [7, 1.5, True, ["a"]])
def test_a_guid_that_is_no_text(guid, data_dir):
    message = broken(data_dir, lambda record: record.update(guid=guid))
    assert f"the guid is {guid}; expected text in quotes" in message


def test_a_guid_twice(data_dir):
    message = broken(data_dir, lambda record: record.update(guid="nli-0"))
    assert "nli-0" in message and "record 1" in message


@pytest.mark.parametrize(
    "records, other",
    [
        (ynat_records(5), "ynat"),
        (sts_records(5), "sts"),
        ([{"guid": "re-0", "sentence": "", "subject_entity": {}, "object_entity": {}}], "re"),
    ],
    ids=["ynat", "sts", "re"],
)
def test_a_file_of_another_task(data_dir, records, other):
    write_split(data_dir, NLI.folder, "dev", records)
    with pytest.raises(DataError, match=rf"_dev.json: record 1 .*looks like .* task {other}, not"):
        load_data(NLI, data_dir)


def test_a_file_that_is_cut_off(data_dir):
    path = write_split(data_dir, NLI.folder, "dev", nli_records(30))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"nli-v1.1_dev.json:1?.*(cut off|not UTF-8)"):
        load_data(NLI, data_dir)


@pytest.mark.parametrize(
    "content, message",
    [("{}", "expected a list"), ("[1, 2]", "record 1: expected an object"), ("[]", "0 examples")],
)
def test_json_of_another_shape(data_dir, content, message):
    path = data_dir / NLI.folder / f"{NLI.folder}_dev.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        load_data(NLI, data_dir)


def test_a_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"--data-dir .*klue-nli-v1.1_train.json"):
        load_data(NLI, tmp_path)


@pytest.mark.parametrize("name", ["nli", "ynat", "ner", "mrc", "wos"])
def test_the_first_release_is_told_from_v1_1(name, tmp_path):
    files = [each.format(split="train").replace("v1.1", "v1") for each in TASKS[name].files]
    path = tmp_path / "klue_benchmark" / files[0]
    path.parent.mkdir(parents=True)
    path.write_text("[]")
    with pytest.raises(DataError, match=rf"{path.name} is of v1, which v1.1 corrects: get v1.1"):
        load_data(TASKS[name], tmp_path)


def test_an_unknown_task():
    with pytest.raises(UsageError, match="--task tagging: one of nli, sts, ynat"):
        get_task("tagging")


def test_majority_class(data_dir):
    # 30 of 90 training labels each; the first wins a tie, and is 10 of the 30 of dev.
    assert majority(NLI, data_dir)["klue_nli_acc"] == pytest.approx(100 / 3)
    scores = majority(STS, data_dir)
    assert scores["klue_sts_pearsonr"] != scores["klue_sts_pearsonr"]  # NaN
    assert scores["klue_sts_f1"] == 0.0  # the mean is 2.5


def test_the_command_offers_every_task():
    assert set(TASK_NAMES) == set(TASKS)
