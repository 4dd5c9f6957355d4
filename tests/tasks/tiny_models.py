"""Encoders of a few weights, of every kind that `klue` takes, with a vocabulary of characters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from transformers import (
    AutoModelForMaskedLM,
    BertConfig,
    BertTokenizerFast,
    DistilBertConfig,
    ElectraConfig,
    ModernBertConfig,
    RobertaConfig,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CONFIGS = {
    "bert": BertConfig,
    "roberta": RobertaConfig,  # as klue/roberta-base: with a BERT tokenizer and one segment
    "electra": ElectraConfig,
    "modernbert": ModernBertConfig,
    "distilbert": DistilBertConfig,  # no segments, and names of its own
}
LONGEST = 128


def write_encoder(folder: Path, texts: Iterable[str], kind: str = "bert") -> Path:
    """A random encoder whose tokens are the single characters of ``texts``."""
    characters = sorted({char for text in texts for char in text if not char.isspace()})
    entries = [*SPECIAL, *characters, *(f"##{char}" for char in characters)]
    ids = {entry: number for number, entry in enumerate(entries)}
    tokenizer = BertTokenizerFast(vocab=ids, do_lower_case=False, model_max_length=LONGEST)
    tokenizer.save_pretrained(folder)
    values = {
        "vocab_size": len(entries),
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": LONGEST + 2,
        "initializer_range": 0.1,  # learns within seconds
        "pad_token_id": 0,
    }
    if kind == "modernbert":
        special = {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
        values |= special
    elif kind == "distilbert":
        values |= {
            "hidden_dim": 64,
            "dropout": 0.0,
            "attention_dropout": 0.0,
            "seq_classif_dropout": 0.0,
        }
    else:
        values |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if kind == "roberta":
        values["type_vocab_size"] = 1
    if kind == "electra":
        values["embedding_size"] = 32
    torch.manual_seed(0)
    AutoModelForMaskedLM.from_config(CONFIGS[kind](**values)).save_pretrained(folder)
    return folder
