"""What this machine makes of a training step: how fast, how near its peak, where the time goes."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import torch

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.flops import Product, step_flops, weight_products
from kobert_kit.pretrain.gauges import now, peak_memory, reset_peak_memory
from kobert_kit.pretrain.model import MAX_POSITIONS, MaskedLanguageModel, new_model
from kobert_kit.pretrain.presets import Preset
from kobert_kit.pretrain.products import fast_rate, pytorch_rate
from kobert_kit.pretrain.synthetic import FIRST_PIECE, PAD, SyntheticText
from kobert_kit.training.allocator import keep_freed_memory
from kobert_kit.training.compiling import compilation_explained
from kobert_kit.training.linear import use_fast_products
from kobert_kit.training.optimizer import ClippingAdamW
from kobert_kit.training.settings import TrainSettings

PARTS = ("data", "forward", "backward", "optimizer")
BLOCKS = 5
WARM_UP = 3  # steps; the first change of the number of masked positions compiles a second time
SQUARE_SIZE = {"cpu": 1536, "cuda": 8192}  # where a product is large for the device


@dataclass(frozen=True)
class BenchSettings:
    """``preset`` gives model, length and batch; ``seconds`` of training are measured."""

    preset: Preset
    vocab_size: int = 32_000
    mixed_precision: str = "no"
    threads: int | None = None
    seconds: float = 20.0
    compile: bool = False

    def __post_init__(self) -> None:
        length, batch_size = self.preset.length, self.preset.batch_size
        if not 8 <= length <= MAX_POSITIONS:
            raise UsageError(f"--length {length}: between 8 and {MAX_POSITIONS} tokens")
        if batch_size < 1:
            raise UsageError(f"--batch-size {batch_size}: at least 1 sequence")
        if self.vocab_size <= FIRST_PIECE:
            raise UsageError(f"--vocab-size {self.vocab_size}: more than {FIRST_PIECE} entries")
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"--seconds {self.seconds}: a number of seconds above 0")

    @property
    def positions(self) -> int:
        """Tokens of a step, [CLS] and [SEP] included, as `pretrain` counts them."""
        return self.preset.batch_size * self.preset.length


@dataclass(frozen=True)
class Measurement:
    """What `bench` found: medians over its blocks, for ``parts`` over its steps.

    Speeds are in FLOP/s: ``achieved`` by training, by ``products`` of the model's shapes alone, by
    the ``square`` product as training makes it, by ``pytorch``'s own of that size. ``peak_share``
    is what training achieves of the fastest of these.
    ``parts`` are seconds a step. ``peak_memory`` is in bytes, as `gauges.peak_memory` reads it.
    """

    settings: BenchSettings
    device: str
    threads: int
    parameters: int
    steps: int
    tokens_per_second: float
    achieved: float
    products: float
    square: float
    pytorch: float
    square_size: int
    peak_share: float
    peak_memory: int
    parts: dict[str, float]


def bench(settings: BenchSettings) -> Measurement:
    """Train on made-up text in blocks, with matrix products by themselves between the blocks.

    So all meet the same machine, whatever else that has to do. A block has one step at least;
    the products take about three quarters as long as the training.

    Raises:
        UsageError: compilation is asked for and does not work here.
    """
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = _Trainer(settings, device)
    reset_peak_memory(device)
    trainer.warm_up()

    size, share = SQUARE_SIZE[device.type], settings.seconds / BLOCKS
    dtype = torch.bfloat16 if settings.mixed_precision == "bf16" else torch.float32
    blocks: list[_Block] = []
    memory = 0
    for _ in range(BLOCKS):
        steps = trainer.block(share)
        memory = memory or peak_memory(device)  # before the matrices below are there
        masked = max(1, round(median(step.masked for step in steps)))
        shapes = weight_products(settings.preset, settings.vocab_size, settings.positions, masked)
        square = [Product(size, size, size)]
        rates = (
            fast_rate(shapes, device, dtype, share / 4),
            fast_rate(square, device, dtype, share / 4),
            pytorch_rate(square, device, dtype, share / 4),
        )
        blocks.append(_Block(steps, *rates))
    every_step = [step for block in blocks for step in block.steps]
    achieved = [block.achieved(settings) for block in blocks]
    return Measurement(
        settings=settings,
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        threads=torch.get_num_threads(),
        parameters=sum(p.numel() for p in trainer.model.parameters()),
        steps=len(every_step),
        tokens_per_second=median(
            len(block.steps) * settings.positions / block.seconds for block in blocks
        ),
        achieved=median(achieved),
        products=median(block.products for block in blocks),
        square=median(block.square for block in blocks),
        pytorch=median(block.pytorch for block in blocks),
        square_size=size,
        peak_share=median(
            rate / max(block.products, block.square, block.pytorch)
            for rate, block in zip(achieved, blocks, strict=True)
        ),
        peak_memory=memory,
        parts={
            part: median(step.seconds[number] for step in every_step)
            for number, part in enumerate(PARTS)
        },
    )


@dataclass(frozen=True)
class _Step:
    """Seconds of each of `PARTS`, and how many positions were masked."""

    seconds: tuple[float, ...]
    masked: int


@dataclass(frozen=True)
class _Block:
    """The steps of a block, and the FLOP/s of matrix products right after it."""

    steps: list[_Step]
    products: float
    square: float
    pytorch: float

    @property
    def seconds(self) -> float:
        return sum(sum(step.seconds) for step in self.steps)

    def achieved(self, settings: BenchSettings) -> float:
        preset = settings.preset
        work = sum(
            step_flops(preset, settings.vocab_size, preset.batch_size, preset.length, step.masked)
            for step in self.steps
        )
        return work / self.seconds


class _Trainer:
    """The steps of `training.loop`, taken apart so that a clock fits between their parts."""

    def __init__(self, settings: BenchSettings, device: torch.device) -> None:
        preset = settings.preset
        self.settings, self.device = settings, device
        self.text = SyntheticText(settings.vocab_size, preset.length, preset.batch_size)
        bert = new_model(preset, settings.vocab_size, PAD, self.text.frequencies(), seed=0)
        self.model = MaskedLanguageModel(bert).to(device).train()
        if device.type == "cpu":
            keep_freed_memory()
        use_fast_products(self.model)
        self.run = torch.compile(self.model) if settings.compile else self.model
        self.recipe = TrainSettings(preset.learning_rate, steps=1)
        self.optimizer = ClippingAdamW(self.model, self.recipe)
        self.done = 0

    def warm_up(self) -> None:
        with compilation_explained() if self.settings.compile else contextlib.nullcontext():
            for _ in range(WARM_UP):
                self.step()

    def block(self, seconds: float) -> list[_Step]:
        """Steps until ``seconds`` have passed, one at least."""
        steps: list[_Step] = []
        while sum(sum(step.seconds) for step in steps) < seconds:
            steps.append(self.step())
        return steps

    def step(self) -> _Step:
        times = [now(self.device)]
        batch = self.text.batch(self.done).to(self.device)
        times.append(now(self.device))
        bf16 = self.settings.mixed_precision == "bf16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=bf16):
            seen = batch.input_ids, batch.attention_mask, batch.positions
            loss = self.run(*seen, labels=batch.labels)
        times.append(now(self.device))
        loss.backward()  # type: ignore[no-untyped-call]
        times.append(now(self.device))
        self.optimizer.divide(torch.tensor(batch.weight, device=self.device), self.recipe.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        times.append(now(self.device))
        self.done += 1
        spent = tuple(after - before for before, after in pairwise(times))
        return _Step(spent, batch.weight)
