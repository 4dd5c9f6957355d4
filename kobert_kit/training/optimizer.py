"""AdamW whose step divides and clips the gradients as it reads them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor

from kobert_kit.training.settings import TrainSettings


class ClippingAdamW(torch.optim.AdamW):
    """AdamW (Loshchilov and Hutter 2019) of the weights of ``model``, as ``settings`` say."""

    def __init__(self, model: nn.Module, settings: TrainSettings) -> None:
        super().__init__(
            _groups(model, settings.weight_decay),
            lr=settings.learning_rate,
            betas=settings.betas,
            eps=settings.epsilon,
            fused=True,
        )

    def divide(self, count: torch.Tensor, limit: float) -> None:
        """Let the next step take the gradients divided by ``count`` (a scalar), and then clipped to
        a norm of ``limit`` over all of them (Pascanu et al. 2013).

        So gradients of a sum become those of the mean. It saves two passes through memory.
        """
        weights = (weight for group in self.param_groups for weight in group["params"])
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        # The fused kernels divide by it: it is there for the scaled losses of half precision.
        self.grad_scale = torch.maximum(count, _whole(norm) / limit).float()


def _groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay on matrices only, not on biases and layer norms (Devlin et al. 2019)."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return [
        {"params": [each for each in weights if each.ndim > 1], "weight_decay": weight_decay},
        {"params": [each for each in weights if each.ndim <= 1], "weight_decay": 0.0},
    ]


def _whole(value: torch.Tensor) -> torch.Tensor:
    return value.full_tensor() if isinstance(value, DTensor) else value
