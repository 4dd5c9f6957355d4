"""kobert-kit: from raw Korean text to a Korean BERT of your own, with an honest KLUE score."""

from typing import Any

from kobert_kit.tokenizer.registration import register_tokenizers

__version__ = "0.1.0"
__all__ = ["load_tokenizer"]

register_tokenizers()


def __getattr__(name: str) -> Any:
    if name == "load_tokenizer":  # not before it is wanted: it takes transformers along
        from kobert_kit.tokenizer.loading import load_tokenizer

        return load_tokenizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
