"""Linear layers by oneDNN: the same values, gradients and weights as PyTorch's own."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from kobert_kit.training import linear
from kobert_kit.training.linear import FastLinear, product, use_fast_products

available = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
pytestmark = pytest.mark.skipif(not available, reason="this PyTorch has no oneDNN")


@pytest.fixture(autouse=True)
def faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor where oneDNN is faster, whatever this one is."""
    monkeypatch.setattr(linear, "onednn_is_faster", lambda: True)


def pair(inner: int, outer: int, bias: bool) -> tuple[nn.Linear, nn.Linear]:
    torch.manual_seed(0)
    plain = nn.Linear(inner, outer, bias=bias)
    fast = copy.deepcopy(plain)
    use_fast_products(fast)
    assert type(fast) is FastLinear
    return plain, fast


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("inner, outer", [(48, 16), (16, 48), (16, 1)])
@pytest.mark.parametrize("shape", [(0,), (1,), (37,), (3, 5)])
def test_same_values_and_gradients(bias: bool, inner: int, outer: int, shape: tuple[int, ...]):
    plain, fast = pair(inner, outer, bias)
    inputs = torch.randn(*shape, inner, requires_grad=True)
    again = inputs.detach().clone().requires_grad_()
    weights = torch.randn(*shape, outer)
    (plain(inputs) * weights).sum().backward()
    (fast(again) * weights).sum().backward()
    assert torch.allclose(plain(inputs), fast(again), atol=1e-5)
    assert torch.allclose(inputs.grad, again.grad, atol=1e-5)
    for one, other in zip(plain.parameters(), fast.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-4)


def test_rows_with_gaps_between_them():
    """As the first place of every sequence is, for a classifier."""
    plain, fast = pair(16, 4, bias=True)
    sequences = torch.randn(6, 5, 16)
    for layer in (plain, fast):
        layer(sequences[:, 0]).pow(2).sum().backward()
    assert torch.allclose(plain.weight.grad, fast.weight.grad, atol=1e-4)
    assert torch.allclose(product(sequences[0], sequences[:, 0]), sequences[0] @ sequences[:, 0].T)


def test_weights_are_the_same_objects_under_the_same_names():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.LayerNorm(4))
    model[1].weight = model[0].weight
    before = dict(model.named_parameters())
    use_fast_products(model)
    assert all(before[name] is value for name, value in model.named_parameters())
    assert [type(part) for part in model] == [FastLinear, FastLinear, nn.LayerNorm]


def test_other_types_and_autocast_are_left_to_pytorch():
    plain, fast = pair(16, 8, bias=True)
    inputs = torch.randn(3, 16)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(plain(inputs), fast(inputs))
    assert torch.equal(plain.double()(inputs.double()), fast.double()(inputs.double()))


def test_every_time_the_same_to_the_last_bit():
    _, fast = pair(64, 256, bias=True)
    inputs = torch.randn(500, 64)
    found = [
        torch.autograd.grad(fast(inputs).pow(2).sum(), list(fast.parameters())) for _ in range(2)
    ]
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_a_processor_that_does_not_say_who_made_it(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(linear, "CPUINFO", tmp_path / "none")
    assert linear._vendor() == ""
    (tmp_path / "none").write_text("processor\t: 0\nvendor_id\t: AuthenticAMD\n")
    assert linear._vendor() == "AuthenticAMD"
