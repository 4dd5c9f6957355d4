"""Training: which strings become entries of the vocabulary.

Byte-pair merges (Sennrich et al. 2016) over counted pieces, so a merge never crosses a piece, and
then a choice among the merged strings by what WordPiece's longest-match-first would use. Exact
counts and ties broken by the strings themselves make it the same on every run.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise

from kobert_kit.tokenizer.pieces import PREFIX

Pair = tuple[str, str]


def train_wordpiece(
    pieces: Mapping[str, int], alphabet: list[str], size: int, min_frequency: int
) -> list[str]:
    """``size`` entries: those of ``alphabet``, then merged strings in the order of their merges.

    A merged string stays only if longest-match-first uses it ``min_frequency`` times or more on
    ``pieces`` (strings as in the vocabulary, with their counts): ##습니 is dead once ##습니다
    is there. Where the text does not yield enough strings, there are fewer entries.
    """
    source = merges(pieces, min_frequency)
    merged: list[str] = []
    alive: list[str] = []
    missing = size - len(alphabet)
    while missing > 0 and (more := list(islice(source, missing))):
        merged += more
        used = _use_counts(pieces, {*alphabet, *merged})
        alive = [string for string in merged if used[string] >= min_frequency]
        missing = size - len(alphabet) - len(alive)
    return alphabet + alive


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


def _use_counts(pieces: Mapping[str, int], vocabulary: set[str]) -> Counter[str]:
    """How often longest-match-first uses each entry on ``pieces``."""
    used: Counter[str] = Counter()
    longest = max(map(len, vocabulary))
    for piece, count in pieces.items():
        rest = piece
        while rest != PREFIX:
            end = min(len(rest), longest)
            while rest[:end] not in vocabulary:
                end -= 1
            used[rest[:end]] += count
            rest = PREFIX + rest[end:]
    return used
