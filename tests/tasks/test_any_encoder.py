"""Every kind of encoder with every kind of head; tests of ner, re and mrc have theirs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from klue_sample import nli_records, write_split
from own_sample import korquad, texts_of, write_ready
from test_ner import made_up, write_data
from tiny_models import CONFIGS, LONGEST, write_encoder
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertTokenizerFast,
    DistilBertConfig,
    RobertaConfig,
    RobertaForMaskedLM,
)

from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.model import ModelFolder, build_classifier, open_model_folder
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.catalogue import TASKS, get_task
from kobert_kit.tokenizer.loading import tokenizer_fingerprint

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
QUICK = FinetuneSettings(epochs=8, batch_size=8, learning_rate=1e-2, max_length=48)


def write_ours(folder: Path, mode: str) -> Path:
    """A random BERT of a few weights with the tokenizer of this repository."""
    tokenizer = AutoTokenizer.from_pretrained(TOKENIZERS / mode)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
    )
    torch.manual_seed(0)
    BertForMaskedLM(config).save_pretrained(folder)
    for path in (TOKENIZERS / mode).iterdir():
        if path.name != "kobert_kit.json":  # which says that it is a tokenizer alone
            shutil.copy(path, folder)
    return folder


def with_vocab_txt_alone(folder: Path) -> Path:
    """The tokenizer as older BERTs have it: vocab.txt and a few settings."""
    vocabulary = BertTokenizerFast.from_pretrained(folder).get_vocab()
    for path in folder.glob("*token*"):
        path.unlink()
    entries = sorted(vocabulary, key=vocabulary.__getitem__)
    (folder / "vocab.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
    settings = {"do_lower_case": False, "model_max_length": LONGEST}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def write_data_of(task: str, folder: Path) -> Path:
    if task == "nli":
        write_split(folder, "klue-nli-v1.1", "train", nli_records(90))
        write_split(folder, "klue-nli-v1.1", "dev", nli_records(30, start=1000))
    elif task == "ner":
        write_data(folder, made_up(60), made_up(21, start=1000))
    elif task == "mrc":
        for split in ("train", "dev"):
            korquad(folder, f"KorQuAD_v1.0_{split}.json", 40)
    else:
        write_ready(task, folder)
    return folder


def learn(task: str, model: Path, data_dir: Path, output: Path) -> float:
    settings = QUICK if task != "mrc" else FinetuneSettings(**{**vars(QUICK), "max_length": 32})
    found = get_task(task)
    finetune(found, model, data_dir, output, settings, [0], print, threads=1)
    seed = output / "seed-0"
    assert found.head.auto.from_pretrained(seed).config.vocab_size > 5
    assert len(AutoTokenizer.from_pretrained(seed)("가 나", "다")["input_ids"]) >= 5
    return json.loads((seed / "metrics.json").read_text())["last"][found.headline]


@pytest.mark.parametrize("task", ["nli", "kobest-copa"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_kinds_of_encoder(kind, task, tmp_path):
    data_dir = write_data_of(task, tmp_path / "data")
    model = write_encoder(tmp_path / kind, texts_of(data_dir), kind)
    assert learn(task, model, data_dir, tmp_path / "out") > 80


@pytest.mark.parametrize("task", ["nli", "ner", "mrc", "kobest-copa"])
@pytest.mark.parametrize("mode", ["vocab", "always"])
def test_our_tokenizer(mode, task, tmp_path):
    data_dir = write_data_of(task, tmp_path / "data")
    assert learn(task, write_ours(tmp_path / mode, mode), data_dir, tmp_path / "out") > 80


@pytest.mark.parametrize("task", ["nli", "ner", "mrc", "kobest-copa"])
def test_a_folder_with_vocab_txt_alone(task, tmp_path):
    data_dir = write_data_of(task, tmp_path / "data")
    texts = texts_of(data_dir)
    if task == "nli":  # whose JSON escapes the texts
        texts = [value for record in nli_records(90) for value in map(str, record.values())]
    model = with_vocab_txt_alone(write_encoder(tmp_path / "model", texts))
    assert learn(task, model, data_dir, tmp_path / "out") > 80


@pytest.mark.parametrize("task", ["nli", "ner", "mrc", "kobest-copa"])
def test_a_roberta_with_vocab_json_and_merges_alone(task, tmp_path):
    data_dir = write_data_of(task, tmp_path / "data")
    bytewise = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bytewise.train_from_iterator(["비가 온다"], vocab_size=300, special_tokens=special)
    model = write_encoder(tmp_path / "model", ["가"], "roberta")
    for path in model.glob("*token*"):
        path.unlink()
    bytewise.save_model(str(model))
    config = RobertaConfig.from_pretrained(model, vocab_size=bytewise.get_vocab_size())
    config.max_position_embeddings, config.pad_token_id = 514, 1
    RobertaForMaskedLM(config).save_pretrained(model)
    learn(task, model, data_dir, tmp_path / "out")
    before = tokenizer_fingerprint(model)
    vocabulary = json.loads((model / "vocab.json").read_text(encoding="utf-8"))
    vocabulary["!"], vocabulary["a"] = vocabulary["a"], vocabulary["!"]
    (model / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    assert tokenizer_fingerprint(model) != before


@pytest.mark.parametrize("settings", [None, {"model_max_length": 64}, {"do_lower_case": True}])
def test_a_tokenizer_that_takes_hangul_apart_is_refused(settings, tmp_path):
    folder = with_vocab_txt_alone(write_encoder(tmp_path / "model", ["가나다라 abc"]))
    (folder / "tokenizer_config.json").unlink()
    if settings is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(DataError, match=r'none of the Hangul .*"do_lower_case": false'):
        open_model_folder(folder)


@pytest.mark.parametrize(
    "settings", [{"do_lower_case": False}, {"do_lower_case": True, "strip_accents": False}]
)
def test_one_that_leaves_it_whole_is_not(settings, tmp_path):
    folder = with_vocab_txt_alone(write_encoder(tmp_path / "model", ["가나다라 abc"]))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    assert "가" in open_model_folder(folder).tokenizer.tokenize("가")


@pytest.mark.parametrize("kind", CONFIGS)
def test_the_longest_row_is_what_the_model_has_positions_for(kind, tmp_path):
    folder = open_model_folder(write_encoder(tmp_path, ["가나"], kind))
    folder.tokenizer.model_max_length = 10**30  # as where no file says it
    positions = folder.config.max_position_embeddings
    longest = positions - 1 if kind == "roberta" else positions  # its padding is number 0
    with pytest.raises(UsageError, match=f"between 8 and {longest} for"):
        folder.max_length(longest + 1, 128)
    ids = torch.full((1, folder.max_length(longest, 128)), 5)
    model = build_classifier(folder, TASKS["ynat"], from_scratch=False, seed=0)
    assert model(input_ids=ids).logits.isfinite().all()


def test_a_model_without_segments_is_given_none(tmp_path):
    folders = [
        ModelFolder(tmp_path, config, None)
        for config in (BertConfig(), BertConfig(type_vocab_size=1), DistilBertConfig())
    ]
    assert [folder.takes_token_types for folder in folders] == [True, False, False]
