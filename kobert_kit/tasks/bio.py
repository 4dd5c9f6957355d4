"""B-, I- and O tags: the best valid sequence, and tags of characters from those of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

Span = tuple[int, int]
OUTSIDE = "O"


def best_tags(log_probabilities: np.ndarray, labels: Sequence[str]) -> list[str]:
    """The most probable sequence in which every I- follows a B- or I- of its type.

    ``log_probabilities`` (tokens, labels) are independent of each other (Viterbi, 1967).
    """
    if not len(log_probabilities):
        return []
    allowed = _transitions(tuple(labels))
    starts = [0.0 if not label.startswith("I-") else -np.inf for label in labels]
    best = log_probabilities[0].astype(np.float64) + starts
    came_from = []
    for row in log_probabilities[1:]:
        reached = best[:, None] + allowed
        came_from.append(reached.argmax(0))
        best = reached.max(0) + row
    path = [int(best.argmax())]
    for before in reversed(came_from):
        path.append(int(before[path[-1]]))
    return [labels[number] for number in reversed(path)]


@lru_cache(maxsize=8)
def _transitions(labels: tuple[str, ...]) -> np.ndarray:
    """(labels, labels) 0 where the second may follow the first, else -inf."""
    return np.array(
        [
            [0.0 if not b.startswith("I-") or a[1:] == b[1:] else -np.inf for b in labels]
            for a in labels
        ]
    )


def tags_of_tokens(tags: Sequence[str], spans: Sequence[Span]) -> list[str]:
    """The tag of each token: that of its first character."""
    return [tags[start] for start, _ in spans]


def tags_of_characters(length: int, token_tags: Sequence[str], spans: Sequence[Span]) -> list[str]:
    """Tags of all ``length`` characters of a text.

    The first character of a token has its tag and the others go on. What lies between two tokens,
    spaces, belongs to an entity where the second one continues it.
    """
    tags = [OUTSIDE] * length
    reached = 0
    for tag, (start, end) in zip(token_tags, spans, strict=True):
        inside = OUTSIDE if tag == OUTSIDE else f"I-{tag[2:]}"
        if tag.startswith("I-"):
            tags[reached:start] = [tag] * (start - reached)
        tags[start:end] = [tag, *[inside] * (end - start - 1)]
        reached = end
    return tags
