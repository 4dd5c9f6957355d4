"""Eojeols to tokens with the analyser's help, each distinct eojeol once.

The tokens lie inside morphemes: WordPiece's longest-match-first runs within a piece, and a piece
that continues an eojeol is looked up with ``##``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from tokenizers import Token, Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer, Sequence, WhitespaceSplit

from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.tokenizer.folder import is_reserved
from kobert_kit.tokenizer.pieces import PREFIX, known_run
from kobert_kit.tokenizer.wordpiece import LongestMatch

MAX_MET = 1_000_000  # eojeols
MAX_MET_CHARS = 64  # nobody meets a longer one twice
MAX_SHARED = 1_000_000  # tokens; of characters there are few more
MAX_PIECES = 500_000


def attach_analyser(tokenizer: Tokenizer, unknown: str, settings: KiwiSettings) -> EojeolTokens:
    """Let ``tokenizer`` cut eojeols into morphemes; it can be neither pickled nor saved then.

    Returns what it does so with.
    """
    added = tokenizer.get_added_tokens_decoder().values()
    # Others, such as an entry that is also looked for as a single word, text still yields.
    special = {str(token.content) for token in added if token.special}
    entries = {
        entry: number
        for entry, number in tokenizer.get_vocab(with_added_tokens=False).items()
        if entry not in special and not is_reserved(entry)
    }
    number = tokenizer.token_to_id(unknown)
    assert number is not None
    eojeols = EojeolTokens(entries, (unknown, number), settings)
    tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), PreTokenizer.custom(eojeols)])
    return eojeols


# An entry found in a text: itself, its id, and the bytes that it takes in UTF-8.
_Entry = tuple[str, int, int]
# A token: the entry, its id, and where it is in its eojeol.
_Place = tuple[str, int, int, int]


class EojeolTokens:
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
        self._joined = frozenset(
            entry for entry in vocabulary if len(entry) == 1 and PREFIX + entry in vocabulary
        )
        self._known_run = known_run(self._joined)
        self._split = Splitter(settings).split_eojeol
        self._entries = lru_cache(MAX_PIECES)(self._match_piece)
        # Token objects are few and shared. Each has a character, and an eojeol, or a piece that
        # begins at some byte, is kept with the string of its tokens': the garbage collector would
        # visit lists, tuples and arrays.
        self._shared: dict[str, Token] = {}
        self._characters: dict[_Place, str] = {}
        self._spelled: dict[str, str] = {}
        self._met: dict[str, str] = {}

    def pre_tokenize(self, text: Any) -> None:
        """Called by the library with a normalised ``tokenizers.PreTokenizedString``."""
        text.tokenize(self.tokens)

    def meet(self, texts: Iterable[str]) -> None:
        """Analyse the new eojeols of normalised ``texts``, which are about to be encoded.

        Nothing depends on it but the time: the analyser's model stays in the processor's cache
        while it is at work, and is driven out of it by all that the library does between two calls.
        """
        for text in texts:
            for eojeol in text.split():
                if eojeol not in self._met and len(eojeol) <= MAX_MET_CHARS:
                    self._meet(eojeol)

    def tokens(self, eojeol: str) -> list[Token]:
        """The tokens of a normalised eojeol; offsets are bytes of it in UTF-8."""
        if len(eojeol) > MAX_MET_CHARS:
            return [_token(place) for place in self._places(eojeol)]
        met = self._met.get(eojeol)
        if met is None:
            met = self._meet(eojeol)
        return list(map(self._shared.__getitem__, met))

    def _meet(self, eojeol: str) -> str:
        if len(self._met) >= MAX_MET or len(self._shared) >= MAX_SHARED:
            self._met, self._spelled, self._characters, self._shared = {}, {}, {}, {}
        met, start = "", 0
        for piece, continues in self._pieces(eojeol):
            key = piece + chr(2 * start + continues)
            characters = self._spelled.get(key)
            if characters is None:
                places = _places(self._entries(piece, continues), start)
                characters = self._spelled[key] = "".join(map(self._character, places))
            met += characters
            start += len(piece.encode())
        self._met[eojeol] = met
        return met

    def _character(self, place: _Place) -> str:
        character = self._characters.get(place)
        if character is None:
            character = self._characters[place] = chr(len(self._shared))
            self._shared[character] = _token(place)
        return character

    def _places(self, eojeol: str) -> Iterator[_Place]:
        entries = (self._entries(piece, continues) for piece, continues in self._pieces(eojeol))
        return _places(chain.from_iterable(entries), 0)

    def _pieces(self, eojeol: str) -> list[tuple[str, bool]]:
        """The surface morphemes and isolated characters, each with whether it is looked up with ##.

        What follows an isolated character begins anew.
        """
        cuts = self._split(eojeol)
        pieces: list[tuple[str, bool]] = []
        if self._joined.issuperset(eojeol):  # nearly always, and much faster
            left = 0
            for right in (*cuts, len(eojeol)):
                pieces.append((eojeol[left:right], left > 0))
                left = right
            return pieces
        reach = 0
        for start, end in (run.span() for run in self._known_run.finditer(eojeol)):
            pieces += ((char, False) for char in eojeol[reach:start])
            edges = [start, *(cut for cut in cuts if start < cut < end), end]
            pieces += ((eojeol[left:right], left > start) for left, right in pairwise(edges))
            reach = end
        pieces += ((char, False) for char in eojeol[reach:])
        return pieces

    def _match_piece(self, piece: str, continues: bool) -> tuple[_Entry, ...]:
        if len(piece) == 1 and piece not in self._joined:
            number = self._vocabulary.get(piece)
            found = self._unknown if number is None else (piece, number)
            return ((*found, len(piece.encode())),)
        entries = []
        start = 0
        for end, entry in self._match.entries(piece, continues):
            entries.append((entry, self._vocabulary[entry], len(piece[start:end].encode())))
            start = end
        return tuple(entries)


def _places(entries: Iterable[_Entry], start: int) -> Iterator[_Place]:
    for entry, number, size in entries:
        yield entry, number, start, start + size
        start += size


def _token(place: _Place) -> Token:
    entry, number, start, end = place
    return Token(number, entry, (start, end))
