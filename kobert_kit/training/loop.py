"""The one training loop, for pretraining and fine-tuning alike.

What is trained is behind `Objective`. A batch is a pure function of the step, and the random
numbers of a step are seeded by it, so a run that continues from a checkpoint needs no state but
the weights, the optimizer's moments and the step.
"""

from __future__ import annotations

import contextlib
import logging
import math
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import nn

from kobert_kit.console import progress
from kobert_kit.errors import Stopped, TrainingError
from kobert_kit.training.budget import Budget
from kobert_kit.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from kobert_kit.training.metrics import MetricsLog
from kobert_kit.training.ranks import join_ranks
from kobert_kit.training.schedule import linear_schedule
from kobert_kit.training.settings import TrainSettings

log = logging.getLogger(__name__)


class Batch(Protocol):
    """``weight`` items (masked tokens, examples) share the loss; ``tokens`` counts real tokens."""

    weight: int
    tokens: int

    def to(self, device: torch.device) -> Batch: ...


class Objective(Protocol):
    """What is trained: where its batches, its loss and its evaluation come from."""

    def batch(self, step: int, part: int, parts: int) -> Any:
        """Slice ``part`` of ``parts`` of the global batch of optimizer step ``step`` (from 0).

        Must depend on nothing else: this is what makes a resumed run exact.
        """
        ...

    def loss(self, model: nn.Module, batch: Any) -> torch.Tensor:
        """Sum (not mean) of the losses of the batch's items."""
        ...

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        """Values for ``metrics.jsonl``; called in evaluation mode without gradients."""
        ...


@dataclass
class TrainResult:
    """``evaluations`` holds what `Objective.evaluate` gave, in order, each with its step."""

    steps: int
    seconds: float
    tokens: int
    evaluations: list[dict[str, float]] = field(default_factory=list)


def train(
    model: nn.Module, objective: Objective, settings: TrainSettings, folder: Path, *, label: str
) -> TrainResult:
    """Train ``model`` in place until the budget of ``settings`` is spent.

    Writes ``folder/metrics.jsonl`` and ``folder/checkpoints``; where checkpoints of an
    interrupted run lie there, continues from the newest whole one.

    Raises:
        Stopped: SIGINT or SIGTERM came; the state was saved first.
        TrainingError: the loss is not a finite number.
    """
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    return _Run(model, objective, settings, folder, label).run()


class _Run:
    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: TrainSettings,
        folder: Path,
        label: str,
    ) -> None:
        self.objective, self.settings, self.label = objective, settings, label
        self.folder, self.checkpoints = folder, folder / "checkpoints"
        join_ranks()
        self.accelerator = Accelerator(mixed_precision=settings.mixed_precision)
        optimizer = torch.optim.AdamW(
            parameter_groups(model, settings.weight_decay),
            lr=settings.learning_rate,
            betas=settings.betas,
            eps=settings.epsilon,
            fused=True,
        )
        self.result = TrainResult(0, 0.0, 0)
        self.losses = torch.zeros((), device=self.accelerator.device)  # since the last log
        saved = load_checkpoint(self.checkpoints)
        if saved is not None:
            model.load_state_dict(saved.state["model"])
            optimizer.load_state_dict(saved.state["optimizer"])
            self.result = TrainResult(
                saved.step, saved.seconds, saved.state["tokens"], saved.state["evaluations"]
            )
            self.losses += saved.state["losses"].to(self.losses.device)
            log.info("%s continues after step %d", label, saved.step)
        self.budget = Budget(settings.steps, settings.minutes, self.result.seconds)
        self.model, self.optimizer = self.accelerator.prepare(model, optimizer)

    def run(self) -> TrainResult:
        self.folder.mkdir(parents=True, exist_ok=True)
        main = self.accelerator.is_main_process
        with contextlib.ExitStack() as stack:
            stop = stack.enter_context(_signals())
            self.metrics = (
                stack.enter_context(MetricsLog(self.folder, self.result.steps)) if main else None
            )
            self.bar = stack.enter_context(self._progress_bar(disable=not main))
            self._steps(stop)
        return self.result

    def _steps(self, stop: list[int]) -> None:
        settings, result = self.settings, self.result
        saved_at = logged_at = result.seconds
        logged_tokens = result.tokens
        spent = self.budget.progress(result.steps, result.seconds)
        while spent < 1.0:
            rate = settings.learning_rate * linear_schedule(
                self._schedule_point(spent), settings.warmup_share
            )
            loss, tokens = self._step(result.steps, rate)
            self.losses += loss
            result.steps += 1
            result.tokens += tokens
            result.seconds = self._agreed(self.budget.seconds())
            before, spent = spent, self.budget.progress(result.steps, result.seconds)
            if result.steps % settings.log_every == 0:
                mean = self._summed_loss() / settings.log_every
                speed = (result.tokens - logged_tokens) / max(1e-9, result.seconds - logged_at)
                self._log(loss=mean, learning_rate=rate, tokens_per_second=round(speed, 1))
                logged_at, logged_tokens = result.seconds, result.tokens
                self.losses.zero_()
            self._advance(spent - before)
            if int(spent * settings.evaluations) > int(before * settings.evaluations):
                self._evaluate()
            if stop or result.seconds - saved_at > 60 * settings.save_minutes:
                self._save()
                saved_at = result.seconds
            if stop:
                raise Stopped(
                    f"{self.label}: stopped after step {result.steps}; the state is saved in "
                    f"{self.checkpoints}. The same command continues.",
                    stop[0],
                )
        self._check_finite()
        if not result.evaluations or result.evaluations[-1]["step"] != result.steps:
            self._evaluate()

    def _schedule_point(self, spent: float) -> float:
        # In steps the first step must not have rate 0: use the middle of the step.
        if self.settings.steps is None:
            return max(spent, 1e-4)
        return spent + 0.5 / self.settings.steps

    def _step(self, step: int, rate: float) -> tuple[torch.Tensor, int]:
        """One optimizer step; the mean loss over the global batch and its real tokens."""
        accelerator, accumulation = self.accelerator, self.settings.accumulation
        ranks, rank = accelerator.num_processes, accelerator.process_index
        # Dropout of a step depends on (seed, step, rank) only, so there is no state to save.
        torch.manual_seed((self.settings.seed * 1_000_003 + step) * 1_009 + rank)
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        parts = [
            self.objective.batch(step, rank * accumulation + i, ranks * accumulation)
            for i in range(accumulation)
        ]
        totals = torch.tensor(
            [sum(part.weight for part in parts), sum(part.tokens for part in parts)],
            device=accelerator.device,
        )
        if ranks > 1:
            totals = accelerator.reduce(totals, "sum")
        weight, tokens = totals.tolist()
        loss = torch.zeros((), device=accelerator.device)
        for i, part in enumerate(parts):
            last = i == accumulation - 1
            with contextlib.nullcontext() if last else accelerator.no_sync(self.model):
                with accelerator.autocast():
                    share = self.objective.loss(self.model, part.to(accelerator.device)) / weight
                # DDP averages gradients over ranks; the loss is a sum over the global batch.
                accelerator.backward(share * ranks)
            loss += share.detach()
        accelerator.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return (accelerator.reduce(loss, "sum") if ranks > 1 else loss), tokens

    def _agreed(self, seconds: float) -> float:
        """Rank 0's clock, so that every rank has the same schedule and stops at the same step."""
        if self.accelerator.num_processes == 1 or self.settings.minutes is None:
            return seconds
        shared = [seconds]
        broadcast_object_list(shared)
        return shared[0]

    def _summed_loss(self) -> float:
        loss = self.losses.item()
        if not math.isfinite(loss):
            raise TrainingError(
                f"{self.label}: the loss is {loss} near step {self.result.steps}; lower "
                "--learning-rate and run again in a new folder"
            )
        return loss

    def _check_finite(self) -> None:
        """Weights that are no numbers, or led to a loss that is none, are never kept."""
        self._summed_loss()
        if not all(bool(torch.isfinite(p).all()) for p in self.model.parameters()):
            raise TrainingError(
                f"{self.label}: weights are no longer numbers near step {self.result.steps}; "
                "lower --learning-rate and run again in a new folder"
            )

    def _evaluate(self) -> None:
        self.model.eval()
        with torch.inference_mode(), self.accelerator.autocast():
            values = self.objective.evaluate(self.accelerator.unwrap_model(self.model))
        self.result.evaluations.append({"step": self.result.steps, **values})
        self._log(**values)

    def _log(self, **values: float) -> None:
        if self.metrics is None:
            return
        seconds, tokens = round(self.result.seconds, 3), self.result.tokens
        self.metrics.write(self.result.steps, {**values, "tokens": tokens, "seconds": seconds})
        if "loss" in values:
            self.bar.set_postfix_str(
                f"loss {values['loss']:.3f}, {values['tokens_per_second']:,.0f} tokens/s"
            )

    def _save(self) -> None:
        self._check_finite()
        if self.accelerator.is_main_process:
            state = {
                "model": self.accelerator.unwrap_model(self.model).state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "losses": self.losses,
                "tokens": self.result.tokens,
                "evaluations": self.result.evaluations,
            }
            save_checkpoint(
                self.checkpoints, Checkpoint(self.result.steps, self.budget.seconds(), state)
            )
        self.accelerator.wait_for_everyone()

    def _progress_bar(self, disable: bool) -> Any:
        settings = self.settings
        total = settings.steps if settings.steps is not None else 60.0 * (settings.minutes or 0)
        form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining} {postfix}"
        unit = "step" if settings.steps is not None else "s"
        initial = total * self.budget.progress(self.result.steps, self.result.seconds)
        return progress(total, self.label, unit, initial=initial, disable=disable, bar_format=form)

    def _advance(self, share: float) -> None:
        self.bar.update(min(share * self.bar.total, self.bar.total - self.bar.n))


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay on matrices only, not on biases and layer norms (Devlin et al. 2019)."""
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    vectors = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying in the middle of a step."""
    caught: list[int] = []

    def handle(number: int, _frame: object) -> None:
        if caught:  # asked twice: do not wait for the end of the step
            raise KeyboardInterrupt
        caught.append(number)

    try:
        before = {s: signal.signal(s, handle) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: signals are the caller's business
        yield caught
        return
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
