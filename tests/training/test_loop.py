"""The training loop: exact resume, budgets, parts of a batch, damaged checkpoints, signals."""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn

from kobert_kit.errors import Stopped, TrainingError, UsageError
from kobert_kit.training.budget import Budget, parts_spent
from kobert_kit.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from kobert_kit.training.loop import train
from kobert_kit.training.schedule import linear_schedule
from kobert_kit.training.settings import TrainSettings


@dataclass
class Points:
    x: torch.Tensor
    y: torch.Tensor

    @property
    def weight(self) -> int:
        return len(self.x)

    @property
    def tokens(self) -> int:
        return len(self.x)

    def to(self, device: torch.device) -> Points:
        return self

    def pinned(self) -> Points:
        return self


class Regression:
    """Least squares on random points; ``at_step`` runs a callback when a step's batch is made."""

    def __init__(self, at_step=None, poison: int | None = None) -> None:
        self.at_step, self.poison = at_step, poison

    def batch(self, step: int, part: int, parts: int, spent: float) -> Points:
        if self.at_step:
            self.at_step(step)
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(12, 8, generator=generator)
        if step == self.poison:
            x[:] = float("nan")
        return Points(x[part::parts], x.sum(1, keepdim=True)[part::parts])

    def loss(self, model: nn.Module, batch: Points) -> torch.Tensor:
        return ((model(batch.x) - batch.y) ** 2).sum()

    def evaluate(self, model: nn.Module) -> dict[str, float]:
        return {"norm": sum(p.norm().item() for p in model.parameters())}


def make_model() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.Tanh(), nn.Linear(16, 1))


def settings(**changes) -> TrainSettings:
    values = {"learning_rate": 1e-2, "steps": 40, "log_every": 5, "evaluations": 4, "threads": 1}
    return TrainSettings(**(values | changes))


def run(folder: Path, objective=None, **changes):
    model = make_model()
    result = train(model, objective or Regression(), settings(**changes), folder, label="test")
    return model, result


def lines(folder: Path) -> list[dict]:
    """metrics.jsonl without what depends on the clock."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {k: v for k, v in row.items() if k not in ("seconds", "tokens_per_second")} for row in rows
    ]


def same_weights(a: nn.Module, b: nn.Module) -> bool:
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(x, y) for x, y in pairs)


def test_learns_and_reports(tmp_path):
    _, result = run(tmp_path, steps=300)
    losses = [row["loss"] for row in lines(tmp_path) if "loss" in row]
    assert losses[-1] < 0.5 * losses[0]
    assert result.steps == 300 and result.tokens == 300 * 12
    assert [row["step"] for row in result.evaluations] == [75, 150, 225, 300]


@pytest.mark.parametrize("parts", [22, 23, 49])
@pytest.mark.parametrize("each", [1, 3])
def test_evaluates_at_the_end_of_every_part(parts, each, tmp_path):
    _, result = run(tmp_path, steps=parts * each, evaluations=parts)
    assert [row["step"] for row in result.evaluations] == [each * (n + 1) for n in range(parts)]


@pytest.mark.parametrize("each", [1, 7, 313, 100_003])
def test_a_part_is_spent_with_its_last_step(each):
    for parts in range(1, 100):
        for part in range(parts):
            shares = [step / (parts * each) for step in (part * each, part * each + each - 1)]
            assert [parts_spent(share, parts) for share in shares] == [part, part]


def test_every_line_counts_the_tokens_up_to_its_step(tmp_path):
    run(tmp_path, steps=36, log_every=5, evaluations=3)
    rows = lines(tmp_path)
    assert {5, 12, 24, 35, 36} <= {row["step"] for row in rows}
    assert all(row["tokens"] == 12 * row["step"] for row in rows)


@pytest.mark.parametrize("sig, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("stop_at", [0, 7, 20, 38])
def test_a_stopped_run_ends_as_if_it_had_not_been(tmp_path, sig, code, stop_at):
    whole, _ = run(tmp_path / "whole")

    def stop(step: int) -> None:
        if step == stop_at:
            os.kill(os.getpid(), sig)

    with pytest.raises(Stopped) as caught:
        run(tmp_path / "cut", Regression(at_step=stop))
    assert caught.value.exit_code == code
    resumed, result = run(tmp_path / "cut")
    assert same_weights(whole, resumed)
    assert result.steps == 40
    cut = {row["step"]: row for row in lines(tmp_path / "cut")}
    assert cut == {row["step"]: row for row in lines(tmp_path / "whole")}


def test_a_signal_that_comes_twice_at_once_is_one(tmp_path):
    """A terminal's Ctrl-C reaches every process of the group, and torchrun sends its own."""
    whole, _ = run(tmp_path / "whole")

    def stop(step: int) -> None:
        if step == 7:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Stopped):
        run(tmp_path / "cut", Regression(at_step=stop), data_workers=0)
    resumed, _ = run(tmp_path / "cut")
    assert same_weights(whole, resumed)


def test_a_damaged_checkpoint_costs_one_interval(tmp_path, caplog):
    whole, _ = run(tmp_path / "whole")

    def stop(step: int) -> None:
        if step == 30:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Stopped):
        run(tmp_path / "cut", Regression(at_step=stop), save_minutes=0)
    newest = sorted((tmp_path / "cut" / "checkpoints").glob("step-*"))[-1]
    data = bytearray((newest / "state.pt").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (newest / "state.pt").write_bytes(data)
    resumed, _ = run(tmp_path / "cut")
    assert "damaged" in caplog.text and newest.name in caplog.text
    assert same_weights(whole, resumed)


@pytest.mark.parametrize(
    "file, change",
    [
        ("state.pt", lambda data: data[: len(data) // 2]),
        ("state.pt", lambda data: b""),
        ("state.json", lambda data: data.replace(b'"step": 4', b'"step": 9')),
        ("state.json", lambda data: data.replace(b"1.5", b"9.5")),
        ("state.json", lambda data: b"[]"),
        ("state.json", lambda data: b"\0" * len(data)),
    ],
)
def test_damage_anywhere_in_a_checkpoint_is_seen(tmp_path, caplog, file, change):
    for step in (3, 4):
        save_checkpoint(tmp_path, Checkpoint(step, 1.5, {"a": torch.full((9,), float(step))}))
    path = tmp_path / "step-000000004" / file
    path.write_bytes(change(path.read_bytes()))
    loaded = load_checkpoint(tmp_path)
    assert "step-000000004 is damaged" in caplog.text
    assert loaded is not None and (loaded.step, loaded.seconds) == (3, 1.5)
    assert torch.equal(loaded.state["a"], torch.full((9,), 3.0))


def test_damaged_checkpoints_do_not_push_out_those_of_the_run_that_goes_on(tmp_path, caplog):
    for step in (300, 400):
        save_checkpoint(tmp_path, Checkpoint(step, 1.0, {}))
        (tmp_path / f"step-{step:09d}" / "state.pt").write_bytes(b"")
    assert load_checkpoint(tmp_path) is None and "starts again from step 0" in caplog.text
    for step in (10, 20, 30):
        save_checkpoint(tmp_path, Checkpoint(step, 1.0, {}))
        loaded = load_checkpoint(tmp_path)
        assert loaded is not None and loaded.step == step
    assert len(list(tmp_path.iterdir())) == 2


def test_what_a_kill_left_of_a_checkpoint_does_not_fill_the_disk(tmp_path):
    (tmp_path / ".step-000000007.tmp").mkdir()
    (tmp_path / ".step-000000007.tmp" / "state.pt").write_bytes(b"half")
    save_checkpoint(tmp_path, Checkpoint(8, 1.0, {}))
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000008"]


def test_a_curve_damaged_by_a_crash_of_the_system_does_not_stop_the_run(tmp_path):
    def stop(step: int) -> None:
        if step == 12:
            os.kill(os.getpid(), signal.SIGTERM)

    run(tmp_path / "whole")
    with pytest.raises(Stopped):
        run(tmp_path / "cut", Regression(at_step=stop), data_workers=0)
    with (tmp_path / "cut" / "metrics.jsonl").open("ab") as stream:
        stream.write(b"\0\0\xff\n[3]\n{\n")
    run(tmp_path / "cut")
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")


def test_a_half_written_checkpoint_is_not_read(tmp_path):
    save_checkpoint(tmp_path, Checkpoint(3, 1.0, {"a": torch.ones(2)}))
    (tmp_path / ".step-000000004.tmp").mkdir()
    (tmp_path / ".step-000000004.tmp" / "state.pt").write_bytes(b"half")
    loaded = load_checkpoint(tmp_path)
    assert loaded is not None and loaded.step == 3 and torch.equal(loaded.state["a"], torch.ones(2))


def test_parts_of_a_batch_add_up_to_it(tmp_path):
    class NoDropout(Regression):
        def loss(self, model: nn.Module, batch: Points) -> torch.Tensor:
            return super().loss(model.eval(), batch)

    one, _ = run(tmp_path / "one", NoDropout())
    three, _ = run(tmp_path / "three", NoDropout(), accumulation=3)
    for a, b in zip(one.parameters(), three.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("workers", [0, 2, 4])
def test_the_number_of_data_workers_changes_nothing(tmp_path, workers):
    one, _ = run(tmp_path / "one")
    other, _ = run(tmp_path / "other", data_workers=workers)
    assert same_weights(one, other)
    assert lines(tmp_path / "one") == lines(tmp_path / "other")


def test_batches_know_how_much_of_the_budget_is_spent(tmp_path):
    seen = {}

    class Noting(Regression):
        def batch(self, step: int, part: int, parts: int, spent: float) -> Points:
            seen[step] = spent
            return super().batch(step, part, parts, spent)

    run(tmp_path, Noting())
    assert [seen[step] for step in range(40)] == [step / 40 for step in range(40)]


def test_a_batch_with_nothing_to_predict_changes_nothing_for_the_worse(tmp_path):
    class Empty(Regression):
        def batch(self, step: int, part: int, parts: int, spent: float) -> Points:
            points = super().batch(step, part, parts, spent)
            return Points(points.x[:0], points.y[:0]) if step == 3 else points

    model, result = run(tmp_path, Empty())
    assert result.steps == 40 and all(torch.isfinite(p).all() for p in model.parameters())


def test_a_budget_of_minutes_ends_in_time_at_rate_zero(tmp_path, monkeypatch):
    clock = itertools.count(0.25, 0.25)  # seconds: the machine may be busy
    monkeypatch.setattr(Budget, "seconds", lambda budget: next(clock))
    _, result = run(tmp_path, steps=None, minutes=0.5)
    assert 30 <= result.seconds < 31
    rates = [row["learning_rate"] for row in lines(tmp_path) if "learning_rate" in row]
    assert result.steps > 50 and rates[-1] < 0.05 * max(rates)


def test_a_loss_that_is_no_number_stops_the_run_and_is_never_saved(tmp_path):
    with pytest.raises(
        TrainingError,
        match=r"the loss of step 8 is nan; its batch is kept in .*bad-batch-step-7-rank-0.pt",
    ):
        run(tmp_path, Regression(poison=7), save_minutes=0)
    (kept,) = torch.load(tmp_path / "bad-batch-step-7-rank-0.pt")
    assert kept["x"].isnan().all() and kept["x"].shape == (12, 8)
    loaded = load_checkpoint(tmp_path / "checkpoints")
    assert loaded is not None and loaded.step <= 7
    assert all(torch.isfinite(value).all() for value in loaded.state["model"].values())


def test_a_compiled_run_learns_the_same_or_says_what_it_lacks(tmp_path):
    losses = []
    for compiled in (False, True):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        folder = tmp_path / str(compiled)
        run_settings = settings(steps=8, log_every=1, compile=compiled)
        try:
            train(model, Regression(), run_settings, folder, label="test")
        except UsageError as error:
            assert compiled and "--compile: PyTorch cannot compile here" in str(error)
            return
        losses.append([row["loss"] for row in lines(folder) if "loss" in row])
    assert len(losses[1]) == 8 and losses[1] == pytest.approx(losses[0], abs=1e-4)


def test_the_time_of_compiling_is_told_and_is_no_training_time(tmp_path, caplog):
    seen = []

    class Slow(Regression):
        def loss(self, model: nn.Module, batch: Points) -> torch.Tensor:
            seen.append(batch.x)
            if len(seen) == 1:  # when the model is compiled
                time.sleep(2)
            return super().loss(model, batch)

    caplog.set_level(logging.INFO, "kobert_kit")
    started = time.monotonic()
    try:
        _, result = run(tmp_path, Slow(), compile=True, steps=6, log_every=1)
    except UsageError as error:
        assert "--compile: PyTorch cannot compile here" in str(error)
        return
    assert result.seconds < time.monotonic() - started - 2
    assert lines(tmp_path)[-1]["step"] == result.steps == 6
    ahead = len(seen) - result.steps
    assert ahead > 1 and all(map(torch.equal, seen[:ahead], seen[ahead:])), "no batch is used up"
    said = [record.getMessage() for record in caplog.records]
    assert any("compiling the model" in line for line in said)
    assert any(re.search(r"compiled in [2-9]|compiled in \d\d", line) for line in said)


def test_schedule_values():
    points = [linear_schedule(p, 0.1) for p in (0.0, 0.05, 0.1, 0.55, 1.0)]
    assert points == pytest.approx([0.0, 0.5, 1.0, 0.5, 0.0])
    assert linear_schedule(0.5, 0.0) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": None},
        {"minutes": 1},
        {"steps": 0},
        {"steps": None, "minutes": 0},
        {"steps": None, "minutes": float("inf")},  # whose learning rate never leaves 0
    ],
)
def test_budgets_that_make_no_sense(wrong):
    with pytest.raises(UsageError, match="--"):
        settings(**wrong)
