"""How many floating-point operations a training step has to do: formulas, nothing measured.

A multiplication with its addition counts as two, matrix products count and nothing else does, and
the backward pass counts twice the forward pass, since a product has a gradient for either factor
(Kaplan et al. 2020, section 2.1). What a kernel computes a second time to save memory does not
count: more of it is no more training (Chowdhery et al. 2022, appendix B).
"""

from __future__ import annotations

from dataclasses import dataclass

from kobert_kit.pretrain.presets import Preset


@dataclass(frozen=True)
class Product:
    """``count`` products of a (rows, inner) and an (inner, columns) matrix."""

    rows: int
    inner: int
    columns: int
    count: int = 1

    @property
    def flops(self) -> int:
        return 2 * self.rows * self.inner * self.columns * self.count


def weight_products(preset: Preset, vocab_size: int, positions: int, masked: int) -> list[Product]:
    """The products with weights in one forward pass.

    At each of ``positions`` (batch x length) every layer does 2 * (4 h^2 + 2 * h * 4h): query,
    key, value and output, then the two halves of the feed-forward part. At each of the ``masked``
    positions the head does 2 * (h^2 + h * vocabulary): its transform and the decoder.
    """
    hidden, layers = preset.hidden, preset.layers
    return [
        Product(positions, hidden, hidden, 4 * layers),
        Product(positions, hidden, 4 * hidden, layers),
        Product(positions, 4 * hidden, hidden, layers),
        Product(masked, hidden, hidden),
        Product(masked, hidden, vocab_size),
    ]


def forward_flops(preset: Preset, vocab_size: int, sequences: int, length: int, masked: int) -> int:
    """FLOPs of one forward pass over (``sequences``, ``length``) with ``masked`` predictions.

    To the products with weights come, in each layer, 4 * length * h a position: the scores of the
    queries against the keys, and the mean of the values (Narayanan et al. 2021, appendix).
    """
    positions = sequences * length
    weights = weight_products(preset, vocab_size, positions, masked)
    attention = preset.layers * positions * 4 * length * preset.hidden
    return sum(product.flops for product in weights) + attention


def step_flops(preset: Preset, vocab_size: int, sequences: int, length: int, masked: int) -> int:
    """FLOPs of a forward and a backward pass."""
    return 3 * forward_flops(preset, vocab_size, sequences, length, masked)
