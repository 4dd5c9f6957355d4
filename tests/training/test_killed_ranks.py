"""Runs of two processes that are killed and stopped at random, and what they end with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

# The processes are forked from one that has loaded everything, so that twenty of them are cheap.
# What torchrun does besides, ending the others when one has died, is done here as well. A run that
# is to be killed waits at a step of its own, so that no busy machine lets it end before that.
DRIVER = """
import contextlib, math, os, random, signal, socket, sys, time
from pathlib import Path

import torch
from torch import nn

from kobert_kit.errors import KobertKitError
from kobert_kit.training.loop import train
from kobert_kit.training.settings import TrainSettings

torch.set_num_threads(1)
STEPS = 60


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x)


class Batch:
    def __init__(self, x):
        self.x, self.weight, self.tokens = x, len(x), len(x)

    def to(self, device):
        return self


class Objective:
    def __init__(self, until, go):
        self.until, self.go = until, go

    def batch(self, step, part, parts, spent):
        while step >= self.until and not self.go.exists():
            time.sleep(0.002)
        x = torch.randn(12, 8, generator=torch.Generator().manual_seed(step))
        return Batch(x[part::parts])

    def loss(self, model, batch):
        return ((model(batch.x) - batch.x.sum(1, keepdim=True)) ** 2).sum()

    def evaluate(self, model):
        return {"norm": sum(p.norm().item() for p in model.parameters())}


def free_port():
    # Below those that the system hands out, any of which another process may get meanwhile.
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


def start(folder, ranks, save_minutes=0.0, until=math.inf):
    go.unlink(missing_ok=True)
    port = free_port()
    return [fork(folder, rank, ranks, port, save_minutes, until) for rank in range(ranks)]


def fork(folder, rank, ranks, port, save_minutes, until):
    if process := os.fork():
        return process
    code = 99
    try:
        if ranks > 1:
            places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_PORT": port}
            os.environ.update({name: str(value) for name, value in places.items()})
            os.environ["MASTER_ADDR"] = "127.0.0.1"
        torch.manual_seed(0)
        model = Net()
        sharded = ranks > 1 and SHARDED
        settings = TrainSettings(
            1e-2, steps=STEPS, log_every=5, save_minutes=save_minutes, sharded=sharded
        )
        train(model, Objective(until, go), settings, folder, label="test")
        if rank == 0:
            torch.save(model.state_dict(), folder / "final.pt")
        code = 0
    except KobertKitError as error:
        print(f"rank {rank}: {error}", file=sys.stderr, flush=True)
        code = error.exit_code
    finally:
        os._exit(code)


def join(processes):
    \"\"\"Exit codes, negative for a signal's; when one has failed, the rest are ended.\"\"\"
    codes, deadline = {}, None
    while len(codes) < len(processes):
        for process in processes:
            if process not in codes:
                found, status = os.waitpid(process, os.WNOHANG)
                if found:
                    codes[process] = os.waitstatus_to_exitcode(status)
                    if codes[process] and deadline is None:
                        deadline = time.monotonic() + 30
        if deadline is not None and time.monotonic() > deadline:
            for process in set(processes) - set(codes):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    return [codes[process] for process in processes]


def newest(folder):
    there = (int(path.name.split("-")[1]) for path in (folder / "checkpoints").glob("step-*"))
    return max(there, default=0)


SHARDED = sys.argv[2] == "sharded"
root = Path(sys.argv[1])
go = root / "go"
"""

KILLS = """
rng = random.Random(int(sys.argv[3]))
assert join(start(root / "whole", 2, 60)) == [0, 0]
for cut, choices in (("same", [2]), ("other", [1, 2])):
    last = 0
    for kill in range(int(sys.argv[4])):
        processes = start(root / cut, rng.choice(choices), until=last + rng.randint(1, 9))
        deadline = time.monotonic() + 300
        while newest(root / cut) <= last:
            assert time.monotonic() < deadline, "no step was saved"
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.1))
        how = rng.choice(["first", "last", "all", "stop"])
        ended = {"first": processes[:1], "last": processes[-1:]}.get(how, processes)
        for process in ended:
            os.kill(process, signal.SIGTERM if how == "stop" else signal.SIGKILL)
        go.touch()
        codes = join(processes)
        last = newest(root / cut)
        print(cut, len(processes), how, codes, last, file=sys.stderr, flush=True)
        assert 99 not in codes, "an error that is not told"
        if how == "stop":
            assert codes == [143] * len(processes), codes
    assert join(start(root / cut, choices[0], 60)) == [0] * choices[0]
"""

LOST = """
import kobert_kit.training.loop as loop

def lost(*arguments):
    if os.environ["RANK"] == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return call(*arguments)

call = getattr(loop, sys.argv[3])
setattr(loop, sys.argv[3], lost)
print(*join(start(root / "lost", 2)))
"""


def drive(program: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "driver.py").write_text(DRIVER + program)
    command = [sys.executable, str(folder / "driver.py"), str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def curve(folder: Path) -> list[dict[str, float]]:
    """metrics.jsonl without what depends on the clock."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {k: v for k, v in row.items() if k not in ("seconds", "tokens_per_second")} for row in rows
    ]


@pytest.mark.parametrize("placed", ["replicated", "sharded"])
def test_killed_and_stopped_runs_of_two_processes_end_as_one_that_was_not(
    placed: str, tmp_path: Path
) -> None:
    """Bit for bit with the same number of processes, but for rounding with another."""
    done = drive(KILLS, tmp_path, placed, "0", "5")
    assert done.returncode == 0, done.stderr
    whole, same, other = (
        torch.load(tmp_path / name / "final.pt") for name in ("whole", "same", "other")
    )
    assert all(torch.equal(same[name], whole[name]) for name in whole)
    assert curve(tmp_path / "same") == curve(tmp_path / "whole")
    assert all(torch.allclose(other[name], whole[name], atol=1e-5) for name in whole)


@pytest.mark.parametrize("where", ["require_same_step", "{placed}", "Prefetch"])
@pytest.mark.parametrize("placed", ["Replicated", "Sharded"])
def test_a_rank_that_is_lost_is_told_wherever_it_was(placed: str, where: str, tmp_path: Path):
    """Before the first step, too."""
    done = drive(LOST, tmp_path, placed.lower(), where.format(placed=placed))
    assert done.stdout.split() == ["1", "-9"], done.stderr
    assert "rank 0: test: another process of the run has died" in done.stderr
