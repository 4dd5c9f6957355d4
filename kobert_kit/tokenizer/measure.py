"""How well a tokenizer does on counted eojeols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tokenizers import Tokenizer


@dataclass(frozen=True)
class HeldOutMeasure:
    """How the tokenizer does on text that it was not built from."""

    eojeols: int
    tokens_per_eojeol: float
    unknown_share: float  # of the tokens


def measure(
    tokenizer: Tokenizer, unknown: str | None, eojeols: Mapping[str, int]
) -> HeldOutMeasure | None:
    """Tokens per eojeol, and the share of ``unknown`` ([UNK]) among the tokens.

    ``eojeols`` maps each to how often it occurs; None where there are none.
    """
    distinct = list(eojeols)
    tokens: Counter[bool] = Counter()
    encodings = tokenizer.encode_batch(distinct, add_special_tokens=False)
    for eojeol, encoding in zip(distinct, encodings, strict=True):
        for token in encoding.tokens:
            tokens[token == unknown] += eojeols[eojeol]
    if not tokens:
        return None
    total = sum(eojeols.values())
    return HeldOutMeasure(total, tokens.total() / total, tokens[True] / tokens.total())
