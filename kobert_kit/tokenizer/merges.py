"""Byte-pair merges (Sennrich et al. 2016): which strings occur most in counted pieces."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from kobert_kit.tokenizer.pieces import PREFIX

Pair = tuple[str, str]


def merges(pieces: Mapping[str, int], min_frequency: int) -> Iterator[str]:
    """The strings that byte-pair encoding makes, the most frequent pair first.

    Equally frequent pairs go by their code points. Ends when no pair occurs ``min_frequency``
    times.
    """
    words = [_characters(piece) for piece in pieces]
    counts = list(pieces.values())
    pair_counts: defaultdict[Pair, int] = defaultdict(int)
    where: defaultdict[Pair, list[int]] = defaultdict(list)
    for index, word in enumerate(words):
        for pair in pairwise(word):
            pair_counts[pair] += counts[index]
            where[pair].append(index)
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
            old = words[index]
            if len(old) < 2:
                continue
            new = _merge(old, pair, string)
            if len(new) == len(old):
                continue  # an earlier merge has taken the pair from this word, or this one before
            words[index], count = new, counts[index]
            for neighbours in pairwise(old):
                changes[neighbours] -= count
            for neighbours in pairwise(new):
                changes[neighbours] += count
                if string in neighbours:
                    where[neighbours].append(index)
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
