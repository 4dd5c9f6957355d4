"""The known spelling that is most like another one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

MOST_CHANGED = 1 / 3  # of the characters


class Spellings:
    """``words``, to be found by a spelling that is nearly theirs."""

    def __init__(self, words: Sequence[str]) -> None:
        self._keys = {word: _Key.of(word) for word in words}
        self._found: dict[str, str] = {}

    def nearest(self, text: str) -> str:
        """The word that is spelled most like ``text``; ``text`` itself where none is like it.

        First a word that is equal but for white space and case. Then the one with the smallest
        edit distance, as a share of the longer spelling, if that is at most a third; of several
        the first. All digits must be the same: 16:18 is no misspelling of 16:10.
        """
        if text in self._keys:
            return text
        if text not in self._found:
            key = _Key.of(text)
            shares = {word: key.changed(other) for word, other in self._keys.items()}
            best = min(shares, key=lambda word: shares[word], default=text)
            self._found[text] = best if shares and shares[best] <= MOST_CHANGED else text
        return self._found[text]


@dataclass(frozen=True)
class _Key:
    """A spelling without white space and case, its characters, and its digits in order."""

    text: str
    characters: frozenset[str]
    digits: str

    @classmethod
    def of(cls, text: str) -> _Key:
        key = "".join(unicodedata.normalize("NFC", text).casefold().split())
        return cls(key, frozenset(key), "".join(filter(str.isdigit, key)))

    def changed(self, other: _Key) -> float:
        """The share of characters to change, or 1 where it is too much to be counted."""
        most = MOST_CHANGED * max(len(self.text), len(other.text))
        # Bounds first: a model that has learnt little writes thousands of different values.
        if (
            self.digits != other.digits
            or abs(len(self.text) - len(other.text)) > most
            or len(self.characters - other.characters) > most
        ):
            return 1.0
        if self.text == other.text:
            return 0.0
        longer = max(len(self.text), len(other.text))
        return edit_distance(self.text, other.text) / longer


def edit_distance(one: str, other: str) -> int:
    """Fewest characters to insert, delete and replace (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for number, char in enumerate(one, start=1):
        diagonal, row[0] = row[0], number
        for place, wanted in enumerate(other, start=1):
            best = min(row[place] + 1, row[place - 1] + 1, diagonal + (char != wanted))
            diagonal, row[place] = row[place], best
    return row[-1]
