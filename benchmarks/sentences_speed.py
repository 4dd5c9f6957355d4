"""How near does `kobert-kit corpus --sentences kiwi` come to Kiwi's own sentence splitter?

Kiwi alone is one instance with a thread for each worker, given all lines of the documents at once,
its model loaded before. Ours is the whole command, cleaning, start-up and writing included. They
take turns.

    python benchmarks/sentences_speed.py --workers 2 CORPUS...
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.files import find_files
from kobert_kit.corpus.reading import read_documents


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("corpus", nargs="+", type=Path)
    arguments = parser.parse_args()
    documents = read_documents(find_files(arguments.corpus), ReadReport())
    lines = [line for document in documents for line in document.text.split("\n")]
    size = sum(len(line.encode()) for line in lines) / 1e6
    print(f"{size:.1f} MB in {len(lines):,} lines, {arguments.workers} workers")
    ratios = []
    for number in range(1, arguments.rounds + 1):
        kiwi = run_kiwi(lines, arguments.workers)
        ours = run_ours(arguments.corpus, arguments.workers)
        ratios.append(kiwi / ours)
        print(f"round {number}: Kiwi {kiwi:.1f} s, ours {ours:.1f} s: {ratios[-1]:.2f}", flush=True)
    print(f"ours reaches {100 * median(ratios):.0f} % of Kiwi's speed (median)")


def run_kiwi(lines: list[str], workers: int) -> float:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=workers, load_multi_dict=False)
    kiwi.split_into_sents("먼저 모델을 읽습니다.")
    started = time.perf_counter()
    for _ in kiwi.split_into_sents(lines):
        pass
    return time.perf_counter() - started


def run_ours(corpus: list[Path], workers: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "kobert_kit", "corpus", *map(str, corpus)]
        command += ["--output", f"{folder}/clean", "--sentences", "kiwi"]
        command += ["--workers", str(workers)]
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - started


if __name__ == "__main__":
    main()
