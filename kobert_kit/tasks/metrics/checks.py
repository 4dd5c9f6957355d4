"""What cannot be scored is refused in one line that says where it is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_pairs(gold: Sized, pred: Sized) -> None:
    """There is something to score, and a prediction for each gold value.

    Raises:
        ValueError: otherwise.
    """
    if len(gold) != len(pred):
        raise ValueError(f"{len(gold)} gold values, but {len(pred)} predictions")
    if not len(gold):
        raise ValueError("nothing to score")


def check_labels(labels: Iterable[str], label_order: Collection[str] | None) -> None:
    """Every label is in ``label_order``, which has each once; None allows any label.

    Raises:
        ValueError: otherwise; names the labels.
    """
    if label_order is None:
        return
    known = set(label_order)
    if len(known) != len(label_order):
        raise ValueError(f"a label is in label_order twice: {list(label_order)}")
    if unknown := set(labels) - known:
        raise ValueError(f"not in label_order: {sorted(map(str, unknown))}")


def label_ids(labels: Sequence[str], label_order: Sequence[str]) -> NDArray[np.int64]:
    """The place of each label in ``label_order``.

    Raises:
        ValueError: a label that is not in ``label_order``, or one that is in it twice.
    """
    check_labels(labels, label_order)
    place = {label: number for number, label in enumerate(label_order)}
    return np.fromiter((place[label] for label in labels), np.int64, len(labels))


def field(record: Mapping[str, Any], name: str, where: str) -> Any:
    """``record[name]``.

    Raises:
        ValueError: there is no such field; says ``where``.
    """
    if name not in record:
        raise ValueError(f"{where}: no '{name}'")
    return record[name]
