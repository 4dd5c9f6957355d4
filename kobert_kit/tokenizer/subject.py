"""A tokenizer to be looked at: one of ours, or anybody's that transformers loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.tokenizer.folder import SPECIAL_TOKENS, extra_special_tokens
from kobert_kit.tokenizer.loading import (
    encode_plain,
    native_tokenizer,
    others_tokenizer,
    plain_tokenizer,
)
from kobert_kit.tokenizer.recipe import CONFIG_NAME, KEY, read_recipe


@dataclass
class Subject:
    """``native`` is the tokenizer without the analyser: what longest-match-first can yield.

    ``special`` maps roles ("mask_token") to tokens, ``extra`` are special tokens beside those.
    """

    name: str
    tokenizer: Tokenizer
    native: Tokenizer
    unknown: str | None
    kiwi: KiwiSettings | None  # None: not one of ours
    analyses: bool = False  # the analyser also cuts what is encoded
    special: Mapping[str, str] = field(default_factory=lambda: SPECIAL_TOKENS)
    extra: Sequence[str] = ()

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Without [CLS] and [SEP]; "[MASK]" in a text is text."""
        if self.kiwi is not None:
            return encode_plain(self.tokenizer, texts)
        encodings: list[Encoding] = self.tokenizer.encode_batch(
            [encodable(text) for text in texts], add_special_tokens=False
        )
        return encodings

    def special_id(self, role: str) -> int:
        """The id of the special token with this role, such as "mask_token".

        Raises:
            DataError: the tokenizer has none.
        """
        token = self.special.get(role)
        number = None if token is None else self.native.token_to_id(token)
        if number is None:
            raise DataError(f"{self.name}: the tokenizer has no {role}, which BERT needs")
        return int(number)


def open_subject(name: str) -> Subject:
    """The tokenizer in the folder ``name``, or of that name on the Hugging Face hub.

    Raises:
        DataError: there is none, or it is not a fast one, which alone knows offsets.
    """
    folder = Path(name)
    config = folder / CONFIG_NAME
    if config.is_file() and f'"{KEY}"' in config.read_text(encoding="utf-8", errors="replace"):
        recipe, native = read_recipe(folder), native_tokenizer(folder)
        return Subject(
            name,
            plain_tokenizer(folder),
            native,
            SPECIAL_TOKENS["unk_token"],
            recipe.kiwi,
            analyses=recipe.mode == "always",
            extra=extra_special_tokens(native),
        )
    loaded = others_tokenizer(name)
    backend: Tokenizer = loaded.backend_tokenizer
    backend.encode_special_tokens = True
    backend.no_truncation()
    backend.no_padding()
    return Subject(
        name,
        backend,
        backend,
        loaded.unk_token,
        None,
        special={role: str(token) for role, token in loaded.special_tokens_map.items()},
        extra=[str(token) for token in loaded.extra_special_tokens],
    )
