"""What does analysing each distinct eojeol once save, and what does it cost?

Times build_vocab against analysing the running text with Kiwi in as many processes, half of it
before and half after, so that a machine that grows slower does it to both; and compares the
vocabulary with the one that the text analysed in context gives.

    python benchmarks/build_speed.py --vocab-size 32000 CORPUS...
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from collections import Counter
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from pathlib import Path

from kobert_kit.corpus.documents import Document, ReadReport
from kobert_kit.corpus.files import find_files
from kobert_kit.corpus.holdout import is_held_out
from kobert_kit.corpus.reading import read_documents
from kobert_kit.morphology.kiwi import analyser
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.tokenizer.build import MOST_RUNS, BuildSettings, build_vocab
from kobert_kit.tokenizer.folder import reserved_entries
from kobert_kit.tokenizer.pieces import Cuts, PieceCounter
from kobert_kit.tokenizer.wordpiece import train_wordpiece

CHUNK = 20  # documents


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("corpus", nargs="+", type=Path)
    arguments = parser.parse_args()
    settings = BuildSettings(arguments.vocab_size)
    output = Path(tempfile.mkdtemp()) / "vocab"
    words, theirs = in_context(arguments.corpus, settings.held_out_share, 0)
    started = time.perf_counter()
    report = build_vocab(arguments.corpus, output, settings)
    ours = time.perf_counter() - started
    entries = (output / "vocab.txt").read_text(encoding="utf-8").splitlines()
    shutil.rmtree(output.parent)
    rest, seconds = in_context(arguments.corpus, settings.held_out_share, 1)
    words, theirs = words + rest, theirs + seconds
    size = report.reading.bytes / 1e6
    print(f"{size:.1f} MB: build_vocab {ours:.0f} s")
    print(f"Kiwi over the running text, {os.cpu_count()} processes: {theirs:.0f} s")
    print(f"ratio {theirs / ours:.2f}")
    same = set(entries) & set(vocabulary_of(words, entries, settings))
    print(f"entries that both have: {100 * len(same) / len(entries):.1f} %")


def in_context(
    corpus: list[Path], held_out_share: float, half: int
) -> tuple[Counter[tuple[str, Cuts]], float]:
    """Eojeols with their cuts, every other document analysed as running text; the seconds."""
    started = time.perf_counter()
    documents = (
        document
        for document in read_documents(find_files(corpus), ReadReport())
        if not is_held_out(document, held_out_share)
    )
    chunks = iter(lambda: list(islice(documents, CHUNK)), [])
    words: Counter[tuple[str, Cuts]] = Counter()
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), analyser) as pool:
        for found in pool.imap_unordered(analyse, islice(chunks, half, None, 2)):
            words.update(found)
    return words, time.perf_counter() - started


def analyse(documents: list[Document]) -> Counter[tuple[str, Cuts]]:
    splitter = Splitter()
    words: Counter[tuple[str, Cuts]] = Counter()
    for document in documents:
        words.update(splitter.split_text(document.text))
    return words


def vocabulary_of(
    words: Counter[tuple[str, Cuts]], entries: list[str], settings: BuildSettings
) -> list[str]:
    """As build_vocab trains it, from cuts in context; the alphabet is that of ``entries``."""
    alphabet = [entry for entry in entries if len(entry.removeprefix("##")) == 1]
    joined = [entry for entry in alphabet if "##" + entry in alphabet]
    counter = PieceCounter(joined, {eojeol for eojeol, _ in words})
    for (eojeol, cuts), count in words.items():
        counter.add(eojeol, cuts, count)
    reserved = reserved_entries((), 0)
    room = settings.vocab_size - len(reserved)
    trained = train_wordpiece(
        counter.counts,
        dict(nlargest(MOST_RUNS, counter.runs.items(), key=itemgetter(1))),
        alphabet,
        room,
        settings.min_frequency,
    )
    return [*reserved, *trained]


if __name__ == "__main__":
    main()
