"""Texts with a tag for each character: as tokens, and back.

Tokens and characters meet at offsets: a token learns the tag of its first character, and gives
its tag to all of its characters. So an [UNK], a jamo or an emoji shifts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kobert_kit.tasks.bio import best_tags, tags_of_characters, tags_of_tokens
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.heads.kinds import IGNORED
from kobert_kit.tasks.windows import TokenWindows, window_arrays

OVERLAP = 4  # neighbouring windows share a quarter of their tokens


@dataclass(frozen=True)
class Sentence:
    """A text and the tag of each of its characters (code points), spaces included."""

    guid: str
    text: str
    tags: tuple[str, ...]


S = TypeVar("S", bound=Sentence)


def encode_tags(
    examples: Sequence[S], labels: Sequence[str], tokenizer: Any, max_length: int
) -> TokenWindows[S]:
    """Windows of the texts with a label, a place in ``labels``, for each token."""
    texts = [example.text for example in examples]
    arrays = window_arrays(tokenizer, texts, None, max_length, max_length // OVERLAP)
    of_tokens = np.full(len(arrays["ids"]), IGNORED, dtype=np.int64)
    rows = TokenWindows(examples, labels=of_tokens, **arrays)
    place = {label: number for number, label in enumerate(labels)}
    for example, tokens in zip(examples, rows.text_tokens(), strict=True):
        tags = tags_of_tokens(example.tags, rows.spans[tokens].tolist())
        of_tokens[tokens] = [place[tag] for tag in tags]
    return rows


def decode_tags(
    rows: Encoded[S], outputs: Sequence[np.ndarray], labels: Sequence[str]
) -> list[list[str]]:
    """The best valid tags of each text's characters; ``outputs`` are log-probabilities."""
    assert isinstance(rows, TokenWindows)
    values = np.concatenate(outputs)
    decoded = []
    for example, tokens in zip(rows.examples, rows.text_tokens(), strict=True):
        tags = best_tags(values[tokens], labels)
        spans = rows.spans[tokens].tolist()
        decoded.append(tags_of_characters(len(example.text), tags, spans))
    return decoded
