"""The formulas, against counting by hand and against PyTorch's own counter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from kobert_kit.pretrain.flops import Product, forward_flops, step_flops, weight_products
from kobert_kit.pretrain.model import MaskedLanguageModel, new_model
from kobert_kit.pretrain.presets import PRESETS, Preset

TINY = Preset(3, 32, 2, 24, 4, 1e-3, 0.1, 0.0)
VOCABULARY, MASKED = 500, 13


def test_by_hand():
    """One layer, two wide, one sequence of three tokens, one of them masked, five entries."""
    one = replace(TINY, layers=1, hidden=2, heads=1)
    projections = 4 * (3 * 2 * 2)  # multiplications
    feed_forward = 2 * (3 * 2 * 8)
    attention = 2 * (3 * 3 * 2)
    head = 2 * 2 + 2 * 5
    assert forward_flops(one, 5, 1, 3, 1) == 2 * (projections + feed_forward + attention + head)
    assert Product(3, 2, 8, count=4).flops == 4 * 2 * 3 * 2 * 8


@pytest.mark.parametrize("backward", [False, True])
def test_what_pytorch_counts(backward: bool):
    """Attention written out as products: the fused kernels' own counts include recomputing."""
    bert = new_model(TINY, VOCABULARY, 0, np.ones(VOCABULARY, dtype=np.int64), seed=0)
    bert.set_attn_implementation("eager")
    model = MaskedLanguageModel(bert)
    shape = (TINY.batch_size, TINY.length)
    with FlopCounterMode(display=False) as counter:
        logits = model(torch.randint(5, VOCABULARY, shape), None, torch.arange(MASKED))
        if backward:
            F.cross_entropy(logits, torch.arange(MASKED)).backward()
    formula = step_flops if backward else forward_flops
    expected = formula(TINY, VOCABULARY, *shape, MASKED)
    assert counter.get_total_flops() == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("name", PRESETS)
def test_six_a_parameter_and_token(name: str):
    """The rule of thumb of Kaplan et al. 2020, for what is left without attention and head."""
    preset = PRESETS[name]
    matrices = preset.layers * 12 * preset.hidden**2
    encoder = weight_products(preset, 32_000, 1, 0)
    assert 3 * sum(product.flops for product in encoder) == 6 * matrices
