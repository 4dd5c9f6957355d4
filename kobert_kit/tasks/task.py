"""What a KLUE task is made of: its files, its labels, its fields, its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Example:
    """One text or pair of texts. ``label`` is a label's name, or a score for regression."""

    guid: str
    text_a: str
    text_b: str | None
    label: str | float


@dataclass(frozen=True)
class SentenceTask:
    """A task that gives one label or one score to a text or a pair of texts.

    ``folder`` names the folder of the official release and starts its files' names. ``texts`` are
    the fields with the texts; ``label`` and ``hub_label`` lead to the label in a record of the
    official files and of the hub. ``labels`` are in official order; none means regression between
    0 and 5. ``scores`` takes gold and predicted labels and returns metrics by name, times 100;
    ``headline`` is the one that KLUE ranks by.
    """

    name: str
    folder: str
    texts: tuple[str, ...]
    label: tuple[str, ...]
    hub_label: tuple[str, ...]
    labels: tuple[str, ...]
    headline: str
    scores: Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]

    @property
    def is_regression(self) -> bool:
        return not self.labels
