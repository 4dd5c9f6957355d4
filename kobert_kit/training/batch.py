"""What every batch has in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch

B = TypeVar("B", bound="TensorBatch")


@dataclass(kw_only=True)
class TensorBatch:
    """Tensors that go to a device together; ``tokens`` counts those that are not padding."""

    tokens: int

    def to(self: B, device: torch.device) -> B:
        moved: dict[str, Any] = {
            name: value.to(device, non_blocking=True)
            for name, value in vars(self).items()
            if isinstance(value, torch.Tensor)
        }
        return replace(self, **moved)
