"""KLUE-RE: reading, markers that leave the tokens as they are, and learning."""

from __future__ import annotations

import json
import random
import unicodedata
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest
from real_text import task_file
from tiny_models import CONFIGS, write_encoder
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
)

from kobert_kit.cli import main
from kobert_kit.corpus.sample import sample_folder
from kobert_kit.errors import DataError
from kobert_kit.finetune.baseline import majority
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.catalogue import get_task
from kobert_kit.tasks.data import find_misfits, leave_out, load_data
from kobert_kit.tasks.hub import read_hub
from kobert_kit.tasks.relation import LABELS, PLAIN, TASK, Entity, Pair, scores
from kobert_kit.tasks.windows import surface

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
NAME = "klue-re-v1.1/klue-re-v1.1"


@pytest.fixture(scope="module", params=["always", "vocab"])
def tokenizer(request):
    return AutoTokenizer.from_pretrained(TOKENIZERS / request.param)


def entity(sentence: str, word: str, kind: str) -> dict:
    start = sentence.index(word)
    return {"word": word, "start_idx": start, "end_idx": start + len(word) - 1, "type": kind}


def made_up(count: int, start: int = 0) -> list[dict]:
    """The relation follows from the verb."""
    people, verbs = ["민수", "지영", "서준", "하은"], ["낳았다", "가르쳤다", "만났다"]
    labels = ["per:children", "per:colleagues", "no_relation"]
    records = []
    for number in range(start, start + count):
        one, other = people[number % 4], people[(number + 1 + number // 4 % 3) % 4]
        sentence = f"{one}가 {other}를 {verbs[number % 3]}"
        records.append(
            {
                "guid": f"re-{number}",
                "sentence": sentence,
                "subject_entity": entity(sentence, one, "PER"),
                "object_entity": entity(sentence, other, "PER"),
                "label": labels[number % 3],
                "source": "",
            }
        )
    return records


def write_data(folder: Path, train: list[dict], dev: list[dict]) -> Path:
    for split, records in (("train", train), ("dev", dev)):
        path = folder / f"{NAME}_{split}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    return folder


def pair(sentence: str, subject: str, other: str) -> Pair:
    found = [
        Entity(sentence.index(word), sentence.index(word) + len(word), kind)
        for word, kind in ((subject, "PER"), (other, "ORG"))
    ]
    return Pair("re-0", sentence, *found, "no_relation")


def test_the_sample_is_read_whole():
    data = load_data(TASK, sample_folder() / "klue_benchmark")
    assert not data.skipped and len(data.train) > 100
    path = sample_folder() / "klue_benchmark" / "klue-re-v1.1" / "relation_list.json"
    assert json.loads(path.read_text(encoding="utf-8"))["relations"] == list(LABELS)


def test_official_records_and_the_hubs_are_the_same_pairs(tmp_path):
    records = made_up(6)
    read = load_data(TASK, write_data(tmp_path, records, records)).train
    assert read[1] == Pair(
        "re-1",
        "지영가 서준를 가르쳤다",
        Entity(0, 2, "PER"),
        Entity(4, 6, "PER"),
        "per:colleagues",
    )
    names = random.Random(0).sample(LABELS, len(LABELS))
    rows = [record | {"label": names.index(record["label"])} for record in records]
    dataset = datasets.Dataset.from_list(rows)
    dataset = dataset.cast_column("label", datasets.ClassLabel(names=names))
    assert read_hub(TASK, dataset, "train") == read


BAD = {
    "a word elsewhere": (
        lambda r: r["subject_entity"].update(start_idx=1, end_idx=2),
        r"record 2 \(re-1\): 'subject_entity' is '지영', but characters 1 to 2 are '영가'",
    ),
    "an offset before the sentence": (
        lambda r: r["object_entity"].update(start_idx=-3, end_idx=-2),
        r"\(re-1\): 'object_entity'",
    ),
    "no entity": (lambda r: r.pop("object_entity"), r"\(re-1\): no 'object_entity'"),
    "an unknown type": (lambda r: r["subject_entity"].update(type="DOG"), r"'DOG'; expected .*PER"),
    "an unknown label": (lambda r: r.update(label="per:dog"), r"\(re-1\): 'label' is 'per:dog'"),
    "an empty sentence": (lambda r: r.update(sentence=""), r"\(re-1\): 'sentence' is empty"),
    "a guid twice": (lambda r: r.update(guid="re-0"), "re-0 stands at record 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_pair_is_named_skipped_and_counted_or_stops(name, tmp_path):
    change, message = BAD[name]
    records = made_up(5)
    change(records[1])
    data_dir = write_data(tmp_path, records, made_up(3))
    with pytest.raises(DataError, match=message):
        load_data(TASK, data_dir)
    data = load_data(TASK, data_dir, strict=False)
    assert len(data.train) == 4 and len(data.skipped["train"]) == 1


def parts(task, each: Pair, tokenizer, max_length: int = 256):
    """The row without markers, and what stands between each pair of markers."""
    row = task.encode([each], tokenizer, max_length).ids.tolist()
    names = {len(tokenizer) + n: name for n, name in enumerate(task.added_tokens)}
    plain, inside, open_ = [], {}, set()
    for token in row:
        if token in names:
            name = names[token]
            kind = name.strip("[]/")
            if name.startswith("[/"):
                open_.remove(kind)
            else:
                open_.add(kind)
                inside[kind] = []
        else:
            plain.append(token)
            for kind in open_:
                inside[kind].append(token)
    assert not open_
    return plain, inside


HARD = [
    ("뷁뷁 👍🏽 김민수는 한국은행에서 일한다.", "김민수", "한국은행"),
    ("한국은행의 김민수가", "김민수", "한국은행"),
    ("\u1112\u119e\u11ab글 김민수(30)는 '대한민국'의", "김민수", "대한민국"),
    ("김민수·한국은행", "김민수", "한국은행"),
    ("𠮷𠮷은 大韓의 김𠮷을", "김𠮷", "大韓"),
]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("sentence, subject, other", HARD)
def test_markers_leave_every_token_as_it_was(sentence, subject, other, form, tokenizer):
    sentence, subject, other = (unicodedata.normalize(form, t) for t in (sentence, subject, other))
    each = pair(sentence, subject, other)
    encoding = tokenizer(sentence, return_offsets_mapping=True)
    spans = [surface(sentence, *span) for span in encoding["offset_mapping"]]
    for task, kinds in ((TASK, ("S:PER", "O:ORG")), (PLAIN, ("S", "O"))):
        plain, inside = parts(task, each, tokenizer)
        assert plain == encoding["input_ids"]
        for kind, found in zip(kinds, (each.subject, each.object), strict=True):
            wanted = [
                token
                for token, (start, end) in zip(encoding["input_ids"], spans, strict=True)
                if start < found.end and end > found.start
            ]
            assert inside[kind] == wanted


def test_a_particle_after_a_marker_keeps_its_form(tokenizer):
    each = pair("김민수는 한국은행에서 일한다.", "김민수", "한국은행")
    row = TASK.encode([each], tokenizer, 64).ids.tolist()
    names = dict(enumerate(TASK.added_tokens, start=len(tokenizer)))
    tokens = [names.get(n) or tokenizer.convert_ids_to_tokens(n) for n in row]
    assert tokens[tokens.index("[/S:PER]") + 1] == "##는"
    assert tokens[tokens.index("[/O:ORG]") + 1] == "##에서"
    assert "[UNK]" not in tokens


def test_a_long_sentence_is_cut_around_its_entities(tokenizer):
    for before, between, after in ((90, 3, 0), (0, 3, 90), (60, 10, 60), (5, 0, 0)):
        sentence = "가 " * before + "김민수는 " + "나 " * between + "한국은행 " + "다 " * after
        each = pair(sentence, "김민수", "한국은행")
        whole, inside_whole = parts(TASK, each, tokenizer, 512)
        cut, inside = parts(TASK, each, tokenizer, 40)
        assert inside == inside_whole
        assert len(cut) == min(len(whole), 40 - 4)
        middle = cut[1:-1]
        assert any(
            whole[at : at + len(middle)] == middle for at in range(len(whole) - len(middle) + 1)
        )


def test_a_pair_that_no_row_holds(tmp_path, tokenizer):
    data = load_data(TASK, write_data(tmp_path, made_up(3), made_up(3)))
    far = pair("김민수는 " + "나 " * 60 + "한국은행", "김민수", "한국은행")
    data.dev[1] = replace(far, guid="far")
    with pytest.raises(DataError, match=r"re dev \(far\): from one entity to the other"):
        leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 32), strict=True)
    kept = leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 32), strict=False)
    assert len(kept.skipped["dev"]) == 1 and [e.guid for e in kept.dev] == ["re-0", "re-2"]
    found = find_misfits(TASK, data, tokenizer, 128)
    assert leave_out(TASK, data, found, strict=True).dev == data.dev


def test_real_pairs(tmp_path, tokenizer):
    path = task_file("klue_benchmark", "klue-re-v1.1_dev.json", tmp_path)
    pairs = [TASK.parse(record, where) for where, record in TASK.records(path)]
    assert len(pairs) == 7765
    for each in pairs[::40]:
        plain, inside = parts(TASK, each, tokenizer, 512)
        assert plain == tokenizer(each.sentence)["input_ids"]
        assert len(inside) == 2 and all(inside.values())
    assert len(TASK.misfits(pairs[::10], tokenizer, 128)) < 10


def test_the_baseline_says_how_frequent_relations_are():
    values = majority(TASK, sample_folder() / "klue_benchmark")
    assert values["klue_re_micro_f1"] == 0.0 or values["re_accuracy"] < 60
    assert 40 < values["klue_re_auprc"] < 60  # a constant has about 50


@pytest.mark.parametrize("kind, task", [("bert", "re-plain"), *((kind, "re") for kind in CONFIGS)])
def test_every_kind_of_encoder_learns_and_its_predictions_give_its_scores(kind, task, tmp_path):
    data_dir = write_data(tmp_path, made_up(60), made_up(24, start=1200))
    model = write_encoder(tmp_path / kind, [each["sentence"] for each in made_up(24)], kind)
    settings = FinetuneSettings(epochs=15, batch_size=8, learning_rate=1e-2, max_length=24)
    used = get_task(task)
    finetune(used, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert last["klue_re_micro_f1"] > 70
    lines = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    dev = load_data(used, data_dir).dev
    assert [(line["guid"], line["gold"]) for line in lines] == [(e.guid, e.label) for e in dev]
    for line in lines:
        assert line["pred"] == max(line["probabilities"], key=line["probabilities"].get)
    rows = [np.array([line["probabilities"][label] for label in LABELS]) for line in lines]
    assert scores([line["gold"] for line in lines], rows) == pytest.approx(last)
    loaded = AutoModelForSequenceClassification.from_pretrained(seed)
    tokenizer = AutoTokenizer.from_pretrained(seed)
    base = len(AutoTokenizer.from_pretrained(model))
    assert tokenizer.convert_tokens_to_ids(list(used.added_tokens)) == list(
        range(base, base + len(used.added_tokens))
    )
    assert len(tokenizer) <= loaded.config.vocab_size


@pytest.mark.parametrize("mode", ["always", "vocab"])
def test_our_tokenizers_are_saved_with_the_markers(mode, tmp_path):
    source = AutoTokenizer.from_pretrained(TOKENIZERS / mode)
    source.save_pretrained(tmp_path / "model")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = BertConfig(vocab_size=len(source), intermediate_size=8, **sizes)
    BertForMaskedLM(config).save_pretrained(tmp_path / "model")
    data_dir = write_data(tmp_path, made_up(8), made_up(4))
    settings = FinetuneSettings(epochs=1, max_length=32)
    finetune(TASK, tmp_path / "model", data_dir, tmp_path / "out", settings, [0], print, threads=1)
    saved = AutoTokenizer.from_pretrained(tmp_path / "out" / "seed-0")
    assert type(saved) is type(source)
    for each in made_up(4):
        text = each["sentence"]
        assert saved(text)["input_ids"] == source(text)["input_ids"]
    assert saved.convert_tokens_to_ids(TASK.added_tokens[0]) == len(source)


def test_the_command(tmp_path, capsys):
    data_dir = write_data(tmp_path, made_up(12), made_up(6))
    model = write_encoder(tmp_path / "model", [each["sentence"] for each in made_up(12)])
    command = ["klue", "--task", "re", "--model", str(model), "--data-dir", str(data_dir)]
    main([*command, "--epochs", "1", "--threads", "1", "--output", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert "klue_re_micro_f1" in said and "klue_re_auprc" in said
    text = (tmp_path / "out" / "re" / "seed-0" / "confusion.txt").read_text(encoding="utf-8")
    assert "per:title" in text


@pytest.mark.parametrize("task", [TASK, PLAIN])
def test_a_fine_tuned_models_tokenizer_gives_the_same_rows(task, tokenizer, tmp_path):
    """It has the markers by then, and a sentence may hold what looks like one."""
    sentence = "민수가 [S] 자리의 지영을 [/O:PER] [S:PER]에서 만났다"
    pairs = [pair(sentence, "민수", "지영")]
    before = task.encode(pairs, tokenizer, 64)
    tokenizer.save_pretrained(tmp_path)
    later = AutoTokenizer.from_pretrained(tmp_path)
    later.add_tokens(list(task.added_tokens), special_tokens=True)
    later.save_pretrained(tmp_path)
    after = task.encode(pairs, AutoTokenizer.from_pretrained(tmp_path), 64)
    assert before.ids.tolist() == after.ids.tolist()
    assert sum(before.ids >= len(tokenizer)) == 4
