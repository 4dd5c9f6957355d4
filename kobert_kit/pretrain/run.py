"""Pretraining as one call: prepare the text, train, save a model folder that explains itself."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from transformers.utils.logging import disable_progress_bar

from kobert_kit.console import counted
from kobert_kit.corpus.documents import require_documents
from kobert_kit.corpus.files import find_files, fingerprint
from kobert_kit.errors import DataError, UsageError
from kobert_kit.pretrain.batches import BatchMaker, SpecialIds
from kobert_kit.pretrain.encode import EncodeSettings, encode_corpus
from kobert_kit.pretrain.model import MaskedLanguageModel
from kobert_kit.pretrain.objective import MaskedLanguageModelling, Phase
from kobert_kit.pretrain.prepare import is_prepared, open_prepared
from kobert_kit.pretrain.prepared import Shard, open_shards
from kobert_kit.pretrain.rules import masking_rule
from kobert_kit.pretrain.sequences import Layout, Sequences
from kobert_kit.pretrain.settings import (
    Machine,
    PretrainSettings,
    phases,
    recipe,
    train_settings,
)
from kobert_kit.pretrain.start import Start, from_model, from_tokenizer
from kobert_kit.records import (
    Record,
    check_plan,
    claim_output,
    cleared_if_refused,
    fingerprint_values,
    finish_output,
    read_record,
    versions,
)
from kobert_kit.tokenizer.loading import copy_tokenizer
from kobert_kit.tokenizer.subject import Subject
from kobert_kit.training.loop import train
from kobert_kit.training.ranks import join_ranks, lost_ranks_explained

log = logging.getLogger(__name__)
PREPARED = "prepared"


@lost_ranks_explained("pretrain")
def pretrain(
    paths: Sequence[Path],
    tokenizer: Path | None,
    output: Path,
    settings: PretrainSettings,
    machine: Machine,
    say: Callable[[str], object],
) -> Record:
    """Pretrain a BERT on the corpus at ``paths`` and save it, with its tokenizer, in ``output``.

    ``paths`` may also be one folder of `kobert_kit.pretrain.prepare`; the result is the same. The
    same call again continues an interrupted run, and returns the record of a finished one.

    Raises:
        UsageError: ``output`` holds something else, or a run with other settings; ``tokenizer``
            and ``settings.init_from`` are both named, or neither; one process is to split a model.
        DataError: the corpus is empty, the tokenizer was made with another Kiwi, or what
            ``settings.init_from`` names is no BERT.
    """
    budget = train_settings(settings, machine)
    start = _start(tokenizer, settings)
    source = _Source(paths, start, settings)
    plan = Record(
        "pretrain",
        settings=start.described(settings),
        inputs=source.inputs,
        versions=versions("torch", "transformers", "tokenizers", "accelerate", "kiwipiepy"),
        seed=settings.seed,
    )
    ranks = join_ranks()
    if machine.sharded and ranks.num_processes == 1:
        raise UsageError("--fsdp: splits a model over processes; start several with torchrun")
    _check_batches(settings, ranks.num_processes)
    if not ranks.is_main_process:
        say = _silent
    with (
        ranks.main_process_first(),  # it prepares, the others find it done
        cleared_if_refused(output),
    ):
        finished = claim_output(output, plan.stage)
        # Of a model the weights are compared, which may lie under many names; a run may go on
        # without a compiler.
        free = {"init_from": None, "compile": None}
        check_plan(output, replace(plan, settings=plan.settings | free))
        if finished:
            _clear(output)
            say(f"{output} is finished already; nothing to do")
            return read_record(output, plan.stage)
        shards = source.shards(output / PREPARED, machine.workers, say)
        objective = build_objective(shards, start.tokenizer, settings)
    size = max(start.tokenizer.native.get_vocab().values()) + 1
    frequencies = objective.phases[0].sequences.frequencies(size)
    model = MaskedLanguageModel(start.build(settings, frequencies))
    say(_outline(objective, model))
    result = train(model, objective, budget, output, label="pretrain")
    plan.seconds = result.seconds
    plan.results = {
        "steps": result.steps,
        "tokens": result.tokens,
        "tokens_per_second": result.tokens / result.seconds,
        **{name: value for name, value in result.evaluations[-1].items() if name != "step"},
    }
    if ranks.is_main_process:
        start.complete(model.bert_mlm, settings)
        _save(model, start.folder, output, plan)
    ranks.wait_for_everyone()
    return plan


def _start(tokenizer: Path | None, settings: PretrainSettings) -> Start:
    if (tokenizer is None) == (settings.init_from is None):
        raise UsageError("name one to start from: --tokenizer for a new model, or --init-from")
    if settings.init_from is not None:
        return from_model(settings.init_from, settings)
    assert tokenizer is not None
    return from_tokenizer(tokenizer)


class _Source:
    """Where the encoded text comes from: a corpus, or a folder that `prepare` made of one."""

    def __init__(self, paths: Sequence[Path], start: Start, settings: PretrainSettings) -> None:
        self.start, self.settings = start, settings
        self.prepared = open_prepared(paths[0], start.folder) if is_prepared(paths) else None
        if self.prepared:
            self.inputs = self.prepared.inputs | start.inputs
            if settings.needs_morphemes and not self.prepared.has_morphemes:
                raise DataError(
                    f"{paths[0]}: prepared without morphemes, which --mask-unit "
                    f"{settings.mask_unit} needs; prepare it again, or use eojeol or token"
                )
            return
        self.files = find_files(paths)
        if settings.needs_morphemes:
            start.check_analyser()
        self.inputs = {"corpus": fingerprint(self.files)} | start.inputs

    def shards(self, folder: Path, workers: int, say: Callable[[str], object]) -> list[Shard]:
        """The shards, made under ``folder`` if there are none yet."""
        if self.prepared:
            documents, tokens = self.prepared.documents, self.prepared.tokens
            of = counted(documents, "prepared document")
            say(f"{of} of {counted(tokens, 'token')}")
            return self.prepared.shards
        morphemes = self.settings.needs_morphemes
        source = fingerprint_values(self.inputs | {"morphemes": morphemes})
        how = EncodeSettings(self.start.folder, morphemes, workers)
        report = encode_corpus(self.files, folder, how, source).report
        require_documents(report, self.files)
        say(report.summary())
        return open_shards(folder)


def _check_batches(settings: PretrainSettings, processes: int) -> None:
    parts = processes * settings.accumulation
    for _, length, size in phases(settings):
        if size < parts:
            raise UsageError(
                f"--batch-size {recipe(settings).batch_size}: at length {length} a step has fewer "
                f"sequences ({size}) than processes x accumulation ({parts})"
            )


def _save(model: MaskedLanguageModel, tokenizer: Path, output: Path, plan: Record) -> None:
    disable_progress_bar()  # one file is written; a bar of its own says nothing
    model.bert_mlm.save_pretrained(output)
    copy_tokenizer(tokenizer, output)
    finish_output(output, plan)
    _clear(output)


def _clear(output: Path) -> None:
    """Remove what only an unfinished run needs."""
    for rest in (output / PREPARED, output / "checkpoints"):
        shutil.rmtree(rest, ignore_errors=True)


def _silent(_text: str) -> None:
    """Ranks other than 0 say nothing."""


def build_objective(
    shards: list[Shard], tokenizer: Subject, settings: PretrainSettings
) -> MaskedLanguageModelling:
    """The objective over ``shards``, as `pretrain` trains and evaluates it.

    Raises:
        DataError: there is nothing to train on.
    """
    kept = [shard.draws >= settings.held_out_share for shard in shards]
    found = []
    for begins, length, batch_size in phases(settings):
        layout = Layout(length, settings.pack_documents, settings.mask_unit)
        found.append(_phase(begins, Sequences(shards, kept, layout), batch_size))
    held_out = [~documents for documents in kept]
    alone = Layout(recipe(settings).length, unit=settings.mask_unit)
    evaluation = Sequences(shards, held_out, alone)
    if not any(len(shard.ids) for shard in shards):
        raise DataError("the tokenizer makes no token of the corpus; give it some text")
    if not len(found[0].sequences):
        raise DataError(
            "every document fell into the held-out slice; lower --held-out or add documents"
        )
    if settings.held_out_share and not len(evaluation):
        log.warning("no document fell into the held-out slice: the run is not evaluated")
    roles = ("cls_token", "sep_token", "pad_token")
    special = SpecialIds(*(tokenizer.special_id(role) for role in roles))
    batches = BatchMaker(masking_rule(tokenizer, settings), special)
    return MaskedLanguageModelling(found, evaluation, batches, settings.seed)


def _phase(begins: float, sequences: Sequences, full: int) -> Phase:
    """A phase whose steps have as many tokens as ``full`` sequences of the whole length."""
    filled = sequences.lengths.mean() / sequences.layout.length if len(sequences) else 1.0
    return Phase(begins, sequences, round(full / filled))


def _outline(objective: MaskedLanguageModelling, model: MaskedLanguageModel) -> str:
    first = objective.phases[0]
    parameters = sum(p.numel() for p in model.parameters())
    return (
        f"{parameters / 1e6:.1f} M parameters; {counted(len(first.sequences), 'sequence')} of "
        f"{counted(first.sequences.tokens, 'token')}; one epoch is "
        f"{counted(-(-len(first.sequences) // first.batch_size), 'step')}"
    )
