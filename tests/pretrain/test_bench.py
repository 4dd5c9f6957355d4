"""The bench: its numbers hang together, its made-up batches are masked as real ones are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.bench import PARTS, BenchSettings, Measurement, bench
from kobert_kit.pretrain.flops import Product
from kobert_kit.pretrain.gauges import peak_memory
from kobert_kit.pretrain.presets import PRESETS, Preset
from kobert_kit.pretrain.products import fast_rate
from kobert_kit.pretrain.synthetic import CLS, MASK, SEP, SyntheticText, mask_full_rows
from kobert_kit.report.bench import describe

SMALL = Preset(1, 32, 2, 16, 4, 1e-3, 0.1, 0.0)
CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["no", "bf16"])
def found(request: pytest.FixtureRequest) -> Measurement:
    return bench(BenchSettings(SMALL, 200, mixed_precision=request.param, seconds=0.05))


def test_numbers_hang_together(found: Measurement):
    assert found.steps >= 5 and found.parameters > 200 * 32
    speeds = (found.tokens_per_second, found.achieved, found.products, found.square, found.pytorch)
    assert min(speeds) > 0 and found.peak_share > 0
    assert found.peak_memory > 4 * found.parameters * 4  # weights, gradients and two moments
    assert tuple(found.parts) == PARTS and min(found.parts.values()) > 0


def test_the_table_has_every_row(found: Measurement):
    text = describe(found)
    for row in ("tokens per second", "training", "matrix product", "peak memory", *PARTS):
        assert f"| {row}" in text
    assert ("bf16" in text) == (found.settings.mixed_precision == "bf16")
    parts = [line.split("|")[3] for line in text.split("\n\n")[1].splitlines()[2:]]
    shares = [float(share.strip().removesuffix(" %")) for share in parts]
    assert shares[-1] == 100 and sum(shares[:-1]) == pytest.approx(100, abs=0.3)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"preset": replace(SMALL, length=4)}, "--length 4"),
        ({"preset": replace(SMALL, length=1000)}, "--length 1000"),
        ({"preset": replace(SMALL, batch_size=0)}, "--batch-size 0"),
        ({"preset": SMALL, "vocab_size": 5}, "--vocab-size 5"),
        ({"preset": SMALL, "seconds": 0.0}, "--seconds 0.0"),
        ({"preset": SMALL, "seconds": float("nan")}, "--seconds nan"),
        ({"preset": SMALL, "seconds": float("inf")}, "--seconds inf"),
    ],
)
def test_what_cannot_be_measured(options, message):
    with pytest.raises(UsageError, match=message):
        BenchSettings(**options)


def test_made_up_batches_are_masked_as_real_ones():
    preset, vocab_size = PRESETS["tiny"], 1000
    text = SyntheticText(vocab_size, preset.length, preset.batch_size)
    batches = [text.batch(step) for step in range(60)]  # more than one epoch
    masked, cells = sum(batch.weight for batch in batches), 60 * 32 * 62
    assert masked / cells == pytest.approx(0.15, abs=0.005)
    for batch in batches:
        assert batch.input_ids.shape == (32, 64) and batch.tokens == 32 * 64
        assert (batch.input_ids[:, 0] == CLS).all() and (batch.input_ids[:, -1] == SEP).all()
    seen = torch.cat([batch.input_ids.view(-1)[batch.positions] for batch in batches])
    assert (seen == MASK).float().mean() == pytest.approx(0.8, abs=0.02)
    counts = text.frequencies()
    assert counts.sum() == text.ids.size and counts[5] > 20 * counts[500], "a few are frequent"


def test_words_are_masked_whole_and_the_rest_is_left():
    text = SyntheticText(300, 32, 8)
    masks = replace(text.masks, mask_share=1.0, random_share=0.0)
    keys = np.column_stack([np.zeros(8, int), np.arange(8)])
    batch = mask_full_rows(text.ids[:8], text.starts[:8], keys, masks, CLS, SEP)
    hidden = batch.input_ids[:, 1:-1] == MASK
    whole = batch.input_ids.clone()
    whole.view(-1)[batch.positions] = batch.labels
    assert torch.equal(whole[:, 1:-1], torch.from_numpy(text.ids[:8]).long())
    assert int(hidden.sum()) == batch.weight
    inside = ~text.starts[:8, 1:]  # a token that goes on with the word of the one before
    assert torch.equal(hidden[:, 1:][inside], hidden[:, :-1][inside])


def test_twice_as_many_of_the_same_products_are_as_fast():
    """The rate is one of the products, whatever their number: the counts weigh, no more."""
    rates = [  # the best of some tries, since other processes may take the cores for a while
        max(fast_rate([Product(256, 256, 256, count)], CPU, torch.float32, 0.02) for _ in range(10))
        for count in (1, 1000)
    ]
    assert 0.1 < rates[0] / rates[1] < 10


def test_peak_memory_rises_with_what_is_held():
    before = peak_memory(CPU)
    held = torch.ones(30_000_000)
    after = peak_memory(CPU)
    assert len(held) and after >= before > 10_000_000
    assert after - before < 1_000_000_000, "bytes, not pages or kilobytes"
