"""From a corpus to a finished tokenizer folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nlargest
from pathlib import Path

from kobert_kit.collector import collector_paused
from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.files import find_files, fingerprint
from kobert_kit.errors import UsageError
from kobert_kit.morphology.kiwi import KIWI_PACKAGES, KiwiSettings
from kobert_kit.morphology.workers import splitting
from kobert_kit.records import (
    Record,
    claim_output,
    cleared_if_refused,
    finish_output,
    reopen_output,
    versions,
)
from kobert_kit.tokenizer.analysis import Analysis
from kobert_kit.tokenizer.context import DocumentSample, known_eojeols
from kobert_kit.tokenizer.counting import read_counts
from kobert_kit.tokenizer.folder import (
    SPECIAL_TOKENS,
    make_tokenizer,
    reserved_entries,
    write_tokenizer,
)
from kobert_kit.tokenizer.loading import (
    STAGE,
    file_digests,
    plain_tokenizer,
    tokenizer_fingerprint,
)
from kobert_kit.tokenizer.measure import HeldOutMeasure, measure
from kobert_kit.tokenizer.pieces import Alphabet, PieceCounter, choose_alphabet
from kobert_kit.tokenizer.recipe import Recipe
from kobert_kit.tokenizer.wordpiece import train_wordpiece

# The commonest eojeols, by which entries that cross morphemes are found.
MOST_RUNS = 300_000


@dataclass(frozen=True)
class BuildSettings:
    """What decides a tokenizer, beside the corpus.

    ``alphabet_coverage`` is the share of the text's characters that get entries of their own, as
    far as those take no more than ``alphabet_share`` of the vocabulary: rare Hanja would fill a
    small one, and without entries they are one [UNK] each. A string that occurs fewer than
    ``min_frequency`` times is no entry. ``mode`` is that of `Recipe`; it does not change the
    vocabulary. ``special_tokens`` beside BERT's own, and ``unused`` slots that no text yields,
    count in ``vocab_size``.
    """

    vocab_size: int
    held_out_share: float = 0.01
    alphabet_coverage: float = 0.9996
    min_frequency: int = 2
    kiwi: KiwiSettings = field(default_factory=KiwiSettings)
    alphabet_share: float = 1 / 3
    mode: str = "vocab"
    special_tokens: tuple[str, ...] = ()
    unused: int = 0


@dataclass
class BuildReport:
    """What ``build_vocab`` read and made.

    Eojeols that occur up to ``forgotten`` times were left out to save memory; 0 if none were.
    """

    reading: ReadReport
    forgotten: int
    distinct_eojeols: int
    distinct_pieces: int
    alphabet: int
    vocab_size: int
    held_out: HeldOutMeasure | None
    seconds: float


@collector_paused()
def build_vocab(
    paths: Sequence[Path],
    output: Path,
    settings: BuildSettings,
    *,
    workers: int | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> BuildReport:
    """Build a vocabulary from the corpus at ``paths`` and write the tokenizer folder ``output``.

    The result depends on the corpus and the settings alone, not on ``workers`` (processes that
    analyse; by default one a core). ``say`` gets a line when something is worth a user's notice.

    Raises:
        UsageError: nothing to read, an ``output`` that holds something else, or a ``vocab_size``
            below the alphabet.
        DataError: the corpus holds no text, or a file is damaged.
    """
    started = time.monotonic()
    files = find_files(paths)
    with cleared_if_refused(output):
        claim_output(output, STAGE)
        sample = DocumentSample(settings.held_out_share)
        watch = sample.watch if settings.mode == "always" else iter
        kiwi = settings.kiwi
        with splitting(kiwi, workers or os.cpu_count() or 1) as pool:
            analysis = Analysis(pool)
            share = settings.held_out_share
            reading, counts = read_counts(files, share, watch, analysis.begin)
            say(reading.summary())
            alphabet = _alphabet(counts.train, settings)
            pieces = _count_pieces(analysis, counts.train, alphabet)
            if settings.mode == "always":
                known = known_eojeols(pool, counts.train, sample.texts())
                kiwi = replace(kiwi, known_eojeols=known)
    room = settings.vocab_size - _reserved(settings)
    entries = train_wordpiece(
        pieces.counts, pieces.runs, alphabet.entries(), room, settings.min_frequency
    )
    tokenizer = make_tokenizer(entries, alphabet.joined, settings.special_tokens, settings.unused)
    reopen_output(output, STAGE)
    write_tokenizer(output, tokenizer, Recipe(settings.mode, kiwi))
    report = BuildReport(
        reading=reading,
        forgotten=counts.forgotten,
        distinct_eojeols=len(counts.train),
        distinct_pieces=len(pieces.counts),
        alphabet=len(alphabet),
        vocab_size=tokenizer.get_vocab_size(),
        held_out=measure(plain_tokenizer(output), SPECIAL_TOKENS["unk_token"], counts.held_out),
        seconds=time.monotonic() - started,
    )
    finish_output(output, _record(report, settings, fingerprint(files), output))
    return report


def _alphabet(eojeols: Mapping[str, int], settings: BuildSettings) -> Alphabet:
    most = int(settings.vocab_size * settings.alphabet_share)
    alphabet = choose_alphabet(eojeols, settings.alphabet_coverage, most)
    needed = _reserved(settings) + len(alphabet.entries())
    if settings.vocab_size < needed:
        raise UsageError(
            f"--vocab-size {settings.vocab_size:,}: smaller than the alphabet, which takes "
            f"{needed:,} entries with the special tokens; ask for several times that"
        )
    return alphabet


def _reserved(settings: BuildSettings) -> int:
    return len(reserved_entries(settings.special_tokens, settings.unused))


def _count_pieces(
    analysis: Analysis, eojeols: Mapping[str, int], alphabet: Alphabet
) -> PieceCounter:
    frequent = nlargest(MOST_RUNS, eojeols, key=eojeols.__getitem__)
    counter = PieceCounter(alphabet.joined, set(frequent))
    for eojeol, cuts in analysis.finish(eojeols):
        counter.add(eojeol, cuts, eojeols[eojeol])
    return counter


def _record(report: BuildReport, settings: BuildSettings, corpus: str, folder: Path) -> Record:
    results = asdict(replace(report, reading=ReadReport()))
    results["reading"] = vars(report.reading) | {"skipped": dict(report.reading.skipped)}
    results["fingerprint"] = tokenizer_fingerprint(folder)
    results["files"] = file_digests(folder)
    seconds = results.pop("seconds")
    return Record(
        stage=STAGE,
        settings=asdict(settings),
        inputs={"corpus": corpus},
        results=results,
        versions=versions("tokenizers", *KIWI_PACKAGES),
        seconds=round(seconds, 1),
    )
