"""How fast is `kobert-kit corpus`, and how much memory does it take?

    python benchmarks/corpus_speed.py --workers 2 CORPUS... [-- --preset wiki --sentences kiwi]

Options after -- go to the command. Memory is that of all its processes together, sampled.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from machine import processor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("corpus", nargs="+", type=Path)
    arguments, options = parser.parse_known_args()
    options = [option for option in options if option != "--"] or ["--preset", "wiki"]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "clean"
        command = [sys.executable, "-m", "kobert_kit", "corpus", *map(str, arguments.corpus)]
        command += ["--output", str(output), "--workers", str(arguments.workers), *options]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peak = watch(psutil.Process(process.pid), process)
        seconds = time.perf_counter() - started
        if process.returncode:
            sys.exit(process.returncode)
        results = json.loads((output / "kobert_kit.json").read_text(encoding="utf-8"))["results"]
    size = results["bytes_read"] / 1e6
    print(
        f"{' '.join(options)}, {arguments.workers} workers, "
        f"{psutil.cpu_count()} cores of {processor()}"
    )
    print(
        f"{size:.1f} MB of text, {results['documents_read']:,} documents: {seconds:.1f} s, "
        f"{size / seconds:.1f} MB/s, at most {peak / 1e6:,.0f} MB of memory"
    )


def watch(parent: psutil.Process, process: subprocess.Popen[bytes]) -> int:
    """The most bytes of memory that a process and those it started held, until it ends.

    Memory that they share counts once (proportional set size).
    """
    peak = 0
    while process.poll() is None:
        held = 0
        try:
            for each in [parent, *parent.children(recursive=True)]:
                held += each.memory_full_info().pss
        except psutil.Error:
            continue
        peak = max(peak, held)
        time.sleep(0.1)
    return peak


if __name__ == "__main__":
    main()
