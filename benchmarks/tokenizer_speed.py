"""How fast are the tokenizers, next to what people would use instead?

- vocab: our folder of mode "vocab" against transformers' BertTokenizerFast with the same entries.
- always: our folder of mode "always" against Kiwi's own split_into_forms over running text; cold
  (a fresh process, the whole text once) and warm (the same text again).
- two workers: `datasets`-like work in two processes against one.

Rounds alternate; medians are shown. One thread a process (RAYON_NUM_THREADS=1).

    python benchmarks/tokenizer_speed.py --vocab DIR --always DIR --megabytes 20 CORPUS...
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from lines import read_lines

BATCH = 500


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--always", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("corpus", nargs="+", type=Path)
    arguments = parser.parse_args()
    lines = take(read_lines(arguments.corpus, 10**9), arguments.megabytes)
    print(f"{megabytes(lines):.1f} MB in {len(lines):,} lines; {os.cpu_count()} cores")
    against_bert(arguments.vocab, lines, arguments.rounds)
    against_kiwi(arguments.always, lines, arguments.rounds)


def take(lines: list[str], size: float) -> list[str]:
    """Lines from all over the corpora, ``size`` MB of them."""
    share = min(1.0, size / megabytes(lines))
    return lines[:: max(1, round(1 / share))]


def megabytes(lines: list[str]) -> float:
    return sum(len(line.encode()) for line in lines) / 1e6


def seconds(work: Callable[[list[str]], Any], lines: list[str]) -> float:
    started = time.perf_counter()
    for start in range(0, len(lines), BATCH):
        work(lines[start : start + BATCH])
    return time.perf_counter() - started


def against_bert(folder: Path, lines: list[str], rounds: int) -> None:
    from transformers import AutoTokenizer, BertTokenizerFast

    ours = AutoTokenizer.from_pretrained(folder)
    theirs = BertTokenizerFast(
        vocab=str(folder / "vocab.txt"), do_lower_case=False, strip_accents=False
    )
    part = take(lines, 4)
    for tokenizer in (ours, theirs):
        seconds(tokenizer, part[:BATCH])
    times = [(seconds(ours, part), seconds(theirs, part)) for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    size = megabytes(part)
    print(
        f"vocab: {size / mine:.2f} MB/s; BertTokenizerFast {size / other:.2f} MB/s; "
        f"ratio {statistics.median(b / a for a, b in times):.2f}"
    )


def against_kiwi(folder: Path, lines: list[str], rounds: int) -> None:
    """Kiwi alone on a part (it takes its time); ours on all from cold, and on the part warm."""
    part = take(lines, 1)
    fresh = multiprocessing.get_context("spawn")
    kiwi, cold, warm, memory = [], [], [], []
    for _ in range(rounds):
        with fresh.Pool(1) as pool:
            kiwi.append(megabytes(part) / pool.apply(run_kiwi, (part,)))
        with fresh.Pool(1) as pool:
            first, again, peak = pool.apply(run_ours, (folder, lines, part))
        cold.append(megabytes(lines) / first)
        warm.append(megabytes(part) / again)
        memory.append(peak)
    base = statistics.median(kiwi)
    print(
        f"always: cold {statistics.median(cold):.2f} MB/s, warm {statistics.median(warm):.2f} MB/s,"
        f" {max(memory):.0f} MB of memory; Kiwi's split_into_forms {base:.3f} MB/s; "
        f"cold {statistics.median(cold) / base:.1f} x, warm {statistics.median(warm) / base:.1f} x"
    )
    halves = [lines[::2], lines[1::2]]
    ratios = []
    for _ in range(rounds):
        with fresh.Pool(1) as pool:
            started = time.perf_counter()
            pool.map(run_half, [(folder, half) for half in halves], chunksize=1)
            one = time.perf_counter() - started
        with fresh.Pool(2) as pool:
            started = time.perf_counter()
            pool.map(run_half, [(folder, half) for half in halves], chunksize=1)
            ratios.append(one / (time.perf_counter() - started))
    print(f"always, two worker processes: {statistics.median(ratios):.2f} x one, loading included")


def run_kiwi(part: list[str]) -> float:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1, load_multi_dict=False)
    kiwi.split_into_forms("첫 문장은 모형을 싣는다.")
    started = time.perf_counter()
    for line in part:
        kiwi.split_into_forms(line)
    return time.perf_counter() - started


def run_ours(folder: Path, lines: list[str], part: list[str]) -> tuple[float, float, float]:
    """Seconds for all lines from cold and for the part again, and the peak memory in MB."""
    from kobert_kit import load_tokenizer

    tokenizer = load_tokenizer(folder)
    tokenizer("첫 문장은 모형을 싣는다.")
    first = seconds(tokenizer, lines)
    again = seconds(tokenizer, part)
    return first, again, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_half(job: tuple[Path, list[str]]) -> None:
    from kobert_kit import load_tokenizer

    seconds(load_tokenizer(job[0]), job[1])


if __name__ == "__main__":
    main()
