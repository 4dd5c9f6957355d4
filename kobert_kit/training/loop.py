"""The one training loop, for pretraining and fine-tuning alike.

What is trained is behind `Objective`. A batch is a pure function of the step, and the random
numbers of a step are seeded by it, so a run that continues from a checkpoint needs no state but
the weights, the optimizer's moments and the step.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import nn

from kobert_kit.console import progress
from kobert_kit.errors import Stopped, TrainingError
from kobert_kit.training.allocator import keep_freed_memory
from kobert_kit.training.budget import Budget, parts_spent
from kobert_kit.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from kobert_kit.training.compiling import compilation_explained
from kobert_kit.training.contract import Objective, TrainResult, Watch
from kobert_kit.training.linear import use_fast_products
from kobert_kit.training.losses import RecentLosses
from kobert_kit.training.metrics import MetricsLog
from kobert_kit.training.optimizer import ClippingAdamW
from kobert_kit.training.placement import Replicated, Sharded, local
from kobert_kit.training.prefetch import Prefetch
from kobert_kit.training.ranks import (
    join_ranks,
    lost_ranks_explained,
    require_own_placement,
    require_same_step,
)
from kobert_kit.training.schedule import linear_schedule
from kobert_kit.training.settings import TrainSettings
from kobert_kit.training.signals import first_of, signals_collected

log = logging.getLogger(__name__)
KEPT_STEPS = 100  # more than are ever made ahead
LOOK_EVERY = {"cpu": 1, "cuda": 10}  # steps; asking the other ranks makes a GPU wait
COMPILED_ON = 4  # batches: with padding and without they are compiled apart


def train(
    model: nn.Module,
    objective: Objective,
    settings: TrainSettings,
    folder: Path,
    *,
    label: str,
    watch: Watch | None = None,
) -> TrainResult:
    """Train ``model`` in place until the budget of ``settings`` is spent, or ``watch`` ends it.

    The schedule is that of the whole budget in either case.

    Writes ``folder/metrics.jsonl`` and ``folder/checkpoints``; where checkpoints of an
    interrupted run lie there, continues from the newest whole one.

    Raises:
        Stopped: SIGINT or SIGTERM came; the state was saved first.
        TrainingError: the loss is not a finite number, or the processes of the run found
            checkpoints of different steps.
        UsageError: the model was to be compiled, and PyTorch cannot do it here.
    """
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    with lost_ranks_explained(label):
        return _Run(model, objective, settings, folder, label, watch).run()


class _Run:
    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: TrainSettings,
        folder: Path,
        label: str,
        watch: Watch | None,
    ) -> None:
        self.objective, self.settings, self.label = objective, settings, label
        self.watch = watch
        self.folder, self.checkpoints = folder, folder / "checkpoints"
        join_ranks()
        self.accelerator = Accelerator(mixed_precision=settings.mixed_precision)
        require_own_placement(self.accelerator)
        self.device = self.accelerator.device
        if self.device.type == "cpu":
            keep_freed_memory()
        use_fast_products(model)
        self.adam = optimizer = ClippingAdamW(model, settings)
        self.result = TrainResult(0, 0.0, 0)
        # What the device counts until it is asked. Nothing of a step is read before the next one
        # has begun.
        self.losses = RecentLosses(settings.log_every, self.device)
        self.tokens = torch.zeros((), dtype=torch.int64, device=self.device)
        self.stopping = torch.zeros((), dtype=torch.int64, device=self.device)
        self.begun: dict[int, float] = {}  # share of the budget before each of the last steps
        saved = load_checkpoint(self.checkpoints)
        if saved is not None:
            model.load_state_dict(saved.state["model"])
            optimizer.load_state_dict(saved.state["optimizer"])
            self.result = TrainResult(
                saved.step, saved.seconds, saved.state["tokens"], saved.state["evaluations"]
            )
            self.losses.values.copy_(saved.state["losses"])
            log.info("%s continues after step %d", label, saved.step)
        require_same_step(self.accelerator, self.result.steps, self.checkpoints)
        self.budget = Budget(settings.steps, settings.minutes, self.result.seconds)
        place = Sharded if settings.sharded else Replicated
        self.placement = place(self.accelerator, model, optimizer)
        self.model, self.optimizer = self.placement.model, self.placement.optimizer
        # The lengths of batches differ, so compile once for all of them.
        self.stepped: Any = (
            torch.compile(self.model, dynamic=True) if settings.compile else self.model
        )

    def run(self) -> TrainResult:
        self.folder.mkdir(parents=True, exist_ok=True)
        main = self.accelerator.is_main_process
        with contextlib.ExitStack() as stack:
            self.stop = stack.enter_context(signals_collected())
            self.metrics = (
                stack.enter_context(MetricsLog(self.folder, self.result.steps)) if main else None
            )
            if self.settings.compile:
                stack.enter_context(compilation_explained())
                self._compile()
            self.bar = stack.enter_context(self._progress_bar(disable=not main))
            self.batches = stack.enter_context(
                Prefetch(self._parts, self._coming(), self.settings.data_workers)
            )
            self._steps()
        return self.result

    def _compile(self) -> None:
        """Compile the model on the first batches, and start the clock again after that.

        It takes up to minutes, which would count as training in speed, time left and budget.
        """
        main, result = self.accelerator.is_main_process, self.result
        if main:
            log.info("%s: compiling the model, which may take minutes", self.label)
        started = time.monotonic()
        self.model.train()
        for step in range(result.steps, result.steps + COMPILED_ON):
            part, *_ = self._parts((step, self.budget.progress(step, result.seconds)))
            with self.placement.gradients(True):
                with self.accelerator.autocast():
                    loss = self.objective.loss(self.stepped, part.to(self.device))
                self.accelerator.backward(loss)
        self.optimizer.zero_grad()
        if main:
            log.info("%s: compiled in %.0f s", self.label, time.monotonic() - started)
        self.budget = Budget(self.settings.steps, self.settings.minutes, result.seconds)

    def _steps(self) -> None:
        settings, result = self.settings, self.result
        self.saved_at = result.seconds
        self.logged_at, self.logged_tokens = result.seconds, result.tokens
        spent = self.budget.progress(result.steps, result.seconds)
        while spent < 1.0:
            rate = self._rate(spent)
            self.losses.put(result.steps, self._step(rate))
            result.steps += 1
            result.seconds = self._agreed(self.budget.seconds())
            before, spent = spent, self.budget.progress(result.steps, result.seconds)
            if result.steps % settings.log_every == 0:
                self._log_training(rate)
            self._advance(spent - before)
            due = parts_spent(spent, settings.evaluations) > parts_spent(
                before, settings.evaluations
            )
            if due and self._evaluate():
                break
            self._save_or_stop()
        self._check_finite()
        if not result.evaluations or result.evaluations[-1]["step"] != result.steps:
            self._evaluate()

    def _rate(self, spent: float) -> float:
        settings = self.settings
        # In steps the first step must not have rate 0: use the middle of the step.
        point = max(spent, 1e-4) if settings.steps is None else spent + 0.5 / settings.steps
        return settings.learning_rate * linear_schedule(point, settings.warmup_share)

    def _log_training(self, rate: float) -> None:
        result = self.result
        self._check_losses()
        self._count_tokens()
        seconds = max(1e-9, result.seconds - self.logged_at)
        speed = round((result.tokens - self.logged_tokens) / seconds, 1)
        self._log(loss=self.losses.mean(), learning_rate=rate, tokens_per_second=speed)
        self.logged_at, self.logged_tokens = result.seconds, result.tokens

    def _save_or_stop(self) -> None:
        """Save where it is time to, or where a signal asks to stop."""
        result, stop = self.result, self._asked_to_stop()
        if stop or result.seconds - self.saved_at > 60 * self.settings.save_minutes:
            self._save()
            self.saved_at = result.seconds
        if stop:
            # torchrun ends the others as soon as one is gone, also in the middle of the save.
            self.accelerator.wait_for_everyone()
            raise Stopped(
                f"{self.label}: stopped after step {result.steps}; the state is saved in "
                f"{self.checkpoints}. The same command continues.",
                stop,
            )

    def _coming(self) -> Iterator[tuple[int, float]]:
        """The steps to come, each with the share of the budget spent before it.

        In a budget of minutes that is the share when the batch is begun, a few steps earlier.
        """
        for step in itertools.count(self.result.steps):
            spent = self.budget.progress(step, self.result.seconds)
            self.begun[step] = spent
            self.begun.pop(step - self.settings.log_every - KEPT_STEPS, None)
            yield step, spent

    def _parts(self, coming: tuple[int, float]) -> list[Any]:
        """This rank's slices of the global batch of a step."""
        step, spent = coming
        rank, accumulation = self.accelerator.process_index, self.settings.accumulation
        parts = self.accelerator.num_processes * accumulation
        first = rank * accumulation
        batches = [self.objective.batch(step, first + i, parts, spent) for i in range(accumulation)]
        return [batch.pinned() for batch in batches] if self.device.type == "cuda" else batches

    def _step(self, rate: float) -> torch.Tensor:
        """One optimizer step; the mean loss over the global batch, on the device."""
        accelerator, ranks = self.accelerator, self.accelerator.num_processes
        parts = next(self.batches)
        # Dropout of a step depends on (seed, step, rank) only, so there is no state to save.
        seed = (self.settings.seed * 1_000_003 + self.result.steps) * 1_009
        torch.manual_seed(seed + accelerator.process_index)
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        counts = [sum(part.weight for part in parts), sum(part.tokens for part in parts)]
        totals = torch.tensor([*counts, first_of(self.stop)], device=self.device)
        if ranks > 1:
            totals = accelerator.reduce(totals, "sum")
        weight, tokens, self.stopping = totals.unbind()
        weight = weight.clamp(min=1)  # a batch may hold nothing to predict
        self.tokens += tokens
        loss = torch.zeros((), device=self.device)
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            with self.placement.gradients(last):
                with accelerator.autocast():
                    summed = self.objective.loss(self.stepped, part.to(self.device))
                accelerator.backward(summed)
            loss += summed.detach()
        # Ranks average their gradients; the loss is a sum over the global batch.
        self.adam.divide(weight / ranks, self.settings.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        loss /= weight
        return accelerator.reduce(loss, "sum") if ranks > 1 else loss

    def _agreed(self, seconds: float) -> float:
        """Rank 0's clock, so that every rank has the same schedule and stops at the same step.

        In a budget of steps only shards need it, which are saved together.
        """
        needed = self.settings.minutes is not None or self.settings.sharded
        if self.accelerator.num_processes == 1 or not needed:
            return seconds
        shared = [seconds]
        broadcast_object_list(shared)
        return shared[0]

    def _asked_to_stop(self) -> int:
        """The signal to stop for, or 0. Of several ranks all stop after the same step."""
        if self.accelerator.num_processes == 1:
            return first_of(self.stop)
        if self.result.steps % LOOK_EVERY.get(self.device.type, 10):
            return 0
        return int(self.stopping.item()) and (first_of(self.stop) or signal.SIGTERM)

    def _count_tokens(self) -> None:
        self.result.tokens += int(self.tokens.item())
        self.tokens.zero_()

    def _check_losses(self) -> None:
        """Checks the losses since the last log; keeps the batch of the first that is no number."""
        bad = self.losses.first_bad(self.result.steps)
        if bad is None:
            return
        step, loss = bad
        parts = self._parts((step, self.begun[step]))
        path = self.folder / f"bad-batch-step-{step}-rank-{self.accelerator.process_index}.pt"
        torch.save([vars(part) for part in parts], path)
        raise TrainingError(
            f"{self.label}: the loss of step {step + 1} is {loss}; its batch is kept in {path}. "
            "Lower --learning-rate and run again in a new folder"
        )

    def _check_finite(self) -> None:
        """Weights that are no numbers, or led to a loss that is none, are never kept."""
        self._check_losses()
        if not all(bool(torch.isfinite(local(p)).all()) for p in self.model.parameters()):
            raise TrainingError(
                f"{self.label}: weights are no longer numbers near step {self.result.steps}; "
                "lower --learning-rate and run again in a new folder"
            )

    def _evaluate(self) -> bool:
        """Whether the run is to end here."""
        self._count_tokens()
        with self.placement.whole() as model, self.accelerator.autocast():
            model.eval()
            with torch.inference_mode():
                values = self.objective.evaluate(model)
            self.result.evaluations.append({"step": self.result.steps, **values})
            ends = self.watch is not None and self.watch.evaluated(model, self.result.evaluations)
        self._log(**values)
        return ends

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
        """Rank 0 saves when its clock says so; the others need not know, but for shards."""
        if not (self.accelerator.is_main_process or self.settings.sharded):
            return
        self._check_finite()
        self._count_tokens()
        state = self.placement.state()
        if state is None:
            return
        state |= {
            "losses": self.losses.values,
            "tokens": self.result.tokens,
            "evaluations": self.result.evaluations,
        }
        saved = Checkpoint(self.result.steps, self.budget.seconds(), state)
        save_checkpoint(self.checkpoints, saved)

    def _progress_bar(self, disable: bool) -> Any:
        settings = self.settings
        total = settings.steps if settings.steps is not None else 60.0 * (settings.minutes or 0)
        form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining} {postfix}"
        unit = "step" if settings.steps is not None else "s"
        initial = total * self.budget.progress(self.result.steps, self.result.seconds)
        return progress(total, self.label, unit, initial=initial, disable=disable, bar_format=form)

    def _advance(self, share: float) -> None:
        self.bar.update(min(share * self.bar.total, self.bar.total - self.bar.n))
