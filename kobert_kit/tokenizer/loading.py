"""Opening a tokenizer folder, and checking that it fits what is installed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KiwiSettings, kiwi_versions
from kobert_kit.morphology.splitter import SURROGATE
from kobert_kit.records import fingerprint_files, read_record

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

STAGE = "tokenizer"
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)


def load_tokenizer(folder: Path) -> Any:
    """The folder's tokenizer as transformers gives it, for padding, pairs and the like.

    Raises:
        DataError: the folder holds no tokenizer that can be read.
    """
    from transformers import PreTrainedTokenizerFast

    _read_json(folder)
    return PreTrainedTokenizerFast.from_pretrained(str(folder))


def plain_tokenizer(folder: Path) -> Tokenizer:
    """The folder's tokenizer for running text, in which "[MASK]" is six characters, no token.

    Raises:
        DataError: the folder holds no tokenizer that can be read.
    """
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_str(_read_json(folder))
    tokenizer.encode_special_tokens = True
    return tokenizer


def _read_json(folder: Path) -> str:
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    try:
        text = path.read_text(encoding="utf-8")
        Tokenizer.from_str(text)
    except FileNotFoundError:
        raise DataError(f"{folder}: no tokenizer.json, so this is no tokenizer folder") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except Exception as error:  # the library raises plain Exception
        raise DataError(f"{path}: not a tokenizer ({error}); build it again") from None
    return text


def encode_plain(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Encoding]:
    """Encode ``texts`` with a ``plain_tokenizer``, without [CLS] and [SEP].

    A lone surrogate, which the library cannot take, stands as U+FFFD; offsets do not change.
    """
    clean = [SURROGATE.sub("\ufffd", text) for text in texts]
    encodings: list[Encoding] = tokenizer.encode_batch(clean, add_special_tokens=False)
    return encodings


def tokenizer_fingerprint(folder: Path) -> str:
    """Hex digest of ``tokenizer.json``: equal for tokenizers that give the same ids.

    Raises:
        DataError: there is no such file.
    """
    try:
        return fingerprint_files([folder / "tokenizer.json"])
    except OSError as error:
        raise DataError(f"{folder}: no tokenizer.json to be read ({error.strerror})") from None


def check_kiwi(folder: Path) -> None:
    """Check that the installed analyser is the one that the tokenizer was made with.

    Raises:
        DataError: the version of kiwipiepy or of its model differs.
    """
    made_with = read_record(folder, STAGE).versions
    for name, installed in kiwi_versions().items():
        recorded = made_with.get(name, "an unknown version")
        if recorded != installed:
            raise DataError(
                f"{folder}: made with {name} {recorded}, installed is {installed}, which may "
                f"split differently; run `pip install {name}=={recorded}` or build it again"
            )


def check_tokenizer(folder: Path) -> None:
    """Check that the folder is a finished one of `kobert-kit build-vocab`, whole and unedited.

    Raises:
        DataError: it is not; says which file is missing or was changed.
    """
    record = read_record(folder, STAGE)
    for name in TOKENIZER_FILES:
        if not (folder / name).is_file():
            raise DataError(f"{folder}: {name} is missing; build the vocabulary again")
    tokenizer = plain_tokenizer(folder)
    if record.results.get("fingerprint") != tokenizer_fingerprint(folder):
        raise DataError(
            f"{folder}: tokenizer.json was changed after it was built; build the vocabulary again"
        )
    for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"):
        if tokenizer.token_to_id(token) is None:
            raise DataError(f"{folder}: the vocabulary has no {token}; build it again")
    kiwi_settings(folder)


def kiwi_settings(folder: Path) -> KiwiSettings:
    """How the analyser split the text that the tokenizer was built from.

    Raises:
        DataError: the folder is not a finished tokenizer folder.
    """
    try:
        return KiwiSettings(**read_record(folder, STAGE).settings["kiwi"])
    except (KeyError, TypeError):
        raise DataError(
            f"{folder}: its record does not say how Kiwi was set; build the vocabulary again"
        ) from None


def copy_tokenizer(source: Path, target: Path) -> None:
    """Copy the tokenizer's files, without the record, to a folder that exists."""
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
