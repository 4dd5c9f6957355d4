"""The loss in chunks: value and gradients are those of the whole logits, at every edge."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

from kobert_kit.pretrain.head import CHUNK, IGNORED, scores, summed_loss
from kobert_kit.pretrain.model import MaskedLanguageModel

WIDTH, VOCABULARY = 16, 4100  # more than one part of the decoder's gradient
ROWS = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1]


def make(rows: int, dtype: torch.dtype) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Hidden rows, weight and bias, and labels."""
    torch.manual_seed(rows)
    shapes = [(rows, WIDTH), (VOCABULARY, WIDTH), (VOCABULARY,)]
    made = [torch.randn(shape, dtype=dtype).requires_grad_() for shape in shapes]
    return made, torch.randint(VOCABULARY, (rows,))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype, close", [(torch.float64, 1e-10), (torch.float32, 1e-4)])
def test_loss_and_gradients_are_those_of_the_whole(rows: int, dtype: torch.dtype, close: float):
    made, labels = make(rows, dtype)
    expected = F.cross_entropy(F.linear(*made), labels, reduction="sum")
    wanted = torch.autograd.grad(3.0 * expected, made)
    loss = summed_loss(*made, labels)
    found = torch.autograd.grad(3.0 * loss, made)
    assert torch.allclose(loss, expected, rtol=1e-5)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == dtype and one.shape == other.shape and one.is_contiguous()
        assert torch.allclose(one, other, atol=close, rtol=close)


@pytest.mark.parametrize("rows", ROWS)
def test_under_autocast_it_is_as_near_as_the_whole_is(rows: int):
    made, labels = make(rows, torch.float32)
    right = F.cross_entropy(F.linear(*made), labels, reduction="sum")
    exact = torch.autograd.grad(right, made)
    with torch.autocast("cpu", torch.bfloat16):
        loss = summed_loss(*made, labels)
        usual = F.cross_entropy(F.linear(*made).float(), labels, reduction="sum")
    assert loss.dtype == torch.float32
    assert abs(loss - right) <= abs(usual - right) + 0.005 * right  # bf16 has 8 bits
    for one, other in zip(torch.autograd.grad(loss, made), exact, strict=True):
        assert one.dtype == torch.float32
        assert float((one - other).norm()) <= 0.02 * float(other.norm())


def test_gradients_of_parts_and_of_a_shared_weight_add_up():
    """As with accumulation, and with a decoder whose weight is the embedding's."""
    (_, weight, bias), labels = make(2 * CHUNK + 5, torch.float64)
    ids = torch.randint(VOCABULARY, labels.shape)
    for part in (slice(0, 100), slice(100, None)):
        summed_loss(F.embedding(ids[part], weight), weight, bias, labels[part]).backward()
    expected = F.cross_entropy(
        F.linear(F.embedding(ids, weight), weight, bias), labels, reduction="sum"
    )
    wanted = torch.autograd.grad(expected, [weight, bias])
    for one, other in zip((weight.grad, bias.grad), wanted, strict=True):
        assert one is not None and torch.allclose(one, other)


def test_every_time_the_same_to_the_last_bit():
    made, labels = make(CHUNK + 1, torch.float32)
    first, second = (torch.autograd.grad(summed_loss(*made, labels), made) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("rows", ROWS)
def test_scores_are_loss_and_hits(rows: int):
    made, labels = make(rows, torch.float32)
    with torch.inference_mode():
        logits = F.linear(*made)
        labels[::2] = logits.argmax(-1)[::2]
        loss, correct = scores(*made, labels)
        assert torch.allclose(loss, F.cross_entropy(logits, labels, reduction="sum"), rtol=1e-5)
        assert torch.allclose(summed_loss(*made, labels), loss)
    assert int(correct) == int((logits.argmax(-1) == labels).sum())


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_what_is_no_number_is_none_in_the_loss(wrong: float):
    made, labels = make(CHUNK + 1, torch.float32)
    with torch.no_grad():
        made[0][-1, 0] = wrong
    assert not torch.isfinite(summed_loss(*made, labels))


def test_large_logits_do_not_overflow():
    made, labels = make(3, torch.float32)
    loss = summed_loss(1e4 * made[0], *made[1:], labels)
    assert torch.isfinite(loss)


@pytest.mark.parametrize("rows", ROWS)
def test_ignored_rows_change_nothing(rows: int):
    made, labels = make(rows, torch.float64)
    more = torch.randn(7, WIDTH, dtype=torch.float64)
    longer = torch.cat([labels, torch.full((7,), IGNORED)])
    loss = summed_loss(torch.cat([made[0], more]), *made[1:], longer)
    expected = summed_loss(*made, labels)
    assert torch.allclose(loss, expected)
    wanted = torch.autograd.grad(expected, made)
    for one, other in zip(torch.autograd.grad(loss, made), wanted, strict=True):
        assert torch.allclose(one, other)


def test_steps_have_products_of_few_shapes():
    """For each new one oneDNN keeps half a megabyte; there would be several a step."""
    config = BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    bert = BertForMaskedLM(config).eval()
    model = MaskedLanguageModel(bert)
    rows = set()
    bert.cls.predictions.transform.register_forward_hook(
        lambda _module, inputs, _made: rows.add(inputs[0].shape[:-1])
    )
    ids = torch.randint(50, (4, 32))
    for count in range(1, 65):
        positions = torch.randperm(128)[:count]
        labels = torch.randint(50, (count,))
        loss = model(ids, None, positions, labels=labels)
        logits = bert(ids).logits.view(-1, 50)[positions]
        assert torch.allclose(loss, F.cross_entropy(logits, labels, reduction="sum"), rtol=1e-4)
    assert rows == {(32,), (64,), (4, 32)}  # the last is that of the whole logits
