"""How fast this machine multiplies matrices when nothing else is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from kobert_kit.pretrain.flops import Product
from kobert_kit.pretrain.gauges import now
from kobert_kit.training.linear import onednn_is_faster, product


def fast_rate(
    products: Sequence[Product], device: torch.device, dtype: torch.dtype, seconds: float
) -> float:
    """FLOP/s of ``products`` with weights, each with its two gradients, as training makes them.

    Each is run for about ``seconds`` / len(``products``), three times at least, and weighed by its
    count. See `kobert_kit.training.linear` for where training takes oneDNN.
    """
    onednn = device.type == "cpu" and dtype is torch.float32 and onednn_is_faster()
    return _rate(_by_onednn if onednn else _by_pytorch, products, device, dtype, seconds)


def pytorch_rate(
    products: Sequence[Product], device: torch.device, dtype: torch.dtype, seconds: float
) -> float:
    """The same by PyTorch's own product, whether or not training takes it."""
    return _rate(_by_pytorch, products, device, dtype, seconds)


@dataclass(frozen=True)
class _Operands:
    """Of a linear layer: (rows, inner), (columns, inner), (rows, columns), and two gradients."""

    inputs: torch.Tensor
    weight: torch.Tensor
    output: torch.Tensor
    to_inputs: torch.Tensor
    to_weight: torch.Tensor


def _by_onednn(operands: _Operands) -> None:
    """Results go into new memory."""
    product(operands.inputs, operands.weight)
    product(operands.output, operands.weight.T)
    product(operands.inputs.T, operands.output.T)


def _by_pytorch(operands: _Operands) -> None:
    """Results go into memory that is there already, which those of a step do not always do."""
    torch.mm(operands.inputs, operands.weight.T, out=operands.output)
    torch.mm(operands.output, operands.weight, out=operands.to_inputs)
    torch.mm(operands.output.T, operands.inputs, out=operands.to_weight)


def _rate(
    multiply: Callable[[_Operands], None],
    products: Sequence[Product],
    device: torch.device,
    dtype: torch.dtype,
    seconds: float,
) -> float:
    share = seconds / len(products)
    total = 0.0
    for one in products:
        inputs = torch.randn(one.rows, one.inner, device=device, dtype=dtype)
        weight = torch.randn(one.columns, one.inner, device=device, dtype=dtype)
        output = torch.empty(one.rows, one.columns, device=device, dtype=dtype)
        operands = _Operands(
            inputs, weight, output, torch.empty_like(inputs), torch.empty_like(weight)
        )
        call = partial(multiply, operands)
        _mean_seconds(call, 1, device)  # chooses kernels and touches the memory
        once = _mean_seconds(call, 1, device)
        total += one.count * _mean_seconds(call, max(1, int(share / once)), device)
    return 3 * sum(one.flops for one in products) / total


def _mean_seconds(call: Callable[[], None], count: int, device: torch.device) -> float:
    """A GPU is waited for after all calls, not after each."""
    started = now(device)
    for _ in range(count):
        call()
    return (now(device) - started) / count
