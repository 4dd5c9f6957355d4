"""How fast this machine multiplies matrices when nothing else is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from kobert_kit.pretrain.flops import Product
from kobert_kit.pretrain.gauges import now
from kobert_kit.training.linear import onednn_is_faster, product


def product_rate(
    products: Sequence[Product], device: torch.device, dtype: torch.dtype, seconds: float
) -> float:
    """FLOP/s of ``products`` with weights, each with its two gradients, weighed by their counts.

    Each is run for about ``seconds`` / len(``products``), three times at least. Results go into
    memory that is there already, which those of a training step do not always do; those of oneDNN,
    where training takes it (see `kobert_kit.training.linear`), into new memory.
    """
    share = seconds / len(products)
    total = sum(one.count * _seconds(one, device, dtype, share) for one in products)
    return 3 * sum(one.flops for one in products) / total


def _seconds(one: Product, device: torch.device, dtype: torch.dtype, seconds: float) -> float:
    """Seconds of one product and its gradients."""
    inputs = torch.randn(one.rows, one.inner, device=device, dtype=dtype)
    weight = torch.randn(one.columns, one.inner, device=device, dtype=dtype)
    output = torch.empty(one.rows, one.columns, device=device, dtype=dtype)
    to_inputs, to_weight = torch.empty_like(inputs), torch.empty_like(weight)

    def call() -> None:
        if device.type == "cpu" and dtype is torch.float32 and onednn_is_faster():
            product(inputs, weight)
            product(output, weight.T)
            product(inputs.T, output.T)
            return
        torch.mm(inputs, weight.T, out=output)
        torch.mm(output, weight, out=to_inputs)
        torch.mm(output.T, inputs, out=to_weight)

    _mean_seconds(call, 1, device)  # chooses kernels and touches the memory
    once = _mean_seconds(call, 1, device)
    return _mean_seconds(call, max(1, int(seconds / once)), device)


def _mean_seconds(call: Callable[[], None], count: int, device: torch.device) -> float:
    """A GPU is waited for after all calls, not after each."""
    started = now(device)
    for _ in range(count):
        call()
    return (now(device) - started) / count
