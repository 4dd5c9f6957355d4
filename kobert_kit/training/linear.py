"""Products with weights by oneDNN, on processors where what PyTorch takes for them is slow.

In float32 PyTorch asks MKL, which keeps its AVX-512 kernels to Intel's processors. Where others
have AVX-512, oneDNN, which comes with PyTorch as well, is up to twice as fast: 230 GFLOP/s a core
against 100 on an AMD EPYC of family 26. Which of them it is depends on the machine alone, so that
a run that continues on it ends as if it had not stopped.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

CPUINFO = Path("/proc/cpuinfo")


def use_fast_products(model: nn.Module) -> None:
    """Let the linear layers of ``model`` multiply with what is fast here; the weights stay."""
    if onednn_is_faster():
        for module in model.modules():
            if type(module) is nn.Linear:
                module.__class__ = FastLinear


@lru_cache(maxsize=1)
def onednn_is_faster() -> bool:
    return (
        torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and _vendor() not in ("", "GenuineIntel")
    )


def _vendor() -> str:
    """Who made the processor; empty where the system does not say."""
    lines = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.exists() else []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("vendor_id"))
    return next(found, "")


def product(
    inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """``inputs`` (..., in) times ``weight`` (out, in) transposed, plus ``bias`` (out,).

    Without a gradient of its own.
    """
    with torch.no_grad():
        if _takes_onednn(inputs) and inputs.numel():
            if not (weight.is_contiguous() or weight.t().is_contiguous()):
                weight = weight.contiguous()  # with gaps between its rows it is very slow
            made: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
                inputs, weight, bias, "none", [], ""
            )
            return made
        return F.linear(inputs, weight, bias)


def _takes_onednn(inputs: torch.Tensor) -> bool:
    return inputs.device.type == "cpu" and inputs.dtype is torch.float32 and onednn_is_faster()


class FastLinear(nn.Linear):
    """A linear layer by oneDNN.

    PyTorch's own under autocast, for which PyTorch takes oneDNN anyway, and in a compiled model,
    since the compiler cannot see through oneDNN's product.
    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        own = torch.compiler.is_compiling() or torch.is_autocast_enabled(input.device.type)
        if own or not _takes_onednn(input):
            return super().forward(input)
        made: torch.Tensor = _Linear.apply(  # type: ignore[no-untyped-call]
            input, self.weight, self.bias
        )
        return made


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        ctx.save_for_backward(inputs, weight)
        return product(inputs, weight, bias)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        to_inputs, to_weight, to_bias = ctx.needs_input_grad
        rows = gradient.reshape(-1, gradient.shape[-1])
        return (
            product(gradient, weight.t()) if to_inputs else None,
            _of_weight(rows, inputs.reshape(-1, inputs.shape[-1])) if to_weight else None,
            rows.sum(0) if to_bias else None,
        )


def _of_weight(gradient: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """(out, in) ``gradient`` (rows, out) transposed times ``inputs`` (rows, in)."""
    # oneDNN copies the first factor where it is transposed, so let that be the smaller one.
    if gradient.shape[1] <= inputs.shape[1]:
        return product(gradient.t(), inputs.t())
    return product(inputs.t(), gradient.t()).t()
