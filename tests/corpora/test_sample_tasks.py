"""The sample's task files: official layouts, and labels that follow from what is written."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import log
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "corpora" / "sample" / "klue_benchmark"
SPLITS = ("train", "dev")
FOLDERS = {
    "ynat": "ynat-v1.1",
    "nli": "klue-nli-v1.1",
    "sts": "klue-sts-v1.1",
    "re": "klue-re-v1.1",
    "wos": "wos-v1.1",
    "mrc": "klue-mrc-v1.1",
    "ner": "klue-ner-v1.1",
    "dp": "klue-dp-v1.1",
}


def read(task: str, split: str):
    folder = FOLDERS[task]
    suffix = "tsv" if task in ("ner", "dp") else "json"
    path = BENCHMARK / folder / f"{folder}_{split}.{suffix}"
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if suffix == "json" else text


def blocks(text: str) -> list[tuple[str, str, list[list[str]]]]:
    """(guid, sentence, rows) of a tab-separated file, as KLUE's own readers take it apart."""
    found = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        heads = [line for line in lines if line.startswith("## ") and line.count("\t") == 1]
        guid, sentence = heads[-1][3:].split("\t")
        rows = [line.split("\t") for line in lines if not line.startswith("## ")]
        found.append((guid, sentence, rows))
    return found


def guids(task: str, split: str) -> list[str]:
    content = read(task, split)
    if task in ("ner", "dp"):
        return [guid for guid, _, _ in blocks(content)]
    if task == "mrc":
        return [qa["guid"] for item in content["data"] for qa in item["paragraphs"][0]["qas"]]
    return [row["guid"] for row in content]


def inputs(task: str, split: str) -> set[object]:
    """What a model sees of each example."""
    content = read(task, split)
    if task in ("ner", "dp"):
        return {sentence for _, sentence, _ in blocks(content)}
    if task == "mrc":
        return {item["paragraphs"][0]["context"] for item in content["data"]}
    if task == "wos":
        return {json.dumps(row["dialogue"], ensure_ascii=False) for row in content}
    keys = {"ynat": ["title"], "re": ["sentence"], "nli": ["premise", "hypothesis"]}
    fields = keys.get(task, ["sentence1", "sentence2"])
    return {tuple(row[field] for field in fields) for row in content}


@pytest.mark.parametrize("task", FOLDERS)
def test_guids_are_unique_and_name_the_split(task):
    for split in SPLITS:
        found = guids(task, split)
        assert len(set(found)) == len(found) > 40
        assert all(f"_{split}_" in guid for guid in found)


@pytest.mark.parametrize("task", FOLDERS)
def test_no_dev_example_is_in_train(task):
    assert not inputs(task, "train") & inputs(task, "dev")


@pytest.mark.parametrize(
    ("task", "key", "labels"),
    [
        ("ynat", "label", {"정치", "경제", "사회", "생활문화", "세계", "IT과학", "스포츠"}),
        ("nli", "gold_label", {"entailment", "contradiction", "neutral"}),
    ],
)
def test_labels_are_the_official_ones_in_equal_shares(task, key, labels):
    for split in SPLITS:
        counts = Counter(row[key] for row in read(task, split))
        assert set(counts) == labels
        assert max(counts.values()) - min(counts.values()) <= 1


def test_sts_binary_label_is_the_score_at_least_three():
    for split in SPLITS:
        for row in read("sts", split):
            labels = row["labels"]
            assert 0 <= labels["label"] <= 5
            assert labels["binary-label"] == int(labels["real-label"] >= 3.0)


def test_sts_scores_use_the_whole_range():
    scores = {round(row["labels"]["label"]) for row in read("sts", "dev")}
    assert scores == {0, 1, 2, 3, 4, 5}


def test_re_spans_cut_the_entities_out_of_the_sentence():
    relations = json.loads(
        (BENCHMARK / FOLDERS["re"] / "relation_list.json").read_text(encoding="utf-8")
    )["relations"]
    assert len(relations) == 30
    for split in SPLITS:
        for row in read("re", split):
            assert row["label"] in relations
            subject, target = row["subject_entity"], row["object_entity"]
            for entity in (subject, target):
                cut = row["sentence"][entity["start_idx"] : entity["end_idx"] + 1]
                assert cut == entity["word"]
                assert entity["type"] in {"PER", "ORG", "LOC", "DAT", "POH", "NOH"}
            assert subject["type"] in {"PER", "ORG"}
            spans = sorted((entity["start_idx"], entity["end_idx"]) for entity in (subject, target))
            assert spans[0][1] < spans[1][0]
            if row["label"] != "no_relation":
                assert row["label"].startswith({"PER": "per:", "ORG": "org:"}[subject["type"]])


def test_ner_inline_markup_agrees_with_the_character_lines():
    seen: set[str] = set()
    for split in SPLITS:
        for guid, marked, rows in blocks(read("ner", split)):
            text, tags, position = "", [], 0
            for match in re.finditer(r"<([^<>]+):(PS|LC|OG|DT|TI|QT)>", marked):
                plain = marked[position : match.start()]
                word, tag = match[1], match[2]
                text += plain + word
                tags += ["O"] * len(plain) + [f"B-{tag}"] + [f"I-{tag}"] * (len(word) - 1)
                position = match.end()
                seen.add(tag)
            text += marked[position:]
            tags += ["O"] * (len(text) - len(tags))
            assert [character for character, _ in rows] == list(text), guid
            assert [tag for _, tag in rows] == tags, guid
    assert seen == {"PS", "LC", "OG", "DT", "TI", "QT"}


def test_dp_is_a_tree_with_one_root_over_the_sentence():
    for split in SPLITS:
        for guid, sentence, rows in blocks(read("dp", split)):
            assert all(len(row) == 6 for row in rows), guid
            assert [row[0] for row in rows] == [str(index + 1) for index in range(len(rows))]
            assert " ".join(row[1] for row in rows) == sentence
            heads = [int(row[4]) for row in rows]
            assert heads.count(0) == 1 and heads[-1] == 0
            # Korean is head-final: every head lies to the right, hence no cycle
            assert all(head > index for index, head in enumerate(heads[:-1], 1))
            assert all(head <= len(rows) for head in heads)
            assert all(len(row[2].split(" ")) == len(row[3].split("+")) for row in rows), guid


def test_mrc_answers_are_slices_of_the_context():
    kinds: Counter[int] = Counter()
    for split in SPLITS:
        content = read("mrc", split)
        assert content["version"] == "v1.1"
        for item in content["data"]:
            for paragraph in item["paragraphs"]:
                context = paragraph["context"]
                for qa in paragraph["qas"]:
                    kinds[qa["question_type"]] += 1
                    assert qa["is_impossible"] == (qa["question_type"] == 3)
                    assert bool(qa["answers"]) != qa["is_impossible"]
                    for span in [*qa["answers"], *qa.get("plausible_answers", [])]:
                        start = span["answer_start"]
                        assert context[start : start + len(span["text"])] == span["text"]
    assert set(kinds) == {1, 2, 3}


def test_wos_states_are_in_the_ontology_and_in_what_was_said():
    ontology = json.loads((BENCHMARK / FOLDERS["wos"] / "ontology.json").read_text("utf-8"))
    for split in SPLITS:
        for row in read("wos", split):
            said = ""
            for turn in row["dialogue"]:
                said += turn["text"] + "\n"
                if turn["role"] == "sys":
                    assert "state" not in turn
                    continue
                for entry in turn["state"]:
                    domain, slot, value = entry.split("-")
                    assert domain in row["domains"]
                    assert value in ontology[f"{domain}-{slot}"]
                    assert value == "dontcare" or value in said
            assert [turn["role"] for turn in row["dialogue"]] == ["user", "sys"] * (
                len(row["dialogue"]) // 2
            )


def words(sentence: str) -> set[str]:
    return set(re.findall(r"[가-힣0-9]+", sentence))


def test_the_hypothesis_alone_does_not_give_the_label_away():
    """Naive Bayes over the hypothesis's words stays near chance (1/3)."""
    counts: dict[str, Counter[str]] = {}
    for row in read("nli", "train"):
        counts.setdefault(row["gold_label"], Counter()).update(words(row["hypothesis"]))
    dev = read("nli", "dev")
    assert (
        naive_bayes(counts, [(words(row["hypothesis"]), row["gold_label"]) for row in dev]) < 0.45
    )


def test_training_headlines_alone_do_not_cover_the_topics():
    """The same rule is right on some dev headlines only: the others need the corpus."""
    counts: dict[str, Counter[str]] = {}
    for row in read("ynat", "train"):
        counts.setdefault(row["label"], Counter()).update(words(row["title"]))
    dev = read("ynat", "dev")
    assert 0.2 < naive_bayes(counts, [(words(row["title"]), row["label"]) for row in dev]) < 0.8


def naive_bayes(counts: dict[str, Counter[str]], rows: list[tuple[set[str], str]]) -> float:
    """Accuracy of multinomial naive Bayes with add-one smoothing and equal priors."""
    vocabulary = len(set().union(*counts.values()))
    totals = {label: sum(counter.values()) for label, counter in counts.items()}

    def score(label: str, found: set[str]) -> float:
        counter = counts[label]
        return sum(log((counter[word] + 1) / (totals[label] + vocabulary)) for word in found)

    right = sum(max(counts, key=lambda label: score(label, found)) == gold for found, gold in rows)
    return right / len(rows)
