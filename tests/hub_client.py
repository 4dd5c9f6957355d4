"""Processes that have a `Hub` of the tests for their hub, from their start on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hub_server import Hub

# The libraries wait longer and longer before they ask again, up to many minutes.
HASTE = "import time; wait = time.sleep; time.sleep = lambda seconds: wait(seconds / 1000)\n"
SMALL_BLOCKS = {"FSSPEC_HF": '{"block_size": 65536}'}  # of streamed files; 5 MB without


def run_python(hub: Hub, home: Path, code: str, *args: object) -> subprocess.CompletedProcess[str]:
    """Run ``code`` with the caches in ``home``, with no patience."""
    return subprocess.run(
        [sys.executable, "-c", HASTE + code, *map(str, args)],
        env=hub.environment(home) | SMALL_BLOCKS,
        capture_output=True,
        text=True,
        timeout=600,
    )


def kobert_kit(hub: Hub, home: Path, *args: object) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    return run_python(hub, home, "from kobert_kit.cli import main; main()", *args)
