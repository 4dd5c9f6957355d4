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
ENTRIES = 4096  # of the vocabulary at a time, so that their logits stay in the cache
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
        rows, matrix = hidden.to(dtype), weight.to(dtype)
        exact = torch.promote_types(dtype, torch.float32)
        loss = torch.zeros((), dtype=exact)
        of_hidden, of_bias = torch.zeros_like(hidden), torch.zeros_like(bias)
        of_weight = None
        for part in _chunks(len(labels), CHUNK):
            # (vocabulary, rows): so the largest operand need not be packed, and the gradient of the
            # weight comes in the weight's layout.
            logits = product(matrix, rows[part]).to(exact)
            loss += _loss_made_gradient(logits, bias, labels[part])
            of_bias += logits.sum(1)
            gradient = logits.to(dtype)
            _add_product(of_hidden[part], gradient, matrix)
            made = product(gradient, rows[part].t())
            of_weight = made.to(weight) if of_weight is None else of_weight.add_(made)
        ctx.gradients = (
            of_hidden,
            torch.zeros_like(weight) if of_weight is None else of_weight,
            of_bias,
        )
        return loss

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, scale: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        gradients = ctx.gradients
        del ctx.gradients  # whoever gets them may keep them without a copy
        if scale != 1:
            gradients = [gradient.mul_(scale) for gradient in gradients]
        return *gradients, None, None


def _loss_made_gradient(
    logits: torch.Tensor, bias: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """The loss (a scalar) of ``logits`` (vocabulary, rows) plus ``bias``.

    They become its gradient by them.
    """
    blocks = [logits[part] for part in _chunks(len(logits), ENTRIES)]
    for block, offset in zip(blocks, torch.split(bias, ENTRIES), strict=True):
        block += offset[:, None]
    # exp does not overflow where no logit is over 0.
    highest = torch.stack([block.amax(0) for block in blocks]).amax(0)
    kept = labels != IGNORED
    chosen = labels.where(kept, 0)[None]
    of_labels = logits.gather(0, chosen)[0] - highest
    totals = torch.zeros_like(highest)
    for block in blocks:
        totals += block.sub_(highest).exp_().sum(0)
    logits.scatter_add_(0, chosen, -totals[None])
    for block in blocks:
        block *= kept / totals
    return ((totals.log() - of_labels) * kept).sum()


def _add_product(total: torch.Tensor, gradient: torch.Tensor, matrix: torch.Tensor) -> None:
    """Add ``gradient`` (vocabulary, rows) transposed times ``matrix`` (vocabulary, width)."""
    for part in _chunks(len(matrix), ENTRIES):
        total += product(gradient[part].t().contiguous(), matrix[part].t())


def _chunks(count: int, size: int) -> Iterator[slice]:
    """Parts of one size but for the last: memory that is free again then fits the next."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
