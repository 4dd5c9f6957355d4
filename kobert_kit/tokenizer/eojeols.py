"""Eojeols to tokens with the analyser's help, each distinct eojeol once.

The tokens lie inside morphemes: WordPiece's longest-match-first runs within a piece, and a piece
that continues an eojeol is looked up with ``##``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tokenizers import Regex, Token, Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer

from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import WHITE_SPACE, Splitter
from kobert_kit.tokenizer.folder import is_reserved
from kobert_kit.tokenizer.pieces import PREFIX, known_run
from kobert_kit.tokenizer.wordpiece import LongestMatch

MAX_CACHED = 400_000  # eojeols, about 300 MB with their tokens
MAX_CACHED_CHARS = 64  # nobody meets a longer one twice


def attach_analyser(tokenizer: Tokenizer, unknown: str, settings: KiwiSettings) -> None:
    """Let ``tokenizer`` cut eojeols into morphemes; it can be neither pickled nor saved then."""
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    entries = {
        entry: number
        for entry, number in tokenizer.get_vocab(with_added_tokens=False).items()
        if entry not in added and not is_reserved(entry)
    }
    number = tokenizer.token_to_id(unknown)
    assert number is not None
    cutter = EojeolPreTokenizer(entries, (unknown, number), settings)
    tokenizer.pre_tokenizer = PreTokenizer.custom(cutter)


class EojeolPreTokenizer:
    """Cuts text into eojeols and gives each its tokens, so that the model has nothing left to do.

    For ``tokenizers.pre_tokenizers.PreTokenizer.custom``. Word ids are then those of eojeols.
    ``vocabulary`` maps the entries that text may yield to ids; ``unknown`` is [UNK] with its id.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], unknown: tuple[str, int], settings: KiwiSettings
    ) -> None:
        self._vocabulary = vocabulary
        self._unknown = unknown
        self._match = LongestMatch(vocabulary)
        self._known_run = known_run(
            entry for entry in vocabulary if len(entry) == 1 and PREFIX + entry in vocabulary
        )
        self._split = Splitter(settings).split_eojeol
        self._white_space = Regex(f"[{WHITE_SPACE}]+")
        self._cached = lru_cache(MAX_CACHED)(self._encode)

    def pre_tokenize(self, text: Any) -> None:
        """Called by the library with a normalised ``tokenizers.PreTokenizedString``."""
        text.split(lambda _, part: part.split(self._white_space, "removed"))
        text.tokenize(self.tokens)

    def tokens(self, eojeol: str) -> list[Token]:
        """The tokens of a normalised eojeol; offsets are bytes of it in UTF-8."""
        return self._cached(eojeol) if len(eojeol) <= MAX_CACHED_CHARS else self._encode(eojeol)

    def _encode(self, eojeol: str) -> list[Token]:
        tokens = []
        start = place = 0
        for entry, number, length in self._entries(eojeol):
            taken = len(eojeol[start : start + length].encode())
            tokens.append(Token(number, entry, (place, place + taken)))
            start, place = start + length, place + taken
        return tokens

    def _entries(self, eojeol: str) -> Iterator[tuple[str, int, int]]:
        """Each entry in order, with its id and how many characters of the eojeol it takes."""
        cuts = self._split(eojeol)
        reach = 0
        for run in self._known_run.finditer(eojeol):
            start, end = run.span()
            yield from map(self._isolated, eojeol[reach:start])
            edges = [start, *(cut for cut in cuts if start < cut < end), end]
            for left, right in pairwise(edges):
                piece = eojeol[left:right]
                for first, last in self._match.spans(piece, continues=left > start):
                    entry = (PREFIX if left + first > start else "") + piece[first:last]
                    yield entry, self._vocabulary[entry], last - first
            reach = end
        yield from map(self._isolated, eojeol[reach:])

    def _isolated(self, char: str) -> tuple[str, int, int]:
        number = self._vocabulary.get(char)
        return (*self._unknown, 1) if number is None else (char, number, 1)
