"""A pretrained model folder, checked, and the model with a task's head made from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer

from kobert_kit.console import quiet_transformers
from kobert_kit.errors import DataError, UsageError
from kobert_kit.pretrain.recorded import check_recorded_tokenizer
from kobert_kit.records import fingerprint_files
from kobert_kit.tasks.task import Task
from kobert_kit.tokenizer.loading import tokenizer_fingerprint
from kobert_kit.training.linear import use_fast_products

# Rows of the embedding that others add to reach a multiple.
MOST_PADDING_ROWS = 127
SYLLABLES = 100  # that are tried


@dataclass
class ModelFolder:
    """``path`` with its configuration and its fast tokenizer."""

    path: Path
    config: Any
    tokenizer: Any

    @property
    def takes_token_types(self) -> bool:
        """False for RoBERTa-like models, whose one segment must not be told apart."""
        return getattr(self.config, "type_vocab_size", 1) > 1

    def max_length(self, named: int | None, usual: int) -> int:
        """``named`` tokens, or ``usual`` ones, or fewer where the model has not the positions.

        Raises:
            UsageError: it has not the positions for ``named`` tokens.
        """
        positions = getattr(self.config, "max_position_embeddings", None)
        there = positions - _first_position(self.config) if positions else named or usual
        longest: int = min(there, self.tokenizer.model_max_length)
        if named is not None and not 8 <= named <= longest:
            raise UsageError(f"--max-length {named}: between 8 and {longest} for {self.path}")
        return named or min(usual, longest)

    def fingerprints(self, from_scratch: bool) -> dict[str, str]:
        """Digests of what a result depends on: the tokenizer, the configuration, the weights."""
        weights = sorted([*self.path.glob("*.safetensors"), *self.path.glob("*.bin")])
        files = [self.path / "config.json", *([] if from_scratch else weights)]
        return {
            "model": fingerprint_files(files),
            "tokenizer": tokenizer_fingerprint(self.path),
        }


def _first_position(config: Any) -> int:
    """That of the first token: RoBERTa and its kin count on from the padding's number."""
    with torch.device("meta"):  # no weights are made
        model = AutoModel.from_config(config)
    embeddings = model.get_input_embeddings()
    for module in model.modules():
        is_table = isinstance(module, torch.nn.Embedding) and module is not embeddings
        if is_table and module.num_embeddings == config.max_position_embeddings:
            return 0 if module.padding_idx is None else module.padding_idx + 1
    return 0


def open_model_folder(path: Path) -> ModelFolder:
    """Open a folder of `kobert-kit pretrain`, or any other that transformers reads.

    Raises:
        DataError: no model or tokenizer is there, they do not belong together, or the tokenizer
            makes nothing of Korean.
    """
    if not (path / "config.json").is_file():
        raise DataError(
            f"--model {path}: no config.json, so this is no finished model folder; name the "
            "--output of a finished `kobert-kit pretrain`"
        )
    check_recorded_tokenizer(path, f"--model {path}")
    folder = _open(path)
    _check_korean(folder)
    return folder


def _open(path: Path) -> ModelFolder:
    try:
        config = AutoConfig.from_pretrained(path)
        tokenizer = AutoTokenizer.from_pretrained(path)
    except Exception as error:  # the library raises OSError, ValueError, KeyError, Exception
        raise DataError(f"--model {path}: cannot be opened ({_first_line(error)})") from None
    spare = config.vocab_size - len(tokenizer)
    if not 0 <= spare <= MOST_PADDING_ROWS:
        raise DataError(
            f"--model {path}: the model has {config.vocab_size:,} embeddings, its tokenizer "
            f"{len(tokenizer):,} entries; they do not belong together"
        )
    return ModelFolder(path, config, tokenizer)


def _check_korean(folder: ModelFolder) -> None:
    """Raises DataError where the tokenizer takes apart all the syllables that it has entries for.

    So does a BERT whose vocab.txt stands alone: transformers strips its accents, and Hangul becomes
    jamo, which are [UNK] one and all.
    """
    tokenizer = folder.tokenizer
    single = (entry for entry in tokenizer.get_vocab() if len(entry) == 1 and "가" <= entry <= "힣")
    syllables = list(islice(single, SYLLABLES))
    if syllables and not any(
        each in token for each in syllables for token in tokenizer.tokenize(each)
    ):
        raise DataError(
            f"--model {folder.path}: its tokenizer finds none of the Hangul that its vocabulary "
            'has; write {"do_lower_case": false} into the tokenizer_config.json there'
        )


def build_classifier(folder: ModelFolder, task: Task[Any], from_scratch: bool, seed: int) -> Any:
    """The folder's model with a new head for ``task``; random throughout if ``from_scratch``.

    Raises:
        DataError: the weights cannot be read, or lack a part of the model.
    """
    head = task.head
    config = AutoConfig.from_pretrained(folder.path, **head.config())
    torch.manual_seed(seed)
    if from_scratch:
        return _with_room(head.auto.from_config(config), folder, task)
    try:
        with quiet_transformers():
            model, loading = head.auto.from_pretrained(
                folder.path, config=config, dtype=torch.float32, output_loading_info=True
            )
    except Exception as error:  # OSError, SafetensorError, RuntimeError
        raise DataError(
            f"--model {folder.path}: no weights to load ({_first_line(error)})"
        ) from None
    encoder = f"{model.base_model_prefix}."
    lacking = sorted(
        key for key in loading["missing_keys"] if key.startswith(encoder) and ".pooler." not in key
    )
    if lacking:  # transformers would train on with random weights in their place
        raise DataError(
            f"--model {folder.path}: {len(lacking)} weights of the encoder are not in it "
            f"({lacking[0]}, ...)"
        )
    return _with_room(model, folder, task)


def open_classifier(path: Path, task: Task[Any]) -> tuple[ModelFolder, Any]:
    """What `save_classifier` left in ``path``: the folder, and the model as it was trained.

    Raises:
        DataError: a file in it is missing or damaged.
    """
    folder = _open(path)
    try:
        with quiet_transformers():
            model = task.head.auto.from_pretrained(path, dtype=torch.float32)
    except Exception as error:  # OSError, SafetensorError, RuntimeError
        raise DataError(f"--model {path}: no weights to load ({_first_line(error)})") from None
    use_fast_products(model)
    return folder, model


def _with_room(model: Any, folder: ModelFolder, task: Task[Any]) -> Any:
    """``model`` with random embeddings for the task's added tokens."""
    needed = len(folder.tokenizer) + len(task.added_tokens)
    if task.added_tokens and needed > model.config.vocab_size:
        model.resize_token_embeddings(needed, mean_resizing=False)
    return model


def save_classifier(model: Any, source: ModelFolder, task: Task[Any], folder: Path) -> None:
    """Save ``model`` and its tokenizer to ``folder``, for transformers to load."""
    with quiet_transformers():
        model.save_pretrained(folder)
    # The opened tokenizer has its truncation set, which would be saved with it: take a fresh one.
    tokenizer = AutoTokenizer.from_pretrained(source.path)
    if task.added_tokens:
        tokenizer.add_tokens(list(task.added_tokens), special_tokens=True)
    tokenizer.save_pretrained(folder)


def default_learning_rate(hidden_size: int) -> float:
    """Peak learning rate by width.

    KLUE's paper searches 1e-5 to 5e-5 for base and large models; small ones need more (Turc et
    al. 2019 find 3e-4 and 1e-4 for tiny to small).
    """
    for width, rate in ((256, 3e-4), (512, 1e-4), (768, 5e-5)):
        if hidden_size <= width:
            return rate
    return 2e-5


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
