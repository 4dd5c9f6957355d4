"""The hub's KLUE comes over HTTP as the hub has it, and is the same data as the official files."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from datasets import ClassLabel, Features, Value
from hub_client import kobert_kit, run_python
from hub_server import Hub
from klue_sample import write_model

from kobert_kit.corpus.sample import sample_folder
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.data import TaskData, load_data
from kobert_kit.tasks.relation import LABELS as RELATIONS

OFFICIAL = sample_folder() / "klue_benchmark"
TEXT, NUMBER = Value("string"), Value("int32")
ENTITY = {"word": TEXT, "start_idx": NUMBER, "end_idx": NUMBER, "type": TEXT}
TAGS = [f"{place}-{kind}" for kind in ("DT", "LC", "OG", "PS", "QT", "TI") for place in "BI"]
TOPICS = ["IT과학", "경제", "사회", "생활문화", "세계", "스포츠", "정치"]

# As the card of the hub's data set declares them.
FEATURES = {
    "ynat": {
        **dict.fromkeys(("guid", "title"), TEXT),
        "label": ClassLabel(names=TOPICS),
        **dict.fromkeys(("url", "date"), TEXT),
    },
    "sts": {
        **dict.fromkeys(("guid", "source", "sentence1", "sentence2"), TEXT),
        "labels": {
            "label": Value("float64"),
            "real-label": Value("float64"),
            "binary-label": ClassLabel(names=["negative", "positive"]),
        },
    },
    "nli": {
        **dict.fromkeys(("guid", "source", "premise", "hypothesis"), TEXT),
        "label": ClassLabel(names=["entailment", "neutral", "contradiction"]),
    },
    "ner": {"sentence": TEXT, "tokens": [TEXT], "ner_tags": [ClassLabel(names=[*TAGS, "O"])]},
    "re": {
        **dict.fromkeys(("guid", "sentence"), TEXT),
        **dict.fromkeys(("subject_entity", "object_entity"), ENTITY),
        "label": ClassLabel(names=list(RELATIONS)),
        "source": TEXT,
    },
    "dp": {
        "sentence": TEXT,
        "index": [NUMBER],
        **{column: [TEXT] for column in ("word_form", "lemma", "pos")},
        "head": [NUMBER],
        "deprel": [TEXT],
    },
    "mrc": {
        **dict.fromkeys(("title", "context", "news_category", "source", "guid"), TEXT),
        "is_impossible": Value("bool"),
        "question_type": NUMBER,
        "question": TEXT,
        "answers": {"answer_start": [NUMBER], "text": [TEXT]},
    },
    "wos": {
        "guid": TEXT,
        "domains": [TEXT],
        "dialogue": [{"role": TEXT, "text": TEXT, "state": [TEXT]}],
    },
}


def official(name: str, split: str) -> str:
    folder = name if name in ("ynat", "wos") else f"klue-{name}"
    suffix = "tsv" if name in ("ner", "dp") else "json"
    path = OFFICIAL / f"{folder}-v1.1" / f"{folder}-v1.1_{split}.{suffix}"
    return path.read_text(encoding="utf-8")


def tables(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Of a TSV file the sentence of each block, with what its lines hold."""
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("## ")]
        found = [line.split("\t") for line in lines if not line.startswith("## ")]
        yield comments[-1].split("\t", 1)[1], found


def hub_rows(name: str, split: str) -> list[dict[str, Any]]:
    """The rows of the hub for the official files, as the hub's card shows them."""
    text = official(name, split)
    if name == "ner":
        return [
            {"sentence": sentence, "tokens": [c for c, _ in rows], "ner_tags": [t for _, t in rows]}
            for sentence, rows in tables(text)
        ]
    if name == "dp":
        columns = ("index", "word_form", "lemma", "pos", "head", "deprel")
        return [
            {"sentence": sentence}
            | {column: [row[n] for row in rows] for n, column in enumerate(columns)}
            for sentence, rows in tables(text)
        ]
    records = json.loads(text)
    if name == "mrc":
        return [
            {key: each.get(key) or "" for key in ("title", "news_category", "source")}
            | {"context": paragraph["context"]}
            | {key: qa[key] for key in ("guid", "is_impossible", "question_type", "question")}
            # Plausible answers of unanswerable questions stand among the answers there.
            | {"answers": columns_of(qa["answers"] or qa.get("plausible_answers") or [])}
            for each in records["data"]
            for paragraph in each["paragraphs"]
            for qa in paragraph["qas"]
        ]
    if name == "sts":
        named = {0: "negative", 1: "positive"}
        for each in records:
            each["labels"]["binary-label"] = named[each["labels"]["binary-label"]]
    if name == "nli":
        records = [{**each, "label": each["gold_label"]} for each in records]
    if name == "wos":
        for each in records:
            each["dialogue"] = [{"state": [], **turn} for turn in each["dialogue"]]
    return [{column: each.get(column) for column in FEATURES[name]} for each in records]


def columns_of(answers: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {column: [each[column] for each in answers] for column in ("answer_start", "text")}


def klue_files(folder: Path) -> dict[str, bytes]:
    """The hub's data set: a card with the features, and Parquet for each split of each task."""
    files, infos, configs = {}, [], []
    for name, columns in FEATURES.items():
        features = Features(columns)
        splits, paths = [], []
        for split, official_name in (("train", "train"), ("validation", "dev")):
            rows = [features.encode_example(row) for row in hub_rows(name, official_name)]
            dataset = datasets.Dataset.from_list(rows, features=features)
            path = f"{name}/{split}-00000-of-00001.parquet"
            dataset.to_parquet(folder / "part.parquet")
            files[path] = (folder / "part.parquet").read_bytes()
            splits.append({"name": split, "num_bytes": 1, "num_examples": len(rows)})
            paths.append({"split": split, "path": f"{name}/{split}-*"})
        declared = features._to_yaml_list()
        infos.append({"config_name": name, "features": declared, "splits": splits})
        configs.append({"config_name": name, "data_files": paths})
    card = yaml.safe_dump({"dataset_info": infos, "configs": configs}, allow_unicode=True)
    return {"README.md": f"---\n{card}---\n# KLUE\n".encode(), **files}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with Hub() as hub:
        hub.commit("klue/klue", klue_files(tmp_path_factory.mktemp("klue")))
        yield hub


LOAD = """
import pickle, sys
from kobert_kit.errors import KobertKitError
from kobert_kit.tasks.catalogue import get_task
from kobert_kit.tasks.data import load_data

found = {}
for name in sys.argv[2:]:
    try:
        found[name] = load_data(get_task(name), None)
    except KobertKitError as error:
        found[name] = f"{type(error).__name__}: {error}"
with open(sys.argv[1], "wb") as stream:
    pickle.dump(found, stream)
"""


def load(hub: Hub, folder: Path, *names: str) -> dict[str, Any]:
    """The data of each task as the hub has it, or what was wrong."""
    done = run_python(hub, folder / "home", LOAD, folder / "found", *names)
    assert not done.returncode, done.stderr
    found: dict[str, Any] = pickle.loads((folder / "found").read_bytes())
    return found


def plain(name: str, data: TaskData[Any]) -> TaskData[Any]:
    """Without what the hub lacks: guids of NER and DP, and the ontology."""
    changes = {"ner": {"guid": ""}, "dp": {"guid": ""}, "wos": {"ontology": None}}.get(name, {})
    splits = ([replace(each, **changes) for each in split] for split in (data.train, data.dev))
    return TaskData(*splits, data.skipped)


def test_the_hub_and_the_official_files_have_the_same_examples(hub: Hub, tmp_path: Path) -> None:
    found = load(hub, tmp_path, *FEATURES)
    for name, data in found.items():
        wanted = load_data(TASKS[name], OFFICIAL)
        assert isinstance(data, TaskData), data
        assert not data.skipped and len(data.train) > 50
        assert plain(name, data) == plain(name, wanted), name
        if name not in ("ner", "dp", "wos"):
            assert data.fingerprint() == wanted.fingerprint(), name


def test_a_part_of_the_data_is_no_data(hub: Hub, tmp_path: Path) -> None:
    hub.trouble = lambda method, path: "cut" if method == "GET" and "/storage/" in path else None
    table = datasets.Dataset.from_dict({"paragraph": ["가"], "question": ["나"], "label": [1]})
    table.to_parquet(tmp_path / "train.parquet")
    card = b"---\nconfigs:\n- config_name: boolq\n  data_files: train.parquet\n---\n"
    part = (tmp_path / "train.parquet").read_bytes()
    hub.commit("skt/kobest_v1", {"README.md": card, "train.parquet": part})
    said, lacking = load(hub, tmp_path, "mrc", "kobest-boolq").values()
    assert lacking.startswith("DataError: hub skt/kobest_v1:boolq: no split 'validation', only tr")
    assert said.startswith("DataError: the hub's data set klue/klue:mrc could not be loaded (")
    assert "check the connection" in said and "--data-dir" in said
    hub.trouble = None
    (data,) = load(hub, tmp_path, "mrc").values()
    assert data == load_data(TASKS["mrc"], OFFICIAL)


def test_a_task_is_learnt_from_the_hub(hub: Hub, tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    options = ("--limit", 64, "--epochs", 1, "--batch-size", 32, "--threads", 1)
    command = ("klue", "--task", "ynat", "--model", model, *options)
    done = kobert_kit(hub, tmp_path / "home", *command)
    assert not done.returncode, done.stderr
    record = json.loads((model / "klue" / "ynat" / "kobert_kit.json").read_text(encoding="utf-8"))
    wanted = load_data(TASKS["ynat"], OFFICIAL, limit=64).fingerprint()
    assert wanted in record["inputs"].values()
