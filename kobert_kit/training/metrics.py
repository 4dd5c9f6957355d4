"""The curves of a run: ``metrics.jsonl``, and TensorBoard where it is installed."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

from kobert_kit.records import atomic_file


class MetricsLog:
    """Appends one JSON object a line to ``folder/metrics.jsonl``.

    A run that continues from step ``start`` first drops the lines after it, so that the file
    reads as that of a run that was never interrupted. Lines that a crash of the system left
    unreadable go as well.
    """

    def __init__(self, folder: Path, start: int) -> None:
        self.path = folder / "metrics.jsonl"
        self._drop_after(start)
        self._stream = self.path.open("a", encoding="utf-8")
        self._board = _tensorboard(folder / "tensorboard", start)

    def _drop_after(self, start: int) -> None:
        if not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8", errors="replace")
        whole = text.rpartition("\n")[0].split("\n")
        kept = [line for line in whole if 0 < _step(line) <= start]
        with atomic_file(self.path) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def write(self, step: int, values: dict[str, Any]) -> None:
        self._stream.write(json.dumps({"step": step, **values}) + "\n")
        self._stream.flush()
        if self._board is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._board.add_scalar(name, value, step)

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()
        if self._board is not None:
            self._board.close()


def _step(line: str) -> int:
    """The step that a line is of; 0 if it is no line of ours."""
    try:
        return int(json.loads(line)["step"])
    except (ValueError, TypeError, KeyError):
        return 0


def _tensorboard(folder: Path, start: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=start)
