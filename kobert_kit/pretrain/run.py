"""Pretraining as one call: prepare the text, train, save a model folder that explains itself."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from transformers.utils.logging import disable_progress_bar

from kobert_kit.corpus.documents import ReadReport, require_documents
from kobert_kit.corpus.files import find_files, fingerprint
from kobert_kit.errors import DataError, UsageError
from kobert_kit.pretrain.masking import MaskSettings
from kobert_kit.pretrain.model import (
    MAX_POSITIONS,
    MaskedLanguageModel,
    fill_untrained_embeddings,
    new_model,
)
from kobert_kit.pretrain.objective import MaskedLanguageModelling, Sequences, SpecialIds
from kobert_kit.pretrain.prepare import PrepareSettings, prepare
from kobert_kit.pretrain.prepared import open_shards
from kobert_kit.pretrain.presets import PRESETS, Preset
from kobert_kit.records import (
    Record,
    check_plan,
    claim_output,
    cleared_if_refused,
    finish_output,
    read_record,
    versions,
)
from kobert_kit.tokenizer.loading import (
    check_tokenizer,
    copy_tokenizer,
    plain_tokenizer,
    tokenizer_fingerprint,
)
from kobert_kit.tokenizer.recipe import check_analyser, read_recipe
from kobert_kit.training.loop import train
from kobert_kit.training.ranks import join_ranks
from kobert_kit.training.settings import TrainSettings

log = logging.getLogger(__name__)
PREPARED = "prepared"


@dataclass(frozen=True)
class PretrainSettings:
    """What one pretraining run is told; see `kobert-kit pretrain --help` for each."""

    preset: str
    steps: int | None = None
    minutes: float | None = None
    mask_unit: str = "morpheme"
    mask_ratio: float = 0.15
    length: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    accumulation: int = 1
    held_out_share: float = 0.01
    seed: int = 0
    mixed_precision: str = "no"


@dataclass(frozen=True)
class Machine:
    """What a run may use; it decides how long a run takes, not what comes out of it."""

    threads: int | None = None
    workers: int = 2
    save_minutes: float = 5.0


def pretrain(
    paths: Sequence[Path],
    tokenizer: Path,
    output: Path,
    settings: PretrainSettings,
    machine: Machine,
    say: Callable[[str], object],
) -> Record:
    """Pretrain a BERT on the corpus at ``paths`` and save it, with its tokenizer, in ``output``.

    The same call again continues an interrupted run, and returns the record of a finished one.

    Raises:
        UsageError: ``output`` holds something else, or a run with other settings.
        DataError: the corpus is empty, or the tokenizer was made with another Kiwi.
    """
    preset = _recipe(settings)
    budget = _train_settings(preset, settings, machine)
    files = find_files(paths)
    check_tokenizer(tokenizer)
    if settings.mask_unit == "morpheme":
        check_analyser(read_recipe(tokenizer), tokenizer)
    plan = Record(
        "pretrain",
        settings=asdict(settings) | asdict(preset),
        inputs={"corpus": fingerprint(files), "tokenizer": tokenizer_fingerprint(tokenizer)},
        versions=versions("torch", "transformers", "tokenizers", "accelerate", "kiwipiepy"),
        seed=settings.seed,
    )
    ranks = join_ranks()
    parts = ranks.num_processes * settings.accumulation
    if preset.batch_size < parts:
        raise UsageError(
            f"--batch-size {preset.batch_size}: fewer sequences than processes x accumulation "
            f"({parts})"
        )
    if not ranks.is_main_process:
        say = _silent
    with ranks.main_process_first(), cleared_if_refused(output):
        # Rank 0 prepares, the others find it done.
        if _is_finished(output, plan):
            say(f"{output} is finished already; nothing to do")
            return read_record(output, "pretrain")
        say(_prepare(files, tokenizer, output, settings, machine).summary())
        objective = build_objective(output / PREPARED, tokenizer, settings)
    model = _build_model(objective, tokenizer, preset, settings.seed)
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
        fill_untrained_embeddings(model.bert_mlm, preset.length)
        _save(model, tokenizer, output, plan)
    ranks.wait_for_everyone()
    return plan


def _prepare(
    files: Sequence[Path],
    tokenizer: Path,
    output: Path,
    settings: PretrainSettings,
    machine: Machine,
) -> ReadReport:
    how = PrepareSettings(tokenizer, settings.mask_unit, settings.held_out_share, machine.workers)
    report = prepare(files, output / PREPARED, how)
    require_documents(report, files)
    return report


def _is_finished(output: Path, plan: Record) -> bool:
    finished = claim_output(output, plan.stage)
    check_plan(output, plan)
    return finished


def _save(model: MaskedLanguageModel, tokenizer: Path, output: Path, plan: Record) -> None:
    disable_progress_bar()  # one file is written; a bar of its own says nothing
    model.bert_mlm.save_pretrained(output)
    copy_tokenizer(tokenizer, output)
    finish_output(output, plan)
    for rest in (output / PREPARED, output / "checkpoints"):
        shutil.rmtree(rest, ignore_errors=True)


def _silent(_text: str) -> None:
    """Ranks other than 0 say nothing."""


def _recipe(settings: PretrainSettings) -> Preset:
    """The preset with what the user set otherwise."""
    preset = PRESETS[settings.preset]
    given = {
        name: getattr(settings, name)
        for name in ("length", "batch_size", "learning_rate")
        if getattr(settings, name) is not None
    }
    recipe = Preset(**(asdict(preset) | given))
    if not 8 <= recipe.length <= MAX_POSITIONS:
        raise UsageError(f"--length {recipe.length}: between 8 and {MAX_POSITIONS} tokens")
    if recipe.batch_size < 1:
        raise UsageError(f"--batch-size {recipe.batch_size}: at least 1 sequence")
    if not 0 < settings.mask_ratio < 1:
        raise UsageError(f"--mask-ratio {settings.mask_ratio}: between 0 and 1")
    return recipe


def build_objective(
    prepared: Path, tokenizer_folder: Path, settings: PretrainSettings
) -> MaskedLanguageModelling:
    """The objective over the shards in ``prepared``, as `pretrain` trains and evaluates it.

    Raises:
        DataError: there is nothing to train on.
    """
    preset = _recipe(settings)
    vocabulary = plain_tokenizer(tokenizer_folder).get_vocab()
    shards = open_shards(prepared)
    training = Sequences(shards, held_out=False, length=preset.length)
    evaluation = Sequences(shards, held_out=True, length=preset.length)
    if not len(training):
        raise DataError(
            "every document fell into the held-out slice; lower --held-out or add documents"
        )
    if not len(evaluation):
        log.warning("no document fell into the held-out slice: the run is not evaluated")
    special = [vocabulary[token] for token in ("[CLS]", "[SEP]", "[PAD]")]
    ordinary = [id_ for token, id_ in vocabulary.items() if not _is_reserved(token)]
    masks = MaskSettings(
        seed=settings.seed,
        mask_id=vocabulary["[MASK]"],
        replacements=np.array(sorted(ordinary)),
        ratio=settings.mask_ratio,
    )
    return MaskedLanguageModelling(
        training, evaluation, masks, SpecialIds(*special), preset.batch_size
    )


def _is_reserved(token: str) -> bool:
    """Special and unused tokens, such as [CLS] and [unused7]."""
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _build_model(
    objective: MaskedLanguageModelling, tokenizer_folder: Path, preset: Preset, seed: int
) -> MaskedLanguageModel:
    size = plain_tokenizer(tokenizer_folder).get_vocab_size()
    frequencies = objective.training.frequencies(size)
    return MaskedLanguageModel(new_model(preset, size, objective.special.pad, frequencies, seed))


def _train_settings(preset: Preset, settings: PretrainSettings, machine: Machine) -> TrainSettings:
    return TrainSettings(
        learning_rate=preset.learning_rate,
        steps=settings.steps,
        minutes=settings.minutes,
        warmup_share=preset.warmup_share,
        accumulation=settings.accumulation,
        evaluations=10,
        save_minutes=machine.save_minutes,
        seed=settings.seed,
        threads=machine.threads,
        mixed_precision=settings.mixed_precision,
    )


def _outline(objective: MaskedLanguageModelling, model: MaskedLanguageModel) -> str:
    training = objective.training
    parameters = sum(p.numel() for p in model.parameters())
    return (
        f"{parameters / 1e6:.1f} M parameters; {len(training):,} sequences of "
        f"{training.tokens:,} tokens; one epoch is "
        f"{-(-len(training) // objective.batch_size):,} steps"
    )
