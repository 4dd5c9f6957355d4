"""A tokenizer to be looked at: one of ours, or anybody's that transformers loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.tokenizer.loading import encode_plain, native_tokenizer, plain_tokenizer
from kobert_kit.tokenizer.recipe import CONFIG_NAME, KEY, read_recipe


@dataclass
class Subject:
    """``native`` is the tokenizer without the analyser: what longest-match-first can yield."""

    name: str
    tokenizer: Tokenizer
    native: Tokenizer
    unknown: str | None
    kiwi: KiwiSettings | None  # None: not one of ours

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Without [CLS] and [SEP]; "[MASK]" in a text is text."""
        if self.kiwi is not None:
            return encode_plain(self.tokenizer, texts)
        encodings: list[Encoding] = self.tokenizer.encode_batch(
            [encodable(text) for text in texts], add_special_tokens=False
        )
        return encodings


def open_subject(name: str) -> Subject:
    """The tokenizer in the folder ``name``, or of that name on the Hugging Face hub.

    Raises:
        DataError: there is none, or it is not a fast one, which alone knows offsets.
    """
    folder = Path(name)
    config = folder / CONFIG_NAME
    if config.is_file() and f'"{KEY}"' in config.read_text(encoding="utf-8", errors="replace"):
        recipe = read_recipe(folder)
        return Subject(
            name, plain_tokenizer(folder), native_tokenizer(folder), "[UNK]", recipe.kiwi
        )
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(name)
    except Exception as error:  # the library raises OSError, ValueError, ImportError, Exception
        first = str(error).strip().split("\n")[0]
        raise DataError(f"{name}: no tokenizer can be loaded from there ({first})") from None
    if not loaded.is_fast:
        raise DataError(f"{name}: not a fast tokenizer, so it gives no offsets to measure by")
    backend: Tokenizer = loaded.backend_tokenizer
    backend.encode_special_tokens = True
    backend.no_truncation()
    backend.no_padding()
    return Subject(name, backend, backend, loaded.unk_token, None)
