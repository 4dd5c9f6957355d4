"""Long texts as overlapping windows of tokens, each token with its characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kobert_kit.tasks.encode import E, Encoded, flat
from kobert_kit.tasks.heads.kinds import IGNORED

Span = tuple[int, int]


@dataclass
class Windows(Encoded[E]):
    """Rows that are windows of the examples' texts, an example's windows one after another.

    ``spans`` (tokens, 2) are the characters of each token in the example's text, (-1, -1) for
    tokens that are not the text's. ``owners`` (rows,) are the windows' examples. ``spared``
    (tokens,) are the tokens of the text between a token and the nearer end of its window: of the
    windows that a token is in, the one where this is greatest knows most about it.
    """

    spans: np.ndarray
    owners: np.ndarray
    spared: np.ndarray

    def text_tokens(self) -> list[np.ndarray]:
        """Of each example, places in ``ids`` of one token for each character that begins a token.

        In order of the text. Of the windows with the token it is the one that knows most, of
        several tokens for the bytes of one character the first.
        """
        chosen: list[dict[int, int]] = [{} for _ in self.examples]
        owners = np.repeat(self.owners, self.lengths).tolist()
        spared = self.spared.tolist()
        for place, (start, end) in enumerate(self.spans.tolist()):
            if start < end:
                of_text = chosen[owners[place]]
                before = of_text.get(start)
                if before is None or spared[place] > spared[before]:
                    of_text[start] = place
        return [
            np.array([of_text[start] for start in sorted(of_text)], dtype=np.int64)
            for of_text in chosen
        ]


@dataclass
class TokenWindows(Windows[E]):
    """Windows with a label for each token: ``labels`` (tokens,), IGNORED where it has none."""

    def labels_of(self, rows: np.ndarray, places: np.ndarray, real: np.ndarray) -> np.ndarray:
        labels = np.full(real.shape, IGNORED, dtype=np.int64)
        labels[real] = self.labels[places]
        return labels


def window_arrays(
    tokenizer: Any,
    texts: Sequence[str],
    questions: Sequence[str] | None,
    max_length: int,
    overlap: int,
) -> dict[str, np.ndarray]:
    """What `Windows` are made of, but for the labels.

    Neighbouring windows share ``overlap`` tokens. ``questions`` stand in front of every window of
    their text and are never cut.
    """
    texts = list(texts)
    encoding = tokenizer(
        texts if questions is None else list(questions),
        None if questions is None else texts,
        truncation=True if questions is None else "only_second",
        max_length=max_length,
        stride=overlap,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=True,
    )
    rows = encoding["input_ids"]
    owners = encoding["overflow_to_sample_mapping"]
    side = 0 if questions is None else 1
    spans: list[list[Span]] = []
    spared: list[list[int]] = []
    for row, owner in enumerate(owners):
        inside = [place for place, of in enumerate(encoding.sequence_ids(row)) if of == side]
        offsets = [encoding["offset_mapping"][row][place] for place in inside]
        spans.append([(-1, -1)] * len(rows[row]))
        spared.append([-1] * len(rows[row]))
        for number, (place, span) in enumerate(zip(inside, offsets, strict=True)):
            spans[-1][place] = surface(texts[owner], *span)
            spared[-1][place] = min(number, len(inside) - 1 - number)
    return {
        "ids": flat(rows, np.int32),
        "types": flat(encoding["token_type_ids"], np.uint8),
        "offsets": np.cumsum([0, *map(len, rows)]),
        "spans": np.array([span for row in spans for span in row], dtype=np.int32).reshape(-1, 2),
        "owners": np.array(owners, dtype=np.int64),
        "spared": flat(spared, np.int32),
    }


def surface(text: str, start: int, end: int) -> Span:
    """The characters of a token that the library says stands for ``text[start:end]``.

    Byte-level vocabularies take the space in front along. A normaliser that composes characters
    leaves the library with the first part of the last one.
    """
    while start < end and text[start].isspace():
        start += 1
    while start < end < len(text) and _continues(text[end]):
        end += 1
    return start, end


def _continues(char: str) -> bool:
    """Whether ``char`` belongs to the character before it: a mark, or a vowel or coda jamo."""
    return (
        "\u1160" <= char <= "\u11ff"
        or "\ud7b0" <= char <= "\ud7ff"
        or unicodedata.combining(char) > 0
    )
