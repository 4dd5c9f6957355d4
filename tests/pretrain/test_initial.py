"""What pretraining can go on from, and what it refuses with a line that says why."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from foreign_bert import vocabulary, write_bert
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models
from transformers import DistilBertConfig, DistilBertModel, PreTrainedTokenizerFast

from kobert_kit.errors import DataError
from kobert_kit.pretrain.initial import load_initial

ENTRIES = vocabulary("고양이는 시장에 갔다.", ["고양이", "##는"])


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return write_bert(tmp_path / "bert", ENTRIES)


def edit(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_the_model_and_its_own_tokenizer(bert: Path):
    initial = load_initial(str(bert))
    assert initial.folder == bert and initial.model.dtype == torch.float32
    weight = load_file(bert / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(initial.model.get_input_embeddings().weight, weight)
    (encoding,) = initial.tokenizer.encode(["고양이는 [MASK]"])
    assert encoding.tokens[:2] == ["고양이", "##는"] and "[MASK]" not in encoding.tokens
    roles = {"pad_token": 0, "unk_token": 1, "cls_token": 2, "sep_token": 3, "mask_token": 4}
    assert {role: initial.tokenizer.special_id(role) for role in roles} == roles


def test_a_name_on_the_hub(bert: Path, tmp_path: Path):
    """From the library's cache, laid out as the hub's client does."""
    repository = tmp_path / "cache" / "models--somebody--bert"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("0" * 40)
    (repository / "snapshots").mkdir()
    bert.rename(repository / "snapshots" / ("0" * 40))
    program = (
        "from kobert_kit.pretrain.initial import load_initial\n"
        "initial = load_initial('somebody/bert')\n"
        "assert (initial.folder / 'tokenizer.json').is_file()\n"
        "print(*initial.tokenizer.encode(['고양이는'])[0].tokens)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={"HF_HUB_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
        | {"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.split() == ["고양이", "##는"], done.stderr


def test_a_model_without_a_prediction_head_gets_a_new_one(bert: Path, caplog):
    path = bert / "model.safetensors"
    encoder = {name: w for name, w in load_file(path).items() if name.startswith("bert.")}
    save_file(encoder, path, metadata={"format": "pt"})
    with caplog.at_level(logging.WARNING):
        heads = [load_initial(str(bert), seed).model.cls.state_dict() for seed in (0, 0, 1)]
    assert "no prediction head" in caplog.text
    name = "predictions.transform.dense.weight"
    assert torch.equal(heads[0][name], heads[1][name]), "so that every process has the same"
    assert not torch.equal(heads[0][name], heads[2][name])


def test_weights_that_are_no_numbers_are_refused(bert: Path):
    weights = load_file(bert / "model.safetensors")
    weights["bert.encoder.layer.0.output.dense.weight"][3, 5] = float("nan")
    save_file(weights, bert / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"layer\.0\.output\.dense\.weight are not all numbers"):
        load_initial(str(bert))


def test_what_is_refused(bert: Path, tmp_path: Path):
    def fails(message: str, name: Path | str = bert) -> None:
        with pytest.raises(DataError, match=message):
            load_initial(str(name))

    fails("no such folder", tmp_path / "none")
    fails(r"no config\.json", tmp_path)
    other = tmp_path / "distil"
    config = DistilBertConfig(vocab_size=99, dim=8, n_layers=1, n_heads=2, hidden_dim=8)
    DistilBertModel(config).save_pretrained(other)
    fails("of the type 'distilbert', and not a BERT", other)
    weights = load_file(bert / "model.safetensors")
    lacking = {name: w for name, w in weights.items() if "layer.0.output" not in name}
    save_file(lacking, bert / "model.safetensors", metadata={"format": "pt"})
    fails(r"weights of the encoder are not in it \(bert\.encoder\.layer\.0\.output")
    (bert / "model.safetensors").write_bytes(b"half")
    fails("no weights to load")
    edit(bert / "config.json", vocab_size=len(ENTRIES) - 1)
    fails(f"{len(ENTRIES) - 1} embeddings, its tokenizer ids up to {len(ENTRIES) - 1}")
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n가\n")
    edit(bert / "tokenizer_config.json", mask_token=None)
    fails("the tokenizer has no mask_token")
    unigram = Tokenizer(models.Unigram([("<unk>", 0.0), ("가", -1.0)], unk_id=0))
    PreTrainedTokenizerFast(tokenizer_object=unigram).save_pretrained(bert)
    fails("its tokenizer is a Unigram, and not BERT's")


@pytest.mark.parametrize("config", ["", '{"model_', "[]"])
def test_a_folder_that_a_kill_left_is_called_unfinished(config: str, tmp_path: Path):
    """Also where the kill fell while config.json was written."""
    (tmp_path / ".extend-vocab.unfinished").touch()
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(DataError, match="unfinished; run the same"):
        load_initial(str(tmp_path))
