"""A BERT to go on from: anybody's, with its own tokenizer."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForMaskedLM, BertForMaskedLM
from transformers.utils import cached_file

from kobert_kit.console import quiet_transformers
from kobert_kit.errors import DataError
from kobert_kit.pretrain.recorded import check_recorded_tokenizer
from kobert_kit.tokenizer.entries import require_wordpiece
from kobert_kit.tokenizer.folder import SPECIAL_TOKENS
from kobert_kit.tokenizer.loading import others_tokenizer
from kobert_kit.tokenizer.subject import Subject, open_subject

log = logging.getLogger(__name__)


@dataclass
class Initial:
    """``model`` with float32 weights, and its tokenizer, opened.

    ``folder`` is on this machine: for a name on the hub, that of the library's cache with what was
    downloaded. The tokenizer's files are there, to be copied.
    """

    folder: Path
    model: BertForMaskedLM
    tokenizer: Subject


def load_initial(name: str, seed: int = 0) -> Initial:
    """The BERT in the folder ``name``, or of that name on the Hugging Face hub.

    A prediction head that is not in it starts anew, from ``seed``, with a warning. Its pooler,
    which masked language modelling does not train, is left out.

    Raises:
        DataError: there is none; it is another architecture; its tokenizer is not a fast WordPiece
            with BERT's special tokens, or not the model's; weights of the encoder are lacking, or
            no numbers.
    """
    config = _config(name)
    if config.model_type != "bert":
        raise DataError(f"{name}: a model of the type '{config.model_type}', and not a BERT")
    folder = _local(name)
    check_recorded_tokenizer(folder, name)
    tokenizer = open_subject(str(folder))
    require_wordpiece(tokenizer)
    for role in SPECIAL_TOKENS:
        tokenizer.special_id(role)
    needed = max(tokenizer.native.get_vocab().values()) + 1
    if config.vocab_size < needed:
        raise DataError(
            f"{name}: the model has {config.vocab_size:,} embeddings, its tokenizer ids up to "
            f"{needed - 1:,}; they do not belong together"
        )
    return Initial(folder, _weights(name, seed), tokenizer)


def _config(name: str) -> Any:
    if Path(name).is_dir() and not (Path(name) / "config.json").is_file():
        raise DataError(f"{name}: no config.json, so this is no finished model folder")
    if not Path(name).is_dir() and (name.startswith((".", "~", "/")) or name.count("/") > 1):
        raise DataError(f"{name}: no such folder")
    try:
        return AutoConfig.from_pretrained(name)
    except Exception as error:  # the library raises OSError, ValueError, KeyError, Exception
        if Path(name).is_dir():
            check_recorded_tokenizer(Path(name), name)  # which says so of an unfinished folder
        raise DataError(
            f"{name}: neither a model folder nor a model that can be had from the hub "
            f"({_first_line(error)})"
        ) from None


def _local(name: str) -> Path:
    if Path(name).is_dir():
        return Path(name)
    others_tokenizer(name)  # which downloads its files to where the configuration lies
    return Path(cached_file(name, "config.json")).parent


def _weights(name: str, seed: int) -> BertForMaskedLM:
    torch.manual_seed(seed)  # for a head that is not there
    try:
        with quiet_transformers():
            model, loading = AutoModelForMaskedLM.from_pretrained(
                name,
                dtype=torch.float32,
                attn_implementation="sdpa",  # which takes a mask of booleans
                output_loading_info=True,
            )
    except Exception as error:  # OSError, SafetensorError, RuntimeError
        raise DataError(f"{name}: no weights to load ({_first_line(error)})") from None
    lacking = sorted(loading["missing_keys"])
    encoder = [key for key in lacking if key.startswith("bert.")]
    if encoder:  # transformers would go on with random weights in their place
        raise DataError(
            f"{name}: {len(encoder)} weights of the encoder are not in it ({encoder[0]}, ...)"
        )
    bad = next((key for key, value in model.named_parameters() if not value.isfinite().all()), None)
    if bad is not None:
        raise DataError(
            f"{name}: its weights {bad} are not all numbers, as of a run that diverged; name "
            "another model"
        )
    if lacking:
        log.warning("%s has no prediction head: it starts with a new one", name)
    loaded: BertForMaskedLM = model
    return loaded


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
