"""The stage that makes a clean corpus of raw sources: a folder that accounts for every document."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.corpus.copies.evaluation import evaluation_files
from kobert_kit.corpus.copies.overlap import EvaluationIndex
from kobert_kit.corpus.disk import full_disk_told
from kobert_kit.corpus.files import CLEAN_DOCUMENTS, CLEAN_STAGE, format_of, readable_path
from kobert_kit.corpus.stage.context import Context, SentenceStarts, name_sources
from kobert_kit.corpus.stage.cutting import FORMATS, PARSERS
from kobert_kit.corpus.stage.filters import Settings, choose_filters
from kobert_kit.corpus.stage.found import Found
from kobert_kit.corpus.stage.hub import hub_input, is_hub
from kobert_kit.corpus.stage.ledger import Ledger, Overlap
from kobert_kit.corpus.stage.steps import DROPPED, Pace, take_steps
from kobert_kit.errors import DataError, UsageError
from kobert_kit.records import (
    Record,
    begun_inputs,
    check_plan,
    claim_output,
    cleared_if_refused,
    fingerprint_files,
    fingerprint_values,
    finish_output,
    read_record,
    versions,
    write_json,
)

LEDGER_NAME = "ledger.json"
WORK = "work"
PACKAGES = ("numpy", "zstandard", "pyarrow", "rensa", "mwparserfromhell", "ijson", "markdown-it-py")


@dataclass(frozen=True)
class Sentences:
    """How documents are split into sentences: by a function of a module, which ``name`` and the
    versions of ``packages`` identify."""

    name: str = "none"
    starts: SentenceStarts | None = None
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class CorpusSettings:
    """What is asked of a corpus. ``presets`` by source's name, or for all under the empty name."""

    presets: Mapping[str, str] = field(default_factory=lambda: {"": "none"})
    filters: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    text_field: str = "text"
    near_duplicates: bool = True
    evaluation: tuple[Path, ...] = ()
    drop_overlap: bool = True
    sentences: Sentences = field(default_factory=Sentences)


def make_corpus(
    sources: Sequence[Path],
    output: Path,
    settings: CorpusSettings,
    pace: Pace,
    say: Callable[[str], object],
) -> Record:
    """Make a clean corpus of ``sources`` in the folder ``output``.

    The same call again continues an interrupted one. A part (``pace.part``) cleans its share
    and leaves the folder unfinished; the call for all of them does the rest.

    Raises:
        UsageError: an option is wrong, or ``output`` holds something else or was begun otherwise.
        DataError: no document is left.
    """
    started = time.monotonic()
    unreadable: list[tuple[Path, str]] = []
    context = _context(sources, output, settings, lambda *entry: unreadable.append(entry))
    plan = _plan(context, settings, pace)
    with cleared_if_refused(output), full_disk_told(output):
        finished = claim_output(output, CLEAN_STAGE)
        check_plan(output, plan)
        if finished:
            shutil.rmtree(context.work, ignore_errors=True)
            say(f"{output} is finished already; nothing to do")
            return read_record(output, CLEAN_STAGE)
        for folder in (WORK, CLEAN_DOCUMENTS, DROPPED):
            (output / folder).mkdir(exist_ok=True)
        if pace.parts == 1:
            _sweep(output)
        if not take_steps(context, pace, output):
            say(f"part {pace.part + 1} of {pace.parts} is done; run without --shard next")
            return plan
        ledger = _joined(context.work)
        for path, what in unreadable:
            ledger.end_file(readable_path(path), "", "", what)
        _check_ledger(ledger)
        _settle_overlap(ledger, context)
        write_json(output / LEDGER_NAME, ledger.to_json())
        plan.results = _results(ledger)
        plan.seconds = round(time.monotonic() - started, 1)
        finish_output(output, plan)
    shutil.rmtree(context.work)
    return plan


def _sweep(folder: Path) -> None:
    """Remove the files that a killed run had begun to write; nobody else is at work here."""
    for path in folder.rglob(".*.tmp"):
        path.unlink()


def _context(
    sources: Sequence[Path],
    output: Path,
    settings: CorpusSettings,
    refuse: Callable[[Path, str], None],
) -> Context:
    names = name_sources(list(sources))
    for source in sources:
        if not is_hub(source) and source.resolve() in [output.resolve(), *output.resolve().parents]:
            raise UsageError(f"--output {output}: lies in the source {source}; name one beside it")
    if unknown := settings.presets.keys() - {"", *names}:
        raise UsageError(
            f"--preset {min(unknown)}=...: no such source; the sources are {', '.join(names)}"
        )
    filters: dict[str, Settings] = {}
    found = Found(begun=begun_inputs(output) if any(map(is_hub, sources)) else {})
    for number, (name, path) in enumerate(zip(names, sources, strict=True)):
        preset = settings.presets.get(name) or settings.presets.get("", "none")
        filters[name] = choose_filters(preset, settings.filters, settings.without)
        found.add(path, number, refuse)
    _require_parsers(found.files)
    return Context(
        list(found.files),
        list(found.files.values()),
        names,
        filters,
        output / WORK,
        settings.text_field,
        settings.sentences.starts,
        settings.near_duplicates,
        tuple(evaluation_files(settings.evaluation)),
        settings.drop_overlap,
        found.by_index(found.archives),
        found.by_index(found.revisions),
    )


def _require_parsers(files: Iterable[Path]) -> None:
    """Check, before any work, that what reads each kind of file is installed."""
    for kind, path in {format_of(path, FORMATS): path for path in files}.items():
        if kind in PARSERS and find_spec(PARSERS[kind]) is None:
            raise UsageError(
                f"{path}: needs {PARSERS[kind]}; pip install 'kobert-kit[corpus]' brings it"
            )


def _plan(context: Context, settings: CorpusSettings, pace: Pace) -> Record:
    return Record(
        CLEAN_STAGE,
        settings={
            "sources": {name: dict(context.filters[name]) for name in context.names},
            "text_field": settings.text_field,
            "near_duplicates": settings.near_duplicates,
            "sentences": settings.sentences.name,
            "overlap": "drop" if settings.drop_overlap else "report",
            "chunk_bytes": pace.chunk_bytes,
            "shard_chunks": pace.shard_chunks,
        },
        inputs={"corpus": _fingerprint(context.on_disk)}
        | {hub_input(context.files[file]): at for file, at in context.revisions.items()}
        | _word_lists(context)
        | _evaluation_inputs(context),
        versions=versions(*PACKAGES, *settings.sentences.packages),
    )


def _word_lists(context: Context) -> dict[str, str]:
    """Fingerprints of the files that filters are made from."""
    paths = {settings.get("profanity") for settings in context.filters.values()} - {None}
    return {
        f"profanity {readable_path(path)}": _fingerprint([Path(path)])
        for path in sorted(map(str, paths))
    }


def _evaluation_inputs(context: Context) -> dict[str, str]:
    files = context.evaluation_files
    return {"evaluation data": _fingerprint(files)} if files else {}


def _fingerprint(files: Sequence[Path]) -> str:
    """Of names and contents; a file that cannot be read is part of the corpus as such."""
    prints = []
    for path in files:
        try:
            prints.append([readable_path(path), fingerprint_files([path])])
        except OSError:
            prints.append([readable_path(path), "unreadable"])
    return fingerprint_values({"files": prints})


def _joined(work: Path) -> Ledger:
    ledger = Ledger()
    for path in sorted(work.glob("ledger-*.json")):
        ledger.add(Ledger.from_json(json.loads(path.read_text(encoding="utf-8"))))
    return ledger


def _settle_overlap(ledger: Ledger, context: Context) -> None:
    """Say for each evaluation file what was found of it. A sentence in two counts for the first."""
    if not context.evaluation_files:
        return
    index = EvaluationIndex.load(context.evaluation)
    found = np.bincount(index.files[ledger.found], minlength=len(context.evaluation_files))
    for path, (sentences, too_short), count in zip(
        context.evaluation_files, index.counts.tolist(), found.tolist(), strict=True
    ):
        documents = ledger.overlaps.get(readable_path(path), 0)
        ledger.evaluation.append(
            Overlap(readable_path(path), sentences, too_short, count, documents)
        )
    ledger.found, ledger.overlaps = [], {}


def _check_ledger(ledger: Ledger) -> None:
    for source, flow in ledger.sources.items():
        if flow.balance() != (0, 0):
            documents, size = flow.balance()
            raise AssertionError(f"{source}: {documents} documents, {size} bytes unaccounted for")
    if not ledger.total.kept[0]:
        reasons = ", ".join(f"{why}: {n:,}" for why, (n, _) in ledger.total.dropped.items())
        problems = "; ".join(f"{file['file']}: {file['problem']}" for file in ledger.problems())
        raise DataError(f"no documents are left ({reasons or problems or 'the files are empty'})")


def _results(ledger: Ledger) -> dict[str, Any]:
    total = ledger.total
    return {
        "documents_read": total.read[0],
        "bytes_read": total.read[1],
        "documents": total.kept[0],
        "bytes": total.bytes_written,
        "dropped": {reason: counts[0] for reason, counts in total.dropped.items()},
        "files_with_problems": len(ledger.problems()),
    }


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a corpus folder.

    Raises:
        DataError: the folder is unfinished, or no corpus.
    """
    read_record(folder, CLEAN_STAGE)
    return Ledger.from_json(json.loads((folder / LEDGER_NAME).read_text(encoding="utf-8")))
