"""The end of the head of masked language modelling: from hidden rows to their loss, in chunks.

The logits of a batch are the largest thing in its step, many times all the activations of a small
encoder. So they are made for a few rows at a time, and their gradient is taken while they lie in
the cache: they are never in memory as a whole, and what needs them is done before the backward
pass begins. The derivative of the cross entropy by the logits is softmax(logits) - onehot(label)
(Bridle 1990).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from kobert_kit.training.linear import product

CHUNK = 320  # rows; times 32,000 entries that is 41 MB of logits
SOFTMAX_ROWS = 64  # at a time, so that they stay in the cache
COLUMNS = 4096  # of the decoder's gradient at a time, likewise
ROWS = 32
IGNORED = -100  # a label of no loss, as PyTorch has it


def filled_up(positions: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``positions`` and ``labels`` (rows,) with IGNORED ones more, to a multiple of ROWS.

    Steps then have products of few shapes. For each new shape oneDNN makes code that it keeps, half
    a megabyte a time.
    """
    more = (0, -len(labels) % ROWS)
    return F.pad(positions, more), F.pad(labels, more, value=IGNORED)


def summed_loss(
    hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """Sum of the cross-entropies (nats) of ``labels`` (rows,), as a scalar with its gradients.

    Rows whose label is IGNORED add nothing.

    The logits are ``hidden`` (rows, width) times ``weight`` (vocabulary, width) transposed plus
    ``bias`` (vocabulary,); the products are of autocast's type, where that is on. The gradients
    can be asked for once.
    """
    device = hidden.device.type
    # A GPU has room for the logits, and small products would leave it idle.
    if device != "cpu" or torch.compiler.is_compiling():
        return F.cross_entropy(F.linear(hidden, weight, bias).float(), labels, reduction="sum")
    autocast = torch.is_autocast_enabled(device)
    dtype = torch.get_autocast_dtype(device) if autocast else hidden.dtype
    if torch.is_grad_enabled():
        loss: torch.Tensor = _SummedLoss.apply(  # type: ignore[no-untyped-call]
            hidden, weight, bias, labels, dtype
        )
        return loss
    return scores(hidden, weight, bias, labels)[0]


def scores(
    hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """`summed_loss` without gradients, and for how many rows the label has the highest logit."""
    loss, correct = hidden.new_zeros((), dtype=torch.float64), labels.new_zeros(())
    for part in _chunks(len(labels), CHUNK):
        logits = F.linear(hidden[part], weight, bias).float()
        loss += F.cross_entropy(logits, labels[part], reduction="sum")
        correct += (logits.argmax(-1) == labels[part]).sum()
    return loss.float(), correct


class _SummedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        labels: torch.Tensor,
        dtype: torch.dtype,
    ) -> torch.Tensor:
        rows, matrix, offset = hidden.to(dtype), weight.to(dtype), bias.to(dtype)
        exact = torch.promote_types(dtype, torch.float32)
        loss = torch.zeros((), dtype=exact)
        of_hidden, of_bias = torch.empty_like(hidden), torch.zeros_like(bias)
        of_weight = torch.empty_like(weight) if len(labels) else torch.zeros_like(weight)
        for part in _chunks(len(labels), CHUNK):
            logits = product(rows[part], matrix, offset).to(exact)
            for some in _chunks(len(logits), SOFTMAX_ROWS):
                loss += _loss_made_gradient(logits[some], labels[part][some])
            of_bias += logits.sum(0)
            gradient = logits.to(dtype)
            of_hidden[part] = product(gradient, matrix.t())
            _take_product(of_weight, gradient, rows[part], adding=part.start > 0)
        ctx.gradients = of_hidden, of_weight, of_bias
        return loss

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, scale: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        gradients = [gradient.mul_(scale) for gradient in ctx.gradients]
        del ctx.gradients  # whoever gets them may keep them without a copy
        return *gradients, None, None


def _loss_made_gradient(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The loss (a scalar) of ``logits`` (rows, vocabulary), which become its gradient by them."""
    kept = (labels != IGNORED)[:, None]
    chosen = labels[:, None].where(kept, 0)
    logits.sub_(logits.amax(1, keepdim=True))  # exp does not overflow then
    of_labels = logits.gather(1, chosen)
    totals = logits.exp_().sum(1, keepdim=True)
    logits.div_(totals)
    logits.scatter_add_(1, chosen, logits.new_full(chosen.shape, -1.0))
    if not kept.all():
        logits.mul_(kept)
    return ((totals.log() - of_labels) * kept).sum()


def _take_product(
    total: torch.Tensor, gradient: torch.Tensor, rows: torch.Tensor, adding: bool
) -> None:
    """``gradient`` (chunk, vocabulary) transposed times ``rows`` (chunk, width) into ``total``.

    Memory is slow: zeros to add the first product to, or a ``total`` of the other layout to copy in
    the end, would take as long as a chunk's product.
    """
    write = torch.Tensor.add_ if adding else torch.Tensor.copy_
    for part in _chunks(len(total), COLUMNS):
        made = product(rows.t(), gradient[:, part].contiguous().t())
        write(total[part], made.t())


def _chunks(count: int, size: int) -> Iterator[slice]:
    """Parts of one size but for the last: memory that is free again then fits the next."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
