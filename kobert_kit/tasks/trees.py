"""The best dependency tree for the scores of all arcs."""

from __future__ import annotations

import numpy as np


def is_tree(heads: np.ndarray) -> bool:
    """Whether exactly one word hangs on the root, and every other one on it in the end.

    ``heads`` (words,) are places from 1; 0 is the root.
    """
    above = np.concatenate([[0], heads])
    for _ in range(len(above).bit_length()):  # twice as far up each time
        above = above[above]
    return int((heads == 0).sum()) == 1 and not above.any()


def best_tree(scores: np.ndarray) -> np.ndarray:
    """The heads (words,) of the tree whose arcs have the highest sum of ``scores``.

    ``scores`` (words, words + 1) are those of each word's heads, the root first. -inf is worse than
    any other score. One word hangs on the root.
    """
    words = len(scores)
    finite = np.isfinite(scores)
    if not finite.any():
        raise ValueError("no arc has a score")
    least, most = float(scores[finite].min()), float(scores[finite].max())
    # What no sum of other arcs makes good: so of the root's arcs a tree has but the one it needs.
    price = 1.0 + words * (most - least)
    weights = np.full((words + 1, words + 1), -np.inf)
    weights[1:] = np.where(finite, scores, least - price)
    weights[1:, 0] -= price * (words + 1)
    np.fill_diagonal(weights, -np.inf)
    heads: np.ndarray = _arborescence(weights)[1:]
    return heads


def _arborescence(weights: np.ndarray) -> np.ndarray:
    """The heads of the spanning tree from node 0 with the highest sum (Chu & Liu 1965, Edmonds
    1967).

    ``weights`` (nodes, nodes) of each node's heads; -inf on the diagonal. Takes each node's best
    head; a cycle becomes one node, which any head outside may enter for what that costs it.
    """
    heads: np.ndarray = weights.argmax(axis=1)
    heads[0] = 0
    cycle = _cycle(heads)
    if not len(cycle):
        return heads
    outside = np.setdiff1d(np.arange(len(heads)), cycle)
    enters = weights[cycle[:, None], outside] - weights[cycle, heads[cycle]][:, None]
    leaves = weights[outside[:, None], cycle]
    contracted = np.full((len(outside) + 1,) * 2, -np.inf)
    contracted[:-1, :-1] = weights[outside[:, None], outside]
    contracted[-1, :-1] = enters.max(axis=0)
    contracted[:-1, -1] = leaves.max(axis=1)
    *found, entry = _arborescence(contracted).tolist()
    for place, (node, head) in enumerate(zip(outside.tolist(), found, strict=True)):
        inside = head == len(outside)
        heads[node] = cycle[leaves[place].argmax()] if inside else outside[head]
    heads[cycle[enters[:, entry].argmax()]] = outside[entry]
    return heads


def _cycle(heads: np.ndarray) -> np.ndarray:
    """The nodes of one cycle; none in a tree from node 0."""
    seen_from = [0] + [-1] * (len(heads) - 1)
    for start in range(1, len(heads)):
        node = start
        while seen_from[node] < 0:
            seen_from[node] = start
            node = int(heads[node])
        if seen_from[node] == start:
            nodes = [node]
            while (after := int(heads[nodes[-1]])) != node:
                nodes.append(after)
            return np.array(sorted(nodes))
    return np.array([], dtype=np.int64)
