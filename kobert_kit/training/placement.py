"""How a model lies in the processes that train it: whole in each, or split over all of them."""

from __future__ import annotations

import contextlib
import copy
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch
from accelerate import Accelerator
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor


class Replicated:
    """Every process has the whole model, and gradients are averaged (Li et al. 2020)."""

    def __init__(
        self, accelerator: Accelerator, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        self._accelerator = accelerator
        self.model, self.optimizer = accelerator.prepare(model, optimizer)

    def gradients(self, last: bool) -> AbstractContextManager[None]:
        """For a backward pass; those of the ``last`` part of a step are shared with the others."""
        if last:
            return contextlib.nullcontext()
        waiting: AbstractContextManager[None] = self._accelerator.no_sync(self.model)
        return waiting

    @contextlib.contextmanager
    def whole(self) -> Iterator[nn.Module]:
        """The model with its weights of now."""
        yield self._accelerator.unwrap_model(self.model)

    def state(self) -> dict[str, Any] | None:
        """Weights and optimizer, as they were loaded; None where another process has them."""
        if not self._accelerator.is_main_process:
            return None
        model = self._accelerator.unwrap_model(self.model)
        return {"model": model.state_dict(), "optimizer": self.optimizer.state_dict()}


class Sharded:
    """Every process has a part of each weight, its gradient and its moments.

    A layer is put together where it is needed, and taken apart again (FSDP, Zhao et al. 2023;
    Rajbhandari et al. 2020). What a run saves is the same as when it is `Replicated`. All processes
    must call each method at the same time.
    """

    def __init__(
        self, accelerator: Accelerator, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        self._accelerator, self._whole = accelerator, model
        self.model: Any = copy.deepcopy(model).to(accelerator.device)
        mesh = init_device_mesh(accelerator.device.type, (accelerator.num_processes,))
        for layers in list(self.model.modules()):
            for layer in layers if isinstance(layers, nn.ModuleList) else ():
                fully_shard(layer, mesh=mesh)
        fully_shard(self.model, mesh=mesh)
        parts: dict[torch.Tensor, Any] = dict(
            zip(model.parameters(), self.model.parameters(), strict=True)
        )
        moments: dict[torch.Tensor, Any] = {
            parts[weight]: {name: _part(value, parts[weight]) for name, value in values.items()}
            for weight, values in optimizer.state.items()
        }
        optimizer.state = defaultdict(dict, moments)
        for group in optimizer.param_groups:
            group["params"] = [parts[weight] for weight in group["params"]]
        self.optimizer = accelerator.prepare(optimizer)

    def gradients(self, last: bool) -> AbstractContextManager[None]:
        """For a backward pass; those of the ``last`` part of a step are shared with the others."""
        self.model.set_requires_gradient_sync(last)
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def whole(self) -> Iterator[nn.Module]:
        """The model that was split, with its weights of now; on the device only meanwhile."""
        self._whole.load_state_dict(_whole(self.model.state_dict()))
        yield self._whole.to(self._accelerator.device)
        self._whole.to("cpu")

    def state(self) -> dict[str, Any] | None:
        """Weights and optimizer, as they were loaded; None where another process has them."""
        state = {
            "model": _whole(self.model.state_dict()),
            "optimizer": _whole(self.optimizer.state_dict()),
        }
        return state if self._accelerator.is_main_process else None


def local(weight: torch.Tensor) -> torch.Tensor:
    """The part of ``weight`` that this process has."""
    return weight.to_local() if isinstance(weight, DTensor) else weight


def _part(value: Any, like: DTensor) -> Any:
    """Moments are split as their weight is; a count of steps is not."""
    if not isinstance(value, torch.Tensor) or value.shape != like.shape:
        return value
    value = value.to(like.device)
    return distribute_tensor(value, like.device_mesh, like.placements, src_data_rank=None)


def _whole(state: Any) -> Any:
    """A copy of nested ``state`` on the CPU, with all tensors put together."""
    if isinstance(state, dict):
        return {name: _whole(value) for name, value in state.items()}
    if isinstance(state, list):
        return [_whole(value) for value in state]
    if isinstance(state, DTensor):
        state = state.full_tensor()
    return state.detach().to("cpu", copy=True) if isinstance(state, torch.Tensor) else state
