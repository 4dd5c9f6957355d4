"""Training: which strings become entries of the vocabulary.

Byte-pair merges (Sennrich et al. 2016) over counted pieces, so a merge never crosses a piece, and
then a choice among the merged strings by what WordPiece's longest-match-first does with them: a
string that it never uses is dead, and one that it uses mostly across two morphemes does harm.
Exact counts and ties broken by the strings themselves make it the same on every run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from typing import Any

from tqdm import tqdm

from kobert_kit.collector import collector_paused
from kobert_kit.console import progress
from kobert_kit.tokenizer.merges import merges
from kobert_kit.tokenizer.pieces import PREFIX, Cuts, Run

# Of an entry's uses. Without the analyser, longest-match-first takes 아이 out of 아|이다 as well.
# With 32,000 entries from 20 MB, no bound left a token across a morpheme in 5.0 % of the eojeols
# of KLUE-NER dev; 0.5 in 1.3 %, 0.2 in 0.7 %, 0.1 in 0.5 %, with 1.5, 2.1 and 2.6 % more tokens.
MAX_CROSSING = 0.2
# Candidates for each place, of which those that are used most remain.
SURPLUS = 1.15
MAX_ROUNDS = 6


@collector_paused()
def train_wordpiece(
    pieces: Mapping[str, int],
    runs: Mapping[Run, int],
    alphabet: list[str],
    size: int,
    min_frequency: int,
) -> list[str]:
    """``size`` entries: the ``alphabet``'s, then merged strings in the order of their merges.

    A merged string stays only if longest-match-first uses it ``min_frequency`` times or more on
    ``pieces`` (strings as in the vocabulary, with their counts), and more than others: ##습니 is
    dead once ##습니다 is there. It goes if more than MAX_CROSSING of its uses on ``runs`` (what
    lies between isolated characters, with the cuts between morphemes) lie across a cut. Where the
    text does not yield enough strings, there are fewer entries.
    """
    source = merges(pieces, min_frequency)
    room = max(0, size - len(alphabet))
    wanted = missing = int(room * SURPLUS)
    in_runs = Uses([(text, cuts, count) for (text, cuts), count in runs.items()])
    in_pieces = Uses([(piece, (), count) for piece, count in pieces.items()])
    merged: list[str] = []
    alive: list[str] = []
    rejected: set[str] = set()
    with progress(wanted, "merge", "entry", unit_scale=True) as bar:
        for _ in range(MAX_ROUNDS):
            more = list(_counted(islice(source, max(0, missing)), max(0, missing), bar))
            merged += more
            # What is rejected gives way to others, which may then cross in its place.
            in_runs.change({*alphabet, *merged} - rejected)
            crossing = in_runs.crossing()
            rejected |= crossing
            kept = [string for string in merged if string not in rejected]
            in_pieces.change({*alphabet, *kept})
            alive = [string for string in kept if in_pieces.counts[string] >= min_frequency]
            missing = wanted - len(alive)
            if len(crossing) <= room // 1000 and (missing <= 0 or not more):
                break
    return alphabet + _most_used(in_pieces, alphabet, alive, room)


def _counted(strings: Iterable[str], most: int, bar: tqdm[Any]) -> Iterator[str]:
    """Pass ``strings`` on, of which ``most`` more are expected."""
    bar.total = max(bar.total, bar.n + most)
    for string in strings:
        yield string
        bar.update()


def _most_used(pieces: Uses, alphabet: list[str], strings: list[str], room: int) -> list[str]:
    """The ``room`` strings that longest-match-first uses most, in their order.

    A few go at a time: what they were used for is then counted for others.
    """
    with progress(max(0, len(strings) - room), "choose", "entry", unit_scale=True) as bar:
        while len(strings) > room:
            pieces.change({*alphabet, *strings})
            count = max(room, int(0.93 * len(strings)))
            best = nlargest(count, range(len(strings)), key=lambda n: pieces.counts[strings[n]])
            bar.update(len(strings) - count)
            strings = [strings[number] for number in sorted(best)]
    return strings


class LongestMatch:
    """WordPiece's choice of entries: always the longest that fits (Wu et al. 2016)."""

    def __init__(self, vocabulary: Collection[str]) -> None:
        self._heads = {entry: entry for entry in vocabulary if not entry.startswith(PREFIX)}
        self._tails = {
            entry[len(PREFIX) :]: entry for entry in vocabulary if entry.startswith(PREFIX)
        }
        self._longest = max(map(len, vocabulary), default=0)

    def entries(self, text: str, continues: bool = False) -> list[tuple[int, str]]:
        """Where each entry of ``text`` ends, and the entry; characters are entries in both forms.

        ``continues`` says that ``text`` continues an eojeol.
        """
        found = []
        known = self._tails if continues else self._heads
        start, length, longest = 0, len(text), self._longest
        while start < length:
            end = start + longest if start + longest < length else length
            while (entry := known.get(text[start:end])) is None:
                end -= 1
            found.append((end, entry))
            start, known = end, self._tails
        return found


class Uses:
    """How often longest-match-first uses each entry of a changing vocabulary on the same texts.

    Texts are as in the vocabulary (먹었, ##었습니다), with the cuts between morphemes in them and
    how often they occur. ``counts`` are the uses of each entry, ``across`` those across a cut;
    entries of one character are not counted.
    """

    def __init__(self, texts: Sequence[tuple[str, Cuts, int]]) -> None:
        self._texts = texts
        self._vocabulary: set[str] = set()
        self._match = LongestMatch(())
        # By entry: the texts that use it, and some that did.
        self._users: defaultdict[str, list[int]] = defaultdict(list)
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.across: defaultdict[str, int] = defaultdict(int)

    def crossing(self) -> set[str]:
        """The entries with more than MAX_CROSSING of their uses across a cut."""
        return {
            entry
            for entry, count in self.across.items()
            if count > MAX_CROSSING * self.counts[entry]
        }

    def change(self, vocabulary: set[str]) -> None:
        """Count with this ``vocabulary`` from now on; only texts that it changes cost time."""
        match = LongestMatch(vocabulary)
        if self._vocabulary:
            changed: Iterable[int] = self._changed(vocabulary)
            self._count(changed, self._match, -1)
        else:
            changed = range(len(self._texts))
        self._vocabulary, self._match = vocabulary, match
        self._count(changed, match, 1)

    def _changed(self, vocabulary: set[str]) -> set[int]:
        """The texts that use an entry that goes, or in which a new one may go further."""
        changed: set[int] = set()
        for entry in self._vocabulary - vocabulary:
            changed.update(self._users.pop(entry, ()))
        for entry in vocabulary - self._vocabulary:
            # The first new entry in a text takes the place of the longest old one it begins with.
            shorter = entry[:-1]
            while shorter and shorter not in self._vocabulary:
                shorter = shorter[:-1]
            inside = entry.removeprefix(PREFIX)
            texts = self._texts
            changed.update(n for n in self._users.get(shorter, ()) if inside in texts[n][0])
        return changed

    def _count(self, numbers: Iterable[int], match: LongestMatch, sign: int) -> None:
        texts, users, counts, across = self._texts, self._users, self.counts, self.across
        for number in numbers:
            text, cuts, count = texts[number]
            continues = text.startswith(PREFIX)
            form = text[len(PREFIX) :] if continues else text
            start = 0
            for end, entry in match.entries(form, continues):
                if sign > 0:
                    users[entry].append(number)
                if end - start > 1:
                    counts[entry] += sign * count
                    if cuts and any(start < cut < end for cut in cuts):
                        across[entry] += sign * count
                start = end
