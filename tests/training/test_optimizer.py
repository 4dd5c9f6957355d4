"""AdamW that divides and clips is AdamW after dividing and clipping."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from kobert_kit.training.optimizer import ClippingAdamW
from kobert_kit.training.settings import TrainSettings

SETTINGS = TrainSettings(0.01, steps=1, weight_decay=0.1)


def small_model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7), nn.Linear(7, 3)).double()


@pytest.mark.parametrize("limit", [1e-3, 0.3, 1e3])
def test_a_step_is_that_of_the_mean_after_clipping(limit: float) -> None:
    ours, theirs = small_model(), small_model()
    adam = ClippingAdamW(ours, SETTINGS)
    reference = torch.optim.AdamW(
        [
            {"params": [p for p in theirs.parameters() if p.ndim > 1], "weight_decay": 0.1},
            {"params": [p for p in theirs.parameters() if p.ndim == 1], "weight_decay": 0.0},
        ],
        lr=0.01,
        betas=SETTINGS.betas,
        eps=SETTINGS.epsilon,
    )
    norms = []
    for step in range(5):
        inputs = torch.randn(11 + step, 5, generator=torch.manual_seed(step), dtype=torch.float64)
        ours(inputs).square().sum().backward()
        adam.divide(torch.tensor(float(len(inputs))), limit)
        adam.step()
        adam.zero_grad()
        theirs(inputs).square().sum(1).mean().backward()
        norms.append(nn.utils.clip_grad_norm_(theirs.parameters(), limit).item())
        reference.step()
        reference.zero_grad()
        for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-7)
    assert limit != 0.3 or max(norms) > 0.3, "some are clipped"


def test_weights_without_a_gradient_and_frozen_ones_stay() -> None:
    model = small_model()
    model[0].requires_grad_(False)
    adam = ClippingAdamW(model, SETTINGS)
    before = [p.clone() for p in model.parameters()]
    model[:2](torch.ones(2, 5, dtype=torch.float64)).sum().backward()  # the last layer has none
    adam.divide(torch.tensor(2), 1.0)
    adam.step()
    moved = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert moved == [False, False, True, True, False, False]


def test_decay_is_for_matrices() -> None:
    matrices, vectors = ClippingAdamW(small_model(), SETTINGS).param_groups
    assert {weight.ndim for weight in matrices["params"]} == {2} and matrices["weight_decay"] == 0.1
    assert {weight.ndim for weight in vectors["params"]} == {1} and vectors["weight_decay"] == 0
