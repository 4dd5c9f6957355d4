"""What every batch has in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch

B = TypeVar("B", bound="TensorBatch")


@dataclass(kw_only=True)
class TensorBatch:
    """Tensors that go to a device together; ``tokens`` counts those that are not padding."""

    tokens: int

    def to(self: B, device: torch.device) -> B:
        return self._with(lambda tensor: tensor.to(device, non_blocking=True))

    def pinned(self: B) -> B:
        """In page-locked memory, from which a GPU copies without waiting."""
        return self._with(torch.Tensor.pin_memory)

    def _with(self: B, change: Callable[[torch.Tensor], torch.Tensor]) -> B:
        changed: dict[str, Any] = {
            name: change(value)
            for name, value in vars(self).items()
            if isinstance(value, torch.Tensor)
        }
        return replace(self, **changed)
