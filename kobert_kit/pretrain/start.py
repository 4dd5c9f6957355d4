"""What a run starts from: a tokenizer and random weights, or a BERT with its own tokenizer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from transformers import BertForMaskedLM

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.initial import load_initial
from kobert_kit.pretrain.model import fill_untrained_embeddings, new_model
from kobert_kit.pretrain.settings import PretrainSettings, longest, recipe
from kobert_kit.records import fingerprint_files
from kobert_kit.tokenizer.loading import check_tokenizer, tokenizer_fingerprint
from kobert_kit.tokenizer.recipe import check_analyser, read_recipe
from kobert_kit.tokenizer.subject import Subject, open_subject

# What a preset says of the encoder, which a BERT that is there decides itself.
_OF_THE_ENCODER = ("layers", "hidden", "heads", "dropout")


@dataclass
class Start:
    """``folder`` holds the tokenizer's files, ``tokenizer`` is it, opened; ``model`` is None for
    random weights. ``inputs`` are the fingerprints of what is there."""

    folder: Path
    tokenizer: Subject
    model: BertForMaskedLM | None
    inputs: dict[str, str] = field(default_factory=dict)

    def check_analyser(self) -> None:
        """Check, for the marks of morphemes, that Kiwi is the one the tokenizer was made with.

        Raises:
            DataError: it is another.
        """
        if self.tokenizer.kiwi is not None:
            check_analyser(read_recipe(self.folder), self.folder)

    def build(self, settings: PretrainSettings, frequencies: np.ndarray) -> BertForMaskedLM:
        """The model to train. ``frequencies`` as in `new_model`."""
        if self.model is not None:
            return self.model
        pad = self.tokenizer.special_id("pad_token")
        return new_model(recipe(settings), len(frequencies), pad, frequencies, settings.seed)

    def complete(self, model: BertForMaskedLM, settings: PretrainSettings) -> None:
        """Fill in what training never saw, unless an earlier training may have seen it."""
        if self.model is None:
            fill_untrained_embeddings(model, longest(settings))

    def described(self, settings: PretrainSettings) -> dict[str, Any]:
        """The settings as they are in effect."""
        preset = asdict(recipe(settings))
        if self.model is not None:
            preset = {name: value for name, value in preset.items() if name not in _OF_THE_ENCODER}
        return asdict(settings) | preset


def from_tokenizer(folder: Path) -> Start:
    """A new BERT over a tokenizer of `build-vocab`.

    Raises:
        DataError: it is unfinished, was edited, or does not say how it splits text.
    """
    check_tokenizer(folder)
    read_recipe(folder)
    inputs = {"tokenizer": tokenizer_fingerprint(folder)}
    return Start(folder, open_subject(str(folder)), None, inputs)


def from_model(name: str, settings: PretrainSettings) -> Start:
    """The BERT in the folder ``name``, or of that name on the hub, with its tokenizer.

    Raises:
        DataError: it is no BERT, or cannot be loaded.
        UsageError: it has fewer positions than the sequences are long.
    """
    initial = load_initial(name, settings.seed)
    positions = initial.model.config.max_position_embeddings
    if longest(settings) > positions:
        raise UsageError(
            f"--init-from {name}: it has {positions} positions, and --length or --long-length asks "
            f"for {longest(settings)}"
        )
    weights = sorted([*initial.folder.glob("*.safetensors"), *initial.folder.glob("*.bin")])
    inputs = {
        "tokenizer": tokenizer_fingerprint(initial.folder),
        "model": fingerprint_files([initial.folder / "config.json", *weights]),
    }
    return Start(initial.folder, initial.tokenizer, initial.model, inputs)
