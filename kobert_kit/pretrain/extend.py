"""A BERT for a domain of your own: morphemes of its text join the vocabulary and the model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kobert_kit.console import quiet_transformers
from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.files import find_files, fingerprint
from kobert_kit.errors import DataError, UsageError
from kobert_kit.morphology.kiwi import KIWI_PACKAGES, KiwiSettings
from kobert_kit.morphology.workers import splitting
from kobert_kit.pretrain.initial import Initial, load_initial
from kobert_kit.pretrain.recorded import EXTEND
from kobert_kit.pretrain.rows import start_rows
from kobert_kit.records import (
    Record,
    claim_output,
    cleared_if_refused,
    fingerprint_files,
    finish_output,
    reopen_output,
    versions,
)
from kobert_kit.tokenizer.analysis import Analysis
from kobert_kit.tokenizer.counting import EojeolCounts, read_counts
from kobert_kit.tokenizer.entries import Places, free_slots, place_entries, write_extended
from kobert_kit.tokenizer.extension import Candidate, CountedEojeol, choose_entries
from kobert_kit.tokenizer.loading import tokenizer_fingerprint
from kobert_kit.tokenizer.measure import HeldOutMeasure, measure


@dataclass(frozen=True)
class ExtendSettings:
    """At most ``tokens`` entries are added, each of which must be used ``min_frequency`` times."""

    tokens: int = 2000
    held_out_share: float = 0.01
    min_frequency: int = 5


@dataclass
class ExtendReport:
    """What ``extend_vocab`` read and made.

    ``added`` are the new entries with their ids, the one that saves most first; ``slots`` of them
    took unused slots. ``vocab_size`` is that of the tokenizer after it. ``before`` and ``after``
    are None where nothing was held out.
    """

    reading: ReadReport
    forgotten: int
    added: Places
    slots: int
    vocab_size: int
    before: HeldOutMeasure | None
    after: HeldOutMeasure | None
    seconds: float


def extend_vocab(
    paths: Sequence[Path],
    model: str,
    output: Path,
    settings: ExtendSettings,
    *,
    workers: int | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> ExtendReport:
    """Add morphemes of the corpus at ``paths`` to ``model`` (folder or hub name), in ``output``.

    Old entries keep their ids, and the model its logits for them. The result depends on the corpus,
    the model and the settings alone, not on ``workers`` (processes that analyse; by default one a
    core). ``say`` gets a line when something is worth a user's notice.

    Raises:
        UsageError: nothing to read, or an ``output`` that holds something else or is the model's.
        DataError: the corpus holds no text, or no morpheme to add; or see `load_initial`.
    """
    started = time.monotonic()
    if settings.tokens < 1:
        raise UsageError(f"--tokens {settings.tokens}: at least 1")
    if Path(model).exists() and output.exists() and output.samefile(model):
        raise UsageError(f"--output {output}: is the model's own folder; name a new one")
    files = find_files(paths)
    with cleared_if_refused(output):
        claim_output(output, EXTEND)
        initial = load_initial(model)
        reading, counts = read_counts(files, settings.held_out_share)
        say(reading.summary())
        chosen = _choose(initial, counts, settings, workers or os.cpu_count() or 1)
        if not chosen:
            raise DataError(
                f"{files[0]}: no morpheme occurs {settings.min_frequency} times that {model} does "
                "not know already; give it more text, or lower --min-frequency"
            )
        inputs = {"corpus": fingerprint(files), "model": _fingerprint(initial.folder)}
        places = place_entries(initial.tokenizer, [candidate.entry for candidate in chosen])
        reopen_output(output, EXTEND)
        # Opening a tokenizer reads it, and a kill may have cut it, or it is another model's.
        (output / "config.json").unlink(missing_ok=True)
        extended = write_extended(initial.tokenizer, output, places)
    start_rows(initial.model, _pieces(initial, chosen, places))
    with quiet_transformers():
        initial.model.save_pretrained(output)
    report = ExtendReport(
        reading=reading,
        forgotten=counts.forgotten,
        added=places,
        slots=len(set(places.values()) & set(free_slots(initial.tokenizer))),
        vocab_size=extended.native.get_vocab_size(),
        before=measure(initial.tokenizer.tokenizer, extended.unknown, counts.held_out),
        after=measure(extended.tokenizer, extended.unknown, counts.held_out),
        seconds=time.monotonic() - started,
    )
    finish_output(output, _record(report, asdict(settings) | {"model": model}, inputs, output))
    return report


def _choose(
    initial: Initial, counts: EojeolCounts, settings: ExtendSettings, workers: int
) -> list[Candidate]:
    eojeols = counts.train
    with splitting(initial.tokenizer.kiwi or KiwiSettings(), workers) as pool:
        analysed = [
            CountedEojeol(eojeol, cuts, eojeols[eojeol])
            for eojeol, cuts in Analysis(pool).finish(eojeols)
        ]
    return choose_entries(initial.tokenizer, analysed, settings.tokens, settings.min_frequency)


def _pieces(initial: Initial, chosen: Sequence[Candidate], places: Places) -> dict[int, list[int]]:
    ids = initial.tokenizer.native.get_vocab()
    return {places[one.entry]: [ids[piece] for piece in one.pieces] for one in chosen}


def _fingerprint(folder: Path) -> str:
    names = ("config.json", "tokenizer*.json", "vocab.txt", "*.safetensors", "*.bin")
    return fingerprint_files(sorted(path for name in names for path in folder.glob(name)))


def _record(
    report: ExtendReport, settings: dict[str, Any], inputs: dict[str, str], folder: Path
) -> Record:
    results = asdict(report)
    results["reading"]["skipped"] = dict(report.reading.skipped)
    results["tokenizer"] = tokenizer_fingerprint(folder)
    seconds = results.pop("seconds")
    return Record(
        EXTEND,
        settings=settings,
        inputs=inputs,
        results=results,
        versions=versions("torch", "transformers", "tokenizers", *KIWI_PACKAGES),
        seconds=round(seconds, 1),
    )
