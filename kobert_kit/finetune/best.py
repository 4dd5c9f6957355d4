"""The epoch that did best on dev: its weights are kept, and a run without a better one may end."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from kobert_kit.records import atomic_file


def best_place(evaluations: Sequence[dict[str, Any]], headline: str) -> int:
    """Which of ``evaluations`` has the highest ``headline``: the first; NaN and None are lowest."""

    def value(place: int) -> float:
        found = evaluations[place][headline]
        return -math.inf if found is None or math.isnan(found) else found

    return max(range(len(evaluations)), key=value)


class BestEpoch:
    """A `Watch` of `training.loop`. ``patience`` evaluations without a better one end the run.

    The weights of each evaluation that was the best so far stay in ``folder`` until the run is
    finished, so that whichever checkpoint a stopped run continues from, those it needs are there.
    """

    def __init__(self, folder: Path, headline: str, patience: int | None) -> None:
        self.folder, self.headline, self.patience = folder, headline, patience

    def evaluated(self, model: nn.Module, evaluations: Sequence[dict[str, float]]) -> bool:
        best, last = best_place(evaluations, self.headline), len(evaluations) - 1
        if best == last:
            self.folder.mkdir(parents=True, exist_ok=True)
            packed = io.BytesIO()  # written by us, so that a full disk is an OSError
            torch.save(model.state_dict(), packed)
            with atomic_file(self._path(evaluations[last])) as temporary:
                temporary.write_bytes(packed.getbuffer())
        return self.patience is not None and last - best >= self.patience

    def restore(self, model: nn.Module, evaluations: Sequence[dict[str, float]]) -> bool:
        """Give ``model`` the best epoch's weights; False where that is the last, whose it has."""
        best = best_place(evaluations, self.headline)
        if best == len(evaluations) - 1:
            return False
        path = self._path(evaluations[best])
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        return True

    def _path(self, evaluation: dict[str, float]) -> Path:
        return self.folder / f"best-{int(evaluation['step']):09d}.pt"
