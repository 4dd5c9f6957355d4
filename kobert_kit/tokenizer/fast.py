"""The fast tokenizers of transformers, with exact offsets, and with the analyser inside.

Both add to ``PreTrainedTokenizerFast`` what the Rust core cannot do, around its own calls; padding,
truncation, overflow, pairs and decoding stay the library's.
"""

from __future__ import annotations

import copy
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tokenizers import Encoding, Tokenizer
from transformers import BatchEncoding, PreTrainedTokenizerFast
from transformers.tokenization_utils_base import TruncationStrategy

from kobert_kit.records import atomic_file
from kobert_kit.tokenizer.boundaries import BoundaryMarker, boundary_marker, morpheme_ids
from kobert_kit.tokenizer.eojeols import EojeolTokens, attach_analyser
from kobert_kit.tokenizer.exact import Sample, Spelling, as_samples, strings, with_exact_offsets
from kobert_kit.tokenizer.locked import lock_file, unlocked
from kobert_kit.tokenizer.recipe import (
    KNOWN_NAME,
    Recipe,
    check_analyser,
    read_known,
    recipe_from,
)


class _Call(NamedTuple):
    """A call in progress: its samples, in the order in which their encodings come, and what else
    was asked for."""

    samples: Iterator[Sample]
    spelling: Spelling
    marker: BoundaryMarker | None


_call: ContextVar[_Call | None] = ContextVar("_call", default=None)


class ExactTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]
    """A fast tokenizer whose offsets are those of the text as it was passed.

    The library's are not where a normaliser composes characters (text in NFD). Lone surrogates,
    which the library refuses, stand as U+FFFD.

    Called with ``return_morpheme_ids=True`` it also gives "morpheme_ids": as ``word_ids()`` does
    for words, the number of each token's morpheme; -1 for special tokens and padding.
    """

    def _encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        stride: int = 0,
        return_morpheme_ids: bool = False,
        **options: Any,
    ) -> BatchEncoding:
        samples = as_samples(text, text_pair, options.get("is_split_into_words", False))
        self._check_window(text_pair is not None, stride, options)
        marker = boundary_marker(self._recipe().kiwi) if return_morpheme_ids else None
        spelling = Spelling(self._tokenizer)
        texts = spelling.cleaned(text), spelling.cleaned(text_pair)
        as_it_is = marker is None and texts == (text, text_pair)  # so are the library's offsets
        token = _call.set(None if as_it_is else _Call(iter(samples), spelling, marker))
        try:
            with self._ready_for(texts), _panic_told(stride):
                return super()._encode_plus(*texts, stride=stride, **options)
        finally:
            _call.reset(token)

    def _ready_for(self, texts: Any) -> AbstractContextManager[None]:
        """What ``texts``, nested strings, are encoded in."""
        return nullcontext()

    def _recipe(self) -> Recipe:
        return recipe_from(self.init_kwargs, self.name_or_path)

    def _check_window(self, is_pair: bool, stride: int, options: dict[str, Any]) -> None:
        longest = options.get("max_length")
        strategy = options.get("truncation_strategy")
        if not stride or longest is None or strategy == TruncationStrategy.DO_NOT_TRUNCATE:
            return
        special = options.get("add_special_tokens", True)
        window = longest - (self.num_special_tokens_to_add(is_pair) if special else 0)
        if stride >= window:
            raise ValueError(
                f"stride={stride}: must be smaller than the {window} tokens that max_length="
                f"{longest} leaves for text, or the windows do not advance"
            )

    def _convert_encoding(self, encoding: Encoding, **options: Any) -> Any:
        call = _call.get()
        if call is None:
            return super()._convert_encoding(encoding, **options)
        sample = next(call.samples)
        encoding = with_exact_offsets(encoding, sample, call.spelling)
        values, encodings = super()._convert_encoding(encoding, **options)
        if call.marker is not None:
            values["morpheme_ids"] = [morpheme_ids(e, sample, call.marker) for e in encodings]
        return values, encodings


@contextmanager
def _panic_told(stride: int) -> Iterator[None]:
    """What is left for one text of a pair is known only when the library has met the other."""
    try:
        yield
    except BaseException as error:
        left = re.search(r"stride.*max_len=(\d+)", str(error))
        if type(error).__name__ != "PanicException" or left is None:
            raise
        raise ValueError(
            f"stride={stride}: must be smaller than the {left.group(1)} tokens that max_length and "
            "the other text leave for one text of a pair, or the windows do not advance"
        ) from None


_attached: WeakKeyDictionary[MorphemeTokenizer, tuple[EojeolTokens, Any]] = WeakKeyDictionary()
_attaching = threading.RLock()


def _renew_lock() -> None:
    global _attaching
    _attaching = threading.RLock()


if hasattr(os, "register_at_fork"):
    # Not while another thread is at it: the child would have half a call that nobody ends.
    os.register_at_fork(
        before=lambda: _attaching.acquire(),
        after_in_parent=lambda: _attaching.release(),
        after_in_child=_renew_lock,
    )


class MorphemeTokenizer(ExactTokenizer):
    """A fast tokenizer that cuts every eojeol into morphemes before WordPiece sees it.

    Word ids are those of eojeols. An eojeol is analysed when it is first met and then remembered,
    so that the same eojeol always gets the same tokens, whatever window it is in. The analyser is
    at work in calls of this object only: ``backend_tokenizer`` is the tokenizer without it.
    """

    # What transformers fetches and gives to the constructor.
    vocab_files_names = ExactTokenizer.vocab_files_names | {"eojeols_file": KNOWN_NAME}

    def __init__(self, *arguments: Any, eojeols_file: str | None = None, **options: Any) -> None:
        self._known = read_known(Path(eojeols_file)) if eojeols_file else ""
        super().__init__(*arguments, **options)

    @classmethod
    def convert_to_native_format(cls, **options: Any) -> dict[str, Any]:
        """Called by the library with the files and the configuration of a folder."""
        place = Path(options["tokenizer_file"]).parent
        known = read_known(Path(options.get("eojeols_file") or place / KNOWN_NAME))
        check_analyser(recipe_from(options, place, known), place)
        text = Path(options.pop("tokenizer_file")).read_text(encoding="utf-8")
        return options | {"tokenizer_object": Tokenizer.from_str(unlocked(text))}

    def _recipe(self) -> Recipe:
        return recipe_from(self.init_kwargs, self.name_or_path, self._known)

    @contextmanager
    def _ready_for(self, texts: Any) -> Iterator[None]:
        """The pre-tokenizer is Python: it could be neither saved, pickled nor fingerprinted."""
        with _attaching:
            native = self._tokenizer.pre_tokenizer
            if self in _attached:
                eojeols, self._tokenizer.pre_tokenizer = _attached[self]
            else:
                eojeols = attach_analyser(self._tokenizer, self.unk_token, self._recipe().kiwi)
                _attached[self] = eojeols, self._tokenizer.pre_tokenizer
            try:
                eojeols.meet(strings(texts))
                yield
            finally:
                self._tokenizer.pre_tokenizer = native

    def __getstate__(self) -> dict[str, Any]:
        with _attaching:  # another thread may be in a call
            return self.__dict__ | {"_tokenizer": copy.deepcopy(self._tokenizer)}

    def _save_pretrained(self, save_directory: Any, *args: Any, **options: Any) -> Sequence[str]:
        with _attaching:
            files: Sequence[str] = super()._save_pretrained(save_directory, *args, **options)
        lock_file(Path(files[-1]))
        if not self._known:
            return files
        path = Path(save_directory) / KNOWN_NAME
        with atomic_file(path) as temporary:
            temporary.write_bytes(self._known.encode())
        return (*files, str(path))
