"""What training gives back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
from pathlib import Path
from kobert_kit.training.allocator import LARGE, give_back_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

give_back_large_blocks()
before = resident()
kept = []
for number in range(8):
    block = bytearray(LARGE + number)
    kept.append(bytearray(100_000))  # would lie behind the block in the heap, and hold it there
    del block
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_blocks_do_not_stay() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 4_000_000
