"""A run of several processes: each has its part of the model, and what is saved is whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kobert_kit.training.checkpoints import load_checkpoint

SCRIPT = """
import torch
from accelerate import Accelerator
from torch import nn
from kobert_kit.training.placement import Sharded, local
from kobert_kit.training.ranks import join_ranks

join_ranks()
accelerator = Accelerator()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(2, 8)).sum().backward()
optimizer.step()
optimizer.zero_grad()
before = {name: value.clone() for name, value in model.state_dict().items()}
moments = [value["exp_avg"].clone() for value in optimizer.state_dict()["state"].values()]
place = Sharded(accelerator, model, optimizer)
for part, whole in zip(place.model.parameters(), model.parameters(), strict=True):
    assert 2 * local(part).numel() == whole.numel()
    assert 2 * local(place.optimizer.state[part]["exp_avg"]).numel() == whole.numel()
state = place.state()
assert (state is None) != accelerator.is_main_process
if state:
    assert all(torch.equal(state["model"][name], before[name]) for name in before)
    found = [value["exp_avg"] for value in state["optimizer"]["state"].values()]
    assert all(map(torch.equal, found, moments)) and len(found) == len(moments) == 4
with place.whole() as whole:
    assert all(torch.equal(value, before[name]) for name, value in whole.state_dict().items())
accelerator.wait_for_everyone()
print("all holds", flush=True)
accelerator.end_training()
"""


# Something to train.
TOY = """
import os, signal, sys, time
from pathlib import Path
import torch
from torch import nn
import kobert_kit.training.loop as loop
from kobert_kit.errors import Stopped, TrainingError
from kobert_kit.training.settings import TrainSettings

class Batch:
    weight = tokens = 2
    def to(self, device):
        return self

class Objective:
    def batch(self, step, part, parts, spent):
        return Batch()
    def loss(self, model, batch):
        return model(torch.ones(2, 4)).sum()
    def evaluate(self, model):
        return {}
"""

# A signal to each rank, and a slow disk: when one has gone, torchrun ends the others in seconds.
# Each notes when it goes, and rank 0 when all is saved.
STOPPED = """
class Signalled(Objective):
    def batch(self, step, part, parts, spent):
        if step == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return Batch()

def note(what):
    Path(sys.argv[1], what).write_text(str(time.monotonic()))

save = loop.save_checkpoint
def slowly(*arguments):
    time.sleep(3)
    save(*arguments)
    note("saved")
loop.save_checkpoint = slowly
settings = TrainSettings(1e-3, steps=1000, data_workers=0, sharded=sys.argv[2] == "sharded")
try:
    loop.train(nn.Linear(4, 1), Signalled(), settings, Path(sys.argv[1]), label="test")
except Stopped as stopped:
    note(f"gone-{os.environ['RANK']}")
    sys.exit(stopped.exit_code)
"""

# Two machines without a shared file system: what rank 0 saves is not there for the other one.
APART = """
folder = Path(sys.argv[1]) / os.environ["RANK"]
for steps in (3, 6):
    settings = TrainSettings(1e-3, steps=steps, save_minutes=0)
    try:
        loop.train(nn.Linear(4, 1), Objective(), settings, folder, label="test")
    except TrainingError as error:
        sys.exit(f"after {steps}: {error}")
"""


def torchrun(script: str, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "script.py").write_text(script)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [sys.executable, *launch, str(tmp_path / "script.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_each_process_has_its_part_and_the_whole_is_saved(tmp_path: Path) -> None:
    done = torchrun(SCRIPT, tmp_path)
    # Not the exit code: once in a while PyTorch aborts while it closes the connection.
    assert done.stdout.count("all holds") == 2, done.stderr


@pytest.mark.parametrize("placed", ["replicated", "sharded"])
def test_no_rank_leaves_while_another_saves(placed: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = torchrun(TOY + STOPPED, tmp_path, str(folder), placed)
    assert done.returncode != 0
    checkpoint = load_checkpoint(folder / "checkpoints")
    assert checkpoint is not None and 3 <= checkpoint.step < 100, done.stderr
    # The second may be ended by torchrun, as soon as the first is gone.
    gone = [float(path.read_text()) for path in folder.glob("gone-*")]
    assert float((folder / "saved").read_text()) <= min(gone)


def test_processes_that_would_go_on_from_different_steps_do_not(tmp_path: Path) -> None:
    done = torchrun(TOY + APART, tmp_path, str(tmp_path))
    assert done.returncode != 0
    said = "rank 1 finds the state after step 0 there, and rank 0 the one after step 3"
    assert f"after 6: {tmp_path}/1/checkpoints: {said}" in done.stderr
    assert "that all machines share" in done.stderr
