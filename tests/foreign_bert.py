"""A small BERT of somebody else's making, laid out as such models are on the hub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from tokenizers import AddedToken
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SPARE_ROWS = 3


def vocabulary(text: str, entries: Iterable[str] = (), slots: int = 4) -> list[str]:
    """Special tokens, slots, every character of ``text`` in both forms, and ``entries``."""
    characters = sorted({char for char in text if not char.isspace()})
    unused = [f"[unused{number}]" for number in range(slots)]
    inside = (f"##{char}" for char in characters)
    return list(dict.fromkeys([*SPECIAL, *unused, *characters, *inside, *entries]))


def write_bert(
    folder: Path,
    entries: Sequence[str],
    *,
    files: Iterable[str] = ("tokenizer.json", "vocab.txt"),
    added: Sequence[AddedToken] = (),
    tied: bool = True,
) -> Path:
    """A BertForMaskedLM with random weights, biases too, and a tokenizer over ``entries``.

    ``files`` are those of the vocabulary that the folder has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ids = {entry: number for number, entry in enumerate(entries)}
    tokenizer = BertTokenizerFast(vocab=ids, do_lower_case=False, model_max_length=64)
    tokenizer.add_tokens(list(added))
    tokenizer.save_pretrained(folder)
    if "tokenizer.json" not in files:
        (folder / "tokenizer.json").unlink()
    if "vocab.txt" in files:
        (folder / "vocab.txt").write_text("".join(f"{entry}\n" for entry in entries))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer) + SPARE_ROWS,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        tie_word_embeddings=tied,
    )
    model = BertForMaskedLM(config)
    torch.nn.init.normal_(model.cls.predictions.decoder.bias)
    model.save_pretrained(folder)
    return folder


def listed_as_added(folder: Path, entries: Sequence[str]) -> None:
    """Also list ``entries`` where version 4 of transformers lists added tokens."""
    path = folder / "tokenizer_config.json"
    values = json.loads(path.read_text())
    added = json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
    values["added_tokens_decoder"] = {
        str(token.pop("id")): token for token in added if token["content"] in (*SPECIAL, *entries)
    }
    path.write_text(json.dumps(values))
