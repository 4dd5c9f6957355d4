"""Steps after the first find their memory mapped."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import resource, sys
import torch
from kobert_kit.training.allocator import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):  # 24 MB each; both alive at once, then both gone
        one, two = torch.ones(6_000_000), torch.ones(6_000_000)
        del one, two
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

torch.set_num_threads(1)
can = keep_freed_memory()
faults()
print(can, faults())
"""


def test_freed_blocks_are_used_again_without_page_faults():
    """In a process of its own, whose memory nothing else uses."""
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    can, faults = ran.stdout.split()
    # 24 MB are 6,000 pages; 40 blocks given back each time would be 240,000 faults.
    assert can == "False" or int(faults) < 12_000
