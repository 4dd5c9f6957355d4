"""From a corpus to a finished tokenizer folder."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nlargest
from pathlib import Path

from kobert_kit.console import progress
from kobert_kit.corpus.documents import ReadReport, require_documents
from kobert_kit.corpus.files import find_files, fingerprint, total_bytes
from kobert_kit.corpus.reading import read_documents
from kobert_kit.errors import DataError, UsageError
from kobert_kit.morphology.kiwi import KIWI_PACKAGES, KiwiSettings
from kobert_kit.records import (
    Record,
    claim_output,
    cleared_if_refused,
    finish_output,
    reopen_output,
    versions,
)
from kobert_kit.tokenizer.counting import EojeolCounts, analyse_eojeols, count_eojeols
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
from kobert_kit.tokenizer.pieces import Alphabet, PieceCounter, choose_alphabet
from kobert_kit.tokenizer.recipe import Recipe
from kobert_kit.tokenizer.wordpiece import train_wordpiece

# The commonest eojeols, by which entries that cross morphemes are found.
MOST_RUNS = 300_000

# With more distinct ones than this, those that occur once are not analysed: most of the work, and a
# twentieth of the text.
ENOUGH_EOJEOLS = 200_000


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


@dataclass(frozen=True)
class HeldOutMeasure:
    """How the tokenizer does on text that it was not built from."""

    eojeols: int
    tokens_per_eojeol: float
    unknown_share: float  # of the tokens


@dataclass
class BuildReport:
    """What ``build_vocab`` read and made.

    Eojeols that occur up to ``forgotten`` times were left out; 0 if none were.
    """

    reading: ReadReport
    forgotten: int
    distinct_eojeols: int
    distinct_pieces: int
    alphabet: int
    vocab_size: int
    held_out: HeldOutMeasure | None
    seconds: float


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
        reading, counts = _read(files, settings.held_out_share)
        say(reading.summary())
        alphabet = _alphabet(counts.train, settings)
        workers = workers or os.cpu_count() or 1
        pieces = _count_pieces(counts.train, alphabet.joined, settings.kiwi, workers)
    room = settings.vocab_size - _reserved(settings)
    entries = train_wordpiece(
        pieces.counts, pieces.runs, alphabet.entries(), room, settings.min_frequency
    )
    tokenizer = make_tokenizer(entries, alphabet.joined, settings.special_tokens, settings.unused)
    reopen_output(output, STAGE)
    write_tokenizer(output, tokenizer, Recipe(settings.mode, settings.kiwi))
    report = BuildReport(
        reading=reading,
        forgotten=max(counts.forgotten, int(len(counts.train) > ENOUGH_EOJEOLS)),
        distinct_eojeols=len(counts.train),
        distinct_pieces=len(pieces.counts),
        alphabet=len(alphabet),
        vocab_size=tokenizer.get_vocab_size(),
        held_out=measure(output, counts.held_out) if counts.held_out else None,
        seconds=time.monotonic() - started,
    )
    finish_output(output, _record(report, settings, fingerprint(files), output))
    return report


def _read(files: Sequence[Path], held_out_share: float) -> tuple[ReadReport, EojeolCounts]:
    reading = ReadReport()
    with progress(total_bytes(files), "read", "B", unit_scale=True) as bar:
        counts = count_eojeols(read_documents(files, reading, bar.update), held_out_share)
    require_documents(reading, files)
    if not counts.train:
        raise DataError(f"{files[0]}: all documents are held out; lower --held-out or add text")
    return reading, counts


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
    eojeols: Mapping[str, int], joined: Sequence[str], kiwi: KiwiSettings, workers: int
) -> PieceCounter:
    if len(eojeols) > ENOUGH_EOJEOLS:
        eojeols = {eojeol: count for eojeol, count in eojeols.items() if count > 1}
    frequent = nlargest(MOST_RUNS, eojeols, key=eojeols.__getitem__)
    counter = PieceCounter(joined, set(frequent))
    for eojeol, cuts in analyse_eojeols(sorted(eojeols), kiwi, workers):
        counter.add(eojeol, cuts, eojeols[eojeol])
    return counter


def measure(folder: Path, eojeols: Mapping[str, int]) -> HeldOutMeasure:
    """Tokens per eojeol, and the share of [UNK] among the tokens, on counted eojeols."""
    tokenizer = plain_tokenizer(folder)
    unknown = tokenizer.token_to_id(SPECIAL_TOKENS["unk_token"])
    tokens: Counter[bool] = Counter()
    distinct = list(eojeols)
    encodings = tokenizer.encode_batch(distinct, add_special_tokens=False)
    for eojeol, encoding in zip(distinct, encodings, strict=True):
        for token in encoding.ids:
            tokens[token == unknown] += eojeols[eojeol]
    total = sum(eojeols.values())
    return HeldOutMeasure(total, tokens.total() / total, tokens[True] / tokens.total())


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
