"""Opening a tokenizer folder, and checking that it fits what is installed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Encoding, Tokenizer

from kobert_kit.errors import DataError
from kobert_kit.records import atomic_file, fingerprint_files, read_record, recorded_stage
from kobert_kit.tokenizer.eojeols import attach_analyser
from kobert_kit.tokenizer.exact import Spelling, with_exact_offsets
from kobert_kit.tokenizer.folder import SPECIAL_TOKENS
from kobert_kit.tokenizer.locked import unlocked
from kobert_kit.tokenizer.recipe import CONFIG_NAME, KNOWN_NAME, check_analyser, read_recipe

STAGE = "tokenizer"
TOKENIZER_FILES = (
    "tokenizer.json",
    CONFIG_NAME,
    "special_tokens_map.json",
    "vocab.txt",
)
VOCABULARIES = ("vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")  # of others
# Mode "always" has eojeols it knows; others' folders, tokens beside the vocabulary.
COPIED_FILES = (*TOKENIZER_FILES, KNOWN_NAME, "added_tokens.json")


def load_tokenizer(folder: str | Path) -> Any:
    """The folder's tokenizer as transformers' users know it: a fast tokenizer, with exact offsets.

    An `ExactTokenizer`, or a `MorphemeTokenizer` where the folder's mode is "always".

    Raises:
        DataError: the folder holds no tokenizer of kobert-kit, or an edited one, or was made with
            another Kiwi and needs it.
    """
    from kobert_kit.tokenizer.fast import ExactTokenizer, MorphemeTokenizer

    folder = Path(folder)
    native_tokenizer(folder)  # whose messages are clearer
    if recorded_stage(folder) == STAGE:  # a model folder's tokenizer is the model's to check
        check_tokenizer(folder)
    kind = MorphemeTokenizer if read_recipe(folder).mode == "always" else ExactTokenizer
    return kind.from_pretrained(str(folder))


def plain_tokenizer(folder: Path) -> Tokenizer:
    """The folder's tokenizer for running text, in which "[MASK]" is six characters, no token.

    With the analyser inside, where the folder's mode is "always"; it does not pickle then.

    Raises:
        DataError: the folder holds no tokenizer that can be read, or needs another Kiwi.
    """
    tokenizer = native_tokenizer(folder)
    recipe = read_recipe(folder)
    if recipe.mode == "always":
        check_analyser(recipe, folder)
        attach_analyser(tokenizer, SPECIAL_TOKENS["unk_token"], recipe.kiwi)
    return tokenizer


def native_tokenizer(folder: Path) -> Tokenizer:
    """The folder's tokenizer for running text as the library alone runs it, without the analyser.

    Raises:
        DataError: the folder holds no tokenizer that can be read.
    """
    path = folder / "tokenizer.json"
    try:
        tokenizer: Tokenizer = Tokenizer.from_str(unlocked(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise DataError(f"{folder}: no tokenizer.json, so this is no tokenizer folder") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except Exception as error:  # the library raises plain Exception
        raise DataError(f"{path}: not a tokenizer ({error}); build it again") from None
    tokenizer.encode_special_tokens = True
    # What it did last when it was saved.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def others_tokenizer(name: str | Path) -> Any:
    """The fast tokenizer that transformers makes of a folder or of a name on the hub.

    Raises:
        DataError: there is none, or it is not a fast one, which alone knows offsets.
    """
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(str(name))
    except Exception as error:  # the library raises OSError, ValueError, ImportError, Exception
        first = str(error).strip().split("\n")[0]
        raise DataError(f"{name}: no tokenizer can be loaded from there ({first})") from None
    if not loaded.is_fast:
        raise DataError(f"{name}: not a fast tokenizer, so it gives no offsets to measure by")
    return loaded


def encode_plain(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Encoding]:
    """Encode ``texts`` with a ``plain_tokenizer``, without [CLS] and [SEP], with exact offsets."""
    spelling = Spelling(tokenizer)
    encodings = tokenizer.encode_batch(spelling.cleaned(list(texts)), add_special_tokens=False)
    return [
        with_exact_offsets(encoding, (text,), spelling)
        for encoding, text in zip(encodings, texts, strict=True)
    ]


def tokenizer_fingerprint(folder: Path) -> str:
    """Hex digest of what decides ids: the vocabulary, and how text is split before it is looked up.

    The same for a folder and for what `copy_tokenizer` makes of it.

    Raises:
        DataError: there is no tokenizer.
    """
    if _has_vocabulary_only(folder):
        with tempfile.TemporaryDirectory() as temporary:
            copy_tokenizer(folder, Path(temporary))
            return tokenizer_fingerprint(Path(temporary))
    files = [folder / name for name in ("tokenizer.json", CONFIG_NAME, KNOWN_NAME)]
    try:
        return fingerprint_files(path for path in files if path == files[0] or path.exists())
    except OSError as error:
        raise DataError(f"{folder}: no tokenizer.json to be read ({error.strerror})") from None


def file_digests(folder: Path) -> dict[str, str]:
    """Hex digest of each of the tokenizer's files, for the folder's record."""
    names = [*TOKENIZER_FILES, *([KNOWN_NAME] if (folder / KNOWN_NAME).exists() else [])]
    return {name: fingerprint_files([folder / name]) for name in names}


def check_tokenizer(folder: Path) -> None:
    """Check that the folder is a finished one of `kobert-kit build-vocab`, whole and unedited.

    Raises:
        DataError: it is not; says which file is missing or was changed.
    """
    made = read_record(folder, STAGE).results.get("files", {})
    for name in {**dict.fromkeys(TOKENIZER_FILES), **made}:
        if not (folder / name).is_file():
            raise DataError(f"{folder}: {name} is missing; build the vocabulary again")
    for name, digest in file_digests(folder).items():
        if made.get(name) != digest:
            raise DataError(
                f"{folder}: {name} was changed after it was built; build the vocabulary again"
            )


def copy_tokenizer(source: Path, target: Path) -> None:
    """Copy the tokenizer's files, without the record, to another folder, which exists.

    What that has of a tokenizer of before goes.

    An older BERT has a ``vocab.txt`` alone, a RoBERTa ``vocab.json`` and merges, from which
    transformers makes the rest. The copy has that as ``tokenizer.json``.

    Raises:
        DataError: nothing can be made of the vocabulary.
    """
    for name in COPIED_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
        else:
            (target / name).unlink(missing_ok=True)
    if _has_vocabulary_only(source):
        text = others_tokenizer(source).backend_tokenizer.to_str(pretty=True) + "\n"
        with atomic_file(target / "tokenizer.json") as temporary:
            temporary.write_text(text, encoding="utf-8")


def _has_vocabulary_only(folder: Path) -> bool:
    there = {path.name for path in folder.glob("*")}
    return "tokenizer.json" not in there and not there.isdisjoint(VOCABULARIES)
