"""Training: which strings become entries of the vocabulary.

Byte-pair merges (Sennrich et al. 2016) over counted pieces, so a merge never crosses a piece, and
then a choice among the merged strings by what WordPiece's longest-match-first does with them: a
string that it never uses is dead, and one that it uses mostly across two morphemes does harm.
Exact counts and ties broken by the strings themselves make it the same on every run.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from heapq import nlargest
from itertools import islice, pairwise

from kobert_kit.tokenizer.pieces import PREFIX, Run

Pair = tuple[str, str]

# Of an entry's uses. Without the analyser, longest-match-first takes 아이 out of 아|이다 as well.
# With 32,000 entries from 20 MB, no bound left a token across a morpheme in 5.0 % of the eojeols
# of KLUE-NER dev; 0.5 in 1.3 %, 0.2 in 0.7 %, 0.1 in 0.5 %, with 1.5, 2.1 and 2.6 % more tokens.
MAX_CROSSING = 0.2
# Candidates for each place, of which those that are used most remain.
SURPLUS = 1.15
MAX_ROUNDS = 6


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
    merged: list[str] = []
    alive: list[str] = []
    rejected: set[str] = set()
    for _ in range(MAX_ROUNDS):
        more = list(islice(source, max(0, missing)))
        merged += more
        # What is rejected gives way to others, which may then cross in its place.
        crossing = _crossing(runs, {*alphabet, *merged} - rejected)
        rejected |= crossing
        kept = [string for string in merged if string not in rejected]
        used = _use_counts(pieces, {*alphabet, *kept})
        alive = [string for string in kept if used[string] >= min_frequency]
        missing = wanted - len(alive)
        if len(crossing) <= room // 1000 and (missing <= 0 or not more):
            break
    return alphabet + _most_used(pieces, alphabet, alive, room)


def _most_used(
    pieces: Mapping[str, int], alphabet: list[str], strings: list[str], room: int
) -> list[str]:
    """The ``room`` strings that longest-match-first uses most, in their order.

    A few go at a time: what they were used for is then counted for others.
    """
    while len(strings) > room:
        used = _use_counts(pieces, {*alphabet, *strings})
        count = max(room, int(0.93 * len(strings)))
        best = nlargest(count, range(len(strings)), key=lambda n: used[strings[n]])
        strings = [strings[number] for number in sorted(best)]
    return strings


def merges(pieces: Mapping[str, int], min_frequency: int) -> Iterator[str]:
    """The strings that byte-pair encoding makes, the most frequent pair first.

    Equally frequent pairs go by their code points. Ends when no pair occurs ``min_frequency``
    times.
    """
    words = [_characters(piece) for piece in pieces]
    counts = list(pieces.values())
    pair_counts: defaultdict[Pair, int] = defaultdict(int)
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in pairwise(word):
            pair_counts[pair] += counts[index]
            where[pair].add(index)
    # Entries are never removed from the heap: one whose count has changed is known by it.
    heap = [(-count, pair) for pair, count in pair_counts.items()]
    heapq.heapify(heap)
    seen = set()
    while heap:
        negative, pair = heapq.heappop(heap)
        if -negative != pair_counts[pair]:
            continue
        if -negative < min_frequency:
            return
        string = pair[0] + pair[1].removeprefix(PREFIX)
        changes: defaultdict[Pair, int] = defaultdict(int)
        for index in where.pop(pair):
            old, new = words[index], _merge(words[index], pair, string)
            if len(new) == len(old):
                continue  # an earlier merge has taken the pair from this word
            words[index] = new
            for neighbours in pairwise(old):
                changes[neighbours] -= counts[index]
            for neighbours in pairwise(new):
                changes[neighbours] += counts[index]
                if string in neighbours:
                    where[neighbours].add(index)
        for neighbours, change in changes.items():
            if change:
                pair_counts[neighbours] += change
                heapq.heappush(heap, (-pair_counts[neighbours], neighbours))
        if string not in seen:
            seen.add(string)
            yield string


def _characters(piece: str) -> list[str]:
    head = 1 + (len(PREFIX) if piece.startswith(PREFIX) else 0)
    return [piece[:head], *(PREFIX + char for char in piece[head:])]


def _merge(word: list[str], pair: Pair, string: str) -> list[str]:
    first, second = pair
    merged = []
    position, last = 0, len(word) - 1
    while position <= last:
        if word[position] == first and position < last and word[position + 1] == second:
            merged.append(string)
            position += 2
        else:
            merged.append(word[position])
            position += 1
    return merged


class LongestMatch:
    """WordPiece's choice of entries: always the longest that fits (Wu et al. 2016)."""

    def __init__(self, vocabulary: Collection[str]) -> None:
        self._heads = {entry for entry in vocabulary if not entry.startswith(PREFIX)}
        self._tails = {entry[len(PREFIX) :] for entry in vocabulary if entry.startswith(PREFIX)}
        self._longest = max(map(len, vocabulary), default=0)

    def spans(self, text: str, continues: bool = False) -> Iterator[tuple[int, int]]:
        """The spans of the entries in ``text``, all of whose characters are entries in both forms.

        ``continues`` says that ``text`` continues an eojeol.
        """
        entries = self._tails if continues else self._heads
        start, length = 0, len(text)
        while start < length:
            end = min(length, start + self._longest)
            while text[start:end] not in entries:
                end -= 1
            yield start, end
            start, entries = end, self._tails


def _use_counts(pieces: Mapping[str, int], vocabulary: set[str]) -> Counter[str]:
    """How often longest-match-first uses each entry on ``pieces``."""
    spans_of = LongestMatch(vocabulary).spans
    used: Counter[str] = Counter()
    for piece, count in pieces.items():
        continues = piece.startswith(PREFIX)
        text = piece.removeprefix(PREFIX)
        for start, end in spans_of(text, continues):
            used[(PREFIX if start or continues else "") + text[start:end]] += count
    return used


def _crossing(runs: Mapping[Run, int], vocabulary: set[str]) -> set[str]:
    """The entries with more than MAX_CROSSING of their uses on ``runs`` across a cut."""
    spans_of = LongestMatch(vocabulary).spans
    uses: Counter[str] = Counter()
    across: Counter[str] = Counter()
    for (text, cuts), count in runs.items():
        for start, end in spans_of(text):
            if end - start == 1:
                continue
            entry = (PREFIX if start else "") + text[start:end]
            uses[entry] += count
            if any(start < cut < end for cut in cuts):
                across[entry] += count
    return {entry for entry, count in across.items() if count > MAX_CROSSING * uses[entry]}
