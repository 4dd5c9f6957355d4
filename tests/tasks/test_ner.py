"""KLUE-NER: what is read, that alignment loses nothing, that tags are valid, and learning."""

from __future__ import annotations

import itertools
import json
import random
import unicodedata
from pathlib import Path

import datasets
import numpy as np
import pytest
from real_text import task_file
from tiny_models import CONFIGS, write_encoder
from transformers import AutoModelForTokenClassification, AutoTokenizer

import kobert_kit
from kobert_kit.cli import main
from kobert_kit.corpus.sample import sample_folder
from kobert_kit.errors import DataError
from kobert_kit.finetune.baseline import majority
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.bio import best_tags, tags_of_characters
from kobert_kit.tasks.data import load_data
from kobert_kit.tasks.hub import read_hub
from kobert_kit.tasks.metrics.entities import entities
from kobert_kit.tasks.ner import LABELS, TASK, Sentence, marked_text, oracle, scores

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
HEADER = "## 주석 : ##\n## 컬럼명 : CHAR\tNE_TAG\n"


def tagged(marked: str) -> tuple[str, tuple[str, ...]]:
    """Text and tags of ``marked``, with entities as <entity:TYPE>; spaces inside are tagged."""
    text, tags = "", []
    for part in marked.replace(">", "<").split("<"):
        entity, colon, kind = part.rpartition(":")
        if colon and kind in ("PS", "LC", "OG", "DT", "TI", "QT"):
            text, tags = text + entity, [*tags, f"B-{kind}", *[f"I-{kind}"] * (len(entity) - 1)]
        else:
            text, tags = text + part, [*tags, *["O"] * len(part)]
    return text, tuple(tags)


def sentence(marked: str, guid: str = "ner-0") -> Sentence:
    return Sentence(guid, *tagged(marked))


def block(marked: str, guid: str) -> str:
    text, tags = tagged(marked)
    lines = [f"{char}\t{tag}" for char, tag in zip(text, tags, strict=True)]
    return "\n".join([f"## {guid}\t{marked}", *lines]) + "\n"


def made_up(count: int, start: int = 0) -> list[str]:
    people, places = ["민수", "지영", "서준", "하은"], ["부산", "제주", "강릉"]
    return [
        f"<{people[n % 4]}:PS>가 <{n % 7 + 1}일:DT> <{places[n % 3]}:LC>에 갔다"
        for n in range(start, start + count)
    ]


def write_data(folder: Path, train: list[str], dev: list[str]) -> Path:
    place = folder / "klue_benchmark" / "klue-ner-v1.1"
    place.mkdir(parents=True)
    for split, marked in (("train", train), ("dev", dev)):
        blocks = [block(each, f"ner-{split}-{number}") for number, each in enumerate(marked)]
        text = HEADER + "\n".join(blocks) + "\n"
        (place / f"klue-ner-v1.1_{split}.tsv").write_text(text, encoding="utf-8")
    return folder / "klue_benchmark"


@pytest.fixture(scope="module", params=["always", "vocab"])
def tokenizer(request):
    return AutoTokenizer.from_pretrained(TOKENIZERS / request.param)


def test_reads_characters_with_spaces_and_says_what_stands_where(tmp_path):
    data_dir = write_data(tmp_path, ["<이 순신:PS> #1 <거북선:OG>", "가"], ["나", "다"])
    first, second = load_data(TASK, data_dir).train
    assert first == Sentence(
        "ner-train-0",
        "이 순신 #1 거북선",
        ("B-PS", *["I-PS"] * 3, *["O"] * 4, "B-OG", "I-OG", "I-OG"),
    )
    assert second.guid == "ner-train-1" and second.tags == ("O",)


def test_the_sample_is_read_whole():
    data = load_data(TASK, sample_folder() / "klue_benchmark")
    assert len(data.train) == 300 and len(data.dev) == 100 and not data.skipped
    assert {tag for each in data.train for tag in each.tags} == set(LABELS)


BAD = {
    "disagrees": ("## g1\t<김:PS>씨\n김\tO\n씨\tO\n", r"\(g1\).*<김:PS>"),
    "more blanks in the comment": ("## g1\t김 \n김\tO\n", r"\(g1\)"),
    "cut off": ("## g1\t김씨\n김\tO\n", r"\(g1\)"),
    "no such tag": ("## g1\t김\n김\tB-XX\n", r"\(g1\).*B-XX"),
    "no tag": ("## g1\t김\n김\n", r"\(g1\)"),
    "two characters": ("## g1\t김씨\n김씨\tO\n", r"\(g1\)"),
    "I- after nothing": ("## g1\t김\n김\tI-PS\n", r"\(g1\).*I-PS at character 0"),
    "I- after another type": ("## g1\t<김:PS>씨\n김\tB-PS\n씨\tI-LC\n", r"\(g1\).*I-LC"),
    "no guid": ("김\tO\n", "no line '## guid"),
    "no characters": ("## g1\t\n", r"\(g1\)"),
    "a guid twice": ("## ner-train-0\t김\n김\tO\n", "ner-train-0 stands at record 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_sentence_is_named_skipped_and_counted_or_stops(name, tmp_path):
    bad, message = BAD[name]
    data_dir = write_data(tmp_path, made_up(3), made_up(2))
    path = data_dir / "klue-ner-v1.1" / "klue-ner-v1.1_train.tsv"
    path.write_text(path.read_text(encoding="utf-8") + bad, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_data(TASK, data_dir)
    assert path.name in str(caught.value)
    data = load_data(TASK, data_dir, strict=False)
    assert len(data.train) == 3 and data.skipped == {"train": [str(caught.value)]}


def test_a_file_of_another_task(tmp_path):
    data_dir = write_data(tmp_path, made_up(3), made_up(2))
    path = data_dir / "klue-ner-v1.1" / "klue-ner-v1.1_dev.tsv"
    path.write_text('[{"guid": "nli-0"}]', encoding="utf-8")
    for strict in (True, False):
        with pytest.raises(DataError, match=r"_dev.tsv.*not data of the task ner"):
            load_data(TASK, data_dir, strict=strict)


def test_hub_rows_are_the_same_sentences():
    texts = [sentence(each) for each in made_up(5)]
    names = random.Random(0).sample(LABELS, len(LABELS))
    rows = [
        {"tokens": list(each.text), "ner_tags": [names.index(tag) for tag in each.tags]}
        for each in texts
    ]
    features = datasets.Features(
        {
            "tokens": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(datasets.ClassLabel(names=names)),
        }
    )
    read = read_hub(TASK, datasets.Dataset.from_list(rows, features=features), "train")
    assert [(each.text, each.tags) for each in read] == [(e.text, e.tags) for e in texts]
    assert len({each.guid for each in read}) == 5


def test_markup_is_that_of_the_files():
    for marked in made_up(20):
        assert marked_text(*tagged(marked)) == marked


HARD = [
    "뷁뷁 <서울:LC>에서 <홍길동:PS>이 👍🏽 <3월 1일:DT>",
    "\u1112\u119e\u11ab글 <서울:LC>에서 \u110f\u110f <홍길동:PS>이",
    "𠮷𠮷은 <大韓民國:LC>의 ♥ <김𠮷:PS>",
    "👨\u200d👩\u200d👧 <한강:LC> \ufeff<둘:QT>",
    "<뷁:PS> 뷁 <뷁뷁:OG>",
    "\u3000<서울:LC>\u00a0<부산:LC>\t<10%:QT>",
]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("marked", HARD)
def test_nothing_shifts_after_unknown_characters_jamo_and_emoji(marked, form, tokenizer, tmp_path):
    each = sentence(unicodedata.normalize(form, marked))
    only = write_encoder(tmp_path / "bert", ["서울에서홍길동이"])
    foreign = AutoTokenizer.from_pretrained(only)
    for used in (tokenizer, foreign):
        rows = TASK.encode([each], used, 64)
        tokens = rows.text_tokens()[0]
        edges = {edge for span in rows.spans[tokens].tolist() for edge in span}
        back = set(entities(oracle_tags([each], used)[0]))
        for entity in entities(each.tags):
            if {entity[0], entity[1]} <= edges:
                assert entity in back, (used, entity)
    # Of ours every entity here ends where a token does.
    assert set(entities(oracle_tags([each], tokenizer)[0])) == set(entities(each.tags))


def oracle_tags(sentences, tokenizer, max_length=64) -> list[list[str]]:
    rows = TASK.encode(sentences, tokenizer, max_length)
    certain = np.where(np.arange(len(LABELS)) == rows.labels[:, None], 0.0, -1e3)
    return TASK.decode(rows, np.split(certain, rows.offsets[1:-1]))


def test_gold_comes_back_wherever_tokens_end_with_entities(tokenizer):
    sentences = load_data(TASK, sample_folder() / "klue_benchmark").train
    rows = TASK.encode(sentences, tokenizer, 128)
    whole = 0
    for each, tokens, tags in zip(
        sentences, rows.text_tokens(), oracle_tags(sentences, tokenizer, 128), strict=True
    ):
        edges = {edge for span in rows.spans[tokens].tolist() for edge in span}
        gold, back = entities(each.tags), entities(tags)
        assert {e for e in gold if {e[0], e[1]} <= edges} <= back
        whole += gold == back
        covered = np.zeros(len(each.text), bool)
        for start, end in rows.spans[tokens].tolist():
            covered[start:end] = True
        assert all(
            char.isspace() for char, is_in in zip(each.text, covered, strict=True) if not is_in
        )
    assert whole >= 0.97 * len(sentences)


def test_windows_lose_no_gold_and_change_nothing(tokenizer):
    sentences = load_data(TASK, sample_folder() / "klue_benchmark").dev[:40]
    joined = [
        Sentence(a.guid, f"{a.text} {b.text}", (*a.tags, "O", *b.tags))
        for a, b in itertools.pairwise(sentences)
    ]
    whole = TASK.encode(joined, tokenizer, 128)
    for max_length in (8, 16, 33):
        cut = TASK.encode(joined, tokenizer, max_length)
        assert len(cut) > len(joined) and cut.lengths.max() <= max_length
        assert len(cut.text_tokens()) == len(joined)
        for long, short in zip(whole.text_tokens(), cut.text_tokens(), strict=True):
            for values in ("ids", "labels", "spans"):
                assert np.array_equal(getattr(whole, values)[long], getattr(cut, values)[short])
        assert oracle_tags(joined, tokenizer, max_length) == oracle_tags(joined, tokenizer, 128)


def test_a_token_in_two_windows_is_learnt_where_it_has_more_around_it(tokenizer):
    rows = TASK.encode([sentence("가 나 다 라 마 바 사 아 자 차 카 타 파 하")], tokenizer, 10)
    assert len(rows) > 1
    chosen = rows.text_tokens()[0]
    learnt = np.flatnonzero(rows.labels >= 0)
    assert sorted(chosen.tolist()) == learnt.tolist()
    for place in chosen:
        same = np.flatnonzero((rows.spans == rows.spans[place]).all(1))
        assert rows.spared[place] == rows.spared[same].max()


@pytest.mark.parametrize("mode, least", [("always", 99.0), ("vocab", 98.9)])
def test_oracle_on_real_data(mode, least, tmp_path):
    path = task_file("klue_benchmark", "klue-ner-v1.1_dev.tsv", tmp_path)
    sentences = [TASK.parse(lines, where) for where, lines in TASK.records(path)]
    assert len(sentences) == 5000
    result = oracle(sentences, kobert_kit.load_tokenizer(TOKENIZERS / mode))
    assert result["klue_ner_entity_macro_f1"] >= least
    assert result["ner_entity_macro_f1_per_sentence"] >= least


def all_valid(length: int, labels: list[str]):
    for tags in itertools.product(range(len(labels)), repeat=length):
        names = [labels[number] for number in tags]
        if all(
            not b.startswith("I-") or (a is not None and a[1:] == b[1:])
            for a, b in zip([None, *names], names, strict=False)
        ):
            yield tags, names


def test_decoding_is_the_best_of_all_valid_sequences():
    labels = ["B-PS", "I-PS", "O", "B-LC", "I-LC"]
    generator = np.random.default_rng(0)
    for _ in range(30):
        values = generator.normal(size=(4, 5)) * 3
        best = max(all_valid(4, labels), key=lambda pair: values[range(4), pair[0]].sum())
        assert best_tags(values, labels) == best[1]
    assert best_tags(np.zeros((0, 5)), labels) == []


def test_any_output_gives_valid_tags_for_every_character(tokenizer):
    sentences = load_data(TASK, sample_folder() / "klue_benchmark").dev
    rows = TASK.encode(sentences, tokenizer, 24)
    generator = np.random.default_rng(0)
    outputs = [generator.normal(size=(length, len(LABELS))) for length in rows.lengths]
    for each, tags in zip(sentences, TASK.decode(rows, outputs), strict=True):
        assert len(tags) == len(each.text)
        for before, tag in itertools.pairwise(["O", *tags]):
            assert not tag.startswith("I-") or before[1:] == tag[1:]


def test_characters_take_the_tags_of_their_tokens():
    #      이 순 신 _ 장 군 은 _ _ 봤 다
    spans = [(0, 3), (4, 6), (6, 7), (9, 11)]
    assert tags_of_characters(11, ["B-PS", "I-PS", "O", "B-LC"], spans) == [
        *["B-PS", "I-PS", "I-PS", "I-PS", "I-PS", "I-PS", "O", "O", "O", "B-LC", "I-LC"]
    ]


def test_the_baseline_finds_no_entity():
    values = majority(TASK, sample_folder() / "klue_benchmark")
    assert values["klue_ner_entity_macro_f1"] == 0.0
    assert 0 < values["klue_ner_char_macro_f1"] < 100 / 13


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_encoder_learns_and_its_predictions_give_its_scores(kind, tmp_path):
    data_dir = write_data(tmp_path, made_up(84), made_up(21, start=1000))
    model = write_encoder(tmp_path / kind, made_up(84), kind)
    settings = FinetuneSettings(epochs=8, batch_size=8, learning_rate=1e-2, max_length=12)
    finetune(TASK, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert last["klue_ner_entity_macro_f1"] > 80
    rows = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    dev = load_data(TASK, data_dir).dev
    assert [(row["guid"], tuple(row["gold"])) for row in rows] == [(e.guid, e.tags) for e in dev]
    assert scores(dev, [row["pred"] for row in rows]) == pytest.approx(last)
    for row, each in zip(rows, dev, strict=True):
        for entity in row["entities"]:
            assert each.text[entity["start"] : entity["end"]] == entity["text"]
    counts = np.array(json.loads((seed / "confusion.json").read_text())["counts"])
    assert counts.sum() == sum(len(each.text) for each in dev)
    loaded = AutoModelForTokenClassification.from_pretrained(seed)
    assert [loaded.config.id2label[n] for n in range(13)] == list(LABELS)


def test_the_command_skips_counts_and_stops_when_strict(tmp_path, capsys):
    data_dir = write_data(tmp_path, made_up(20), made_up(6))
    model = write_encoder(tmp_path / "model", made_up(20))
    path = data_dir / "klue-ner-v1.1" / "klue-ner-v1.1_dev.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "## bad-1\t<김:PS>\n김\tO\n", "utf-8")
    command = ["klue", "--task", "ner", "--model", str(model), "--data-dir", str(data_dir)]
    command += ["--epochs", "1", "--threads", "1"]
    with pytest.raises(SystemExit) as caught:
        main([*command, "--strict", "--output", str(tmp_path / "strict")])
    assert caught.value.code == 1 and "(bad-1)" in capsys.readouterr().err
    main([*command, "--output", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert "(bad-1)" in said and "dev: 1 bad record skipped" in said
    assert "klue_ner_entity_macro_f1" in said
    metrics = json.loads((tmp_path / "out" / "ner" / "seed-0" / "metrics.json").read_text())
    assert metrics["skipped"] == {"dev": 1} and metrics["examples"]["dev"] == 6
