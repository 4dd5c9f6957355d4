"""A model that is split over processes: each has its part, and what is saved is whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
accelerator.end_training()
"""


def test_each_process_has_its_part_and_the_whole_is_saved(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [sys.executable, *launch, str(tmp_path / "script.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
