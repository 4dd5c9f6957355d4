"""Values of slots as token ids, and token ids as text again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from tokenizers import decoders

_FIRST = "가"  # any token: what follows it is written with the space in front that it has

# Tokens do not tell whether punctuation has a space beside it; in names and times it has so.
_NO_SPACE_BEFORE = re.compile(r" (?=[,.!?%)\]])")
_NO_SPACE_AFTER = re.compile(r"(?<=[(\[]) ")
_NO_SPACE_AROUND = re.compile(r" ?([&/~_-]) ?|(?<=\d) ?(:) ?(?=\d)")


def value_ids(values: Sequence[str], tokenizer: Any) -> list[list[int]]:
    """Token ids of each value, as inside a text: some vocabularies have the space in a token."""
    if not values:
        return []
    texts = [f" {value}" for value in values]
    encoding = tokenizer(texts, add_special_tokens=False, split_special_tokens=True)
    ids: list[list[int]] = encoding["input_ids"]
    return ids


def written_tokens(tokenizer: Any) -> np.ndarray:
    """(entries,) what each token adds to a text, in bytes, with a space where a word begins.

    Nothing for special tokens.
    """
    decoder = tokenizer.backend_tokenizer.decoder
    special = set(tokenizer.all_special_ids)
    pieces = [b""] * len(tokenizer)
    for token, number in tokenizer.get_vocab().items():
        if number in special or number >= len(pieces):
            continue
        if isinstance(decoder, decoders.ByteLevel):
            pieces[number] = bytes(_BYTES[char] for char in token if char in _BYTES)
        elif decoder is None:
            pieces[number] = f" {token}".encode()
        else:
            text = decoder.decode([_FIRST, token])
            pieces[number] = text.removeprefix(_FIRST).encode()
    return np.array(pieces, dtype=np.bytes_)


def spelled(ids: Iterable[int], pieces: np.ndarray) -> str:
    """The text of token ids, ``pieces`` being `written_tokens`; other ids add nothing."""
    known = (pieces[number] for number in ids if number < len(pieces))
    text = b"".join(known).decode("utf-8", "replace")
    text = _NO_SPACE_AROUND.sub(r"\1\2", " ".join(text.split()))
    return _NO_SPACE_AFTER.sub("", _NO_SPACE_BEFORE.sub("", text))


def _byte_alphabet() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for (Radford et al. 2019)."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(256 + n): b for n, b in enumerate(others)}


_BYTES = _byte_alphabet()
