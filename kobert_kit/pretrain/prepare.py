"""The stage that encodes a corpus once: a folder of shards that explains itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kobert_kit.console import counted
from kobert_kit.corpus.documents import require_documents
from kobert_kit.corpus.files import find_files, fingerprint
from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KIWI_PACKAGES
from kobert_kit.pretrain.encode import EncodeSettings, encode_corpus
from kobert_kit.pretrain.prepared import Shard, check_source, open_shards, shard_path
from kobert_kit.records import (
    Record,
    check_plan,
    claim_output,
    cleared_if_refused,
    fingerprint_values,
    finish_output,
    read_record,
    recorded_stage,
    versions,
)
from kobert_kit.tokenizer.loading import check_tokenizer, tokenizer_fingerprint
from kobert_kit.tokenizer.recipe import check_analyser, read_recipe

STAGE = "prepare"


@dataclass(frozen=True)
class Prepared:
    """Shards, and the fingerprints of the corpus and the tokenizer that they were made from."""

    shards: list[Shard]
    inputs: dict[str, str]
    has_morphemes: bool

    @property
    def documents(self) -> int:
        return sum(shard.counts["documents"] for shard in self.shards)

    @property
    def tokens(self) -> int:
        return sum(shard.counts["tokens"] for shard in self.shards)


def prepare(
    paths: Sequence[Path],
    output: Path,
    settings: EncodeSettings,
    say: Callable[[str], object],
) -> Record:
    """Encode the corpus at ``paths`` into the folder ``output``, which `pretrain` takes.

    The same call again continues an interrupted one. A part of the shards (``settings.part``)
    leaves the folder unfinished; the call for all of them makes what is missing and finishes it.

    Raises:
        UsageError: ``output`` holds something else, or was begun with another corpus or tokenizer.
        DataError: the corpus is empty, or the tokenizer was made with another Kiwi.
    """
    started = time.monotonic()
    files = find_files(paths)
    check_tokenizer(settings.tokenizer)
    if settings.morphemes:
        check_analyser(read_recipe(settings.tokenizer), settings.tokenizer)
    plan = Record(
        STAGE,
        settings={"morphemes": settings.morphemes},
        inputs={
            "corpus": fingerprint(files),
            "tokenizer": tokenizer_fingerprint(settings.tokenizer),
        },
        versions=versions("tokenizers", *KIWI_PACKAGES),
    )
    with cleared_if_refused(output):
        finished = claim_output(output, STAGE)
        check_plan(output, plan)
        if finished:
            say(f"{output} is finished already; nothing to do")
            return read_record(output, STAGE)
        source = fingerprint_values(plan.settings | plan.inputs)
        encoded = encode_corpus(files, output, settings, source)
        require_documents(encoded.report, files)
    say(encoded.report.summary())
    if settings.parts > 1:
        say(f"part {settings.part + 1} of {settings.parts} is done; run without --shard at the end")
        return plan
    prepared = Prepared(open_shards(output), plan.inputs, settings.morphemes)
    if len(prepared.shards) != encoded.shards:
        raise DataError(
            f"{output}: {counted(len(prepared.shards), 'shard')} where the corpus gives "
            f"{encoded.shards}; remove shard-{encoded.shards:05d} and those after it"
        )
    plan.results = {
        "documents": prepared.documents,
        "tokens": prepared.tokens,
        "shards": len(prepared.shards),
        "skipped": dict(encoded.report.skipped),
    }
    plan.seconds = round(time.monotonic() - started, 1)
    finish_output(output, plan)
    return plan


def is_prepared(paths: Sequence[Path]) -> bool:
    """Whether ``paths`` is one folder that `prepare` has begun or finished."""
    if len(paths) != 1 or not paths[0].is_dir():
        return False
    return recorded_stage(paths[0]) == STAGE or (paths[0] / f".{STAGE}.unfinished").exists()


def open_prepared(folder: Path, tokenizer: Path) -> Prepared:
    """The shards of a folder of `prepare`, made with ``tokenizer``.

    Raises:
        DataError: it is unfinished or damaged, or was made with another tokenizer.
    """
    record = read_record(folder, STAGE)
    if record.inputs.get("tokenizer") != tokenizer_fingerprint(tokenizer):
        raise DataError(
            f"{folder}: prepared with another tokenizer than {tokenizer}; name that one, or give "
            "the corpus itself"
        )
    shards = finished_shards(folder, record)
    return Prepared(shards, record.inputs, bool(record.settings.get("morphemes")))


def finished_shards(folder: Path, record: Record) -> list[Shard]:
    """The shards of a finished ``folder``, which are those that its ``record`` tells of.

    Raises:
        DataError: one is missing, damaged, or made from something else.
    """
    shards = open_shards(folder)
    if len(shards) != record.results.get("shards"):
        raise DataError(
            f"{folder}: {counted(len(shards), 'shard')} where {record.results.get('shards')} "
            "were made; prepare the corpus again, in a new folder"
        )
    source = fingerprint_values(record.settings | record.inputs)
    for number in range(len(shards)):
        check_source(shard_path(folder, number), source)
    return shards
