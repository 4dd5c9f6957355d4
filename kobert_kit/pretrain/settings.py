"""What one pretraining run is told, and the recipe that follows from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kobert_kit.errors import UsageError
from kobert_kit.pretrain.masking import parse_split
from kobert_kit.pretrain.model import MAX_POSITIONS
from kobert_kit.pretrain.presets import PRESETS, Preset
from kobert_kit.training.settings import TrainSettings

SHORTEST = 8  # tokens of a sequence


@dataclass(frozen=True)
class PretrainSettings:
    """What one pretraining run is told; see `kobert-kit pretrain --help` for each."""

    preset: str
    steps: int | None = None
    minutes: float | None = None
    mask_unit: str = "morpheme"
    mask_ratio: float = 0.15
    mask_split: str = "80/10/10"
    mask_rule: str = "unbiased"
    length: int | None = None
    long_length: int | None = None
    long_share: float = 0.1
    pack_documents: bool = False
    batch_size: int | None = None
    learning_rate: float | None = None
    accumulation: int = 1
    held_out_share: float = 0.01
    seed: int = 0
    mixed_precision: str = "no"
    compile: bool = False
    init_from: str | None = None

    @property
    def needs_morphemes(self) -> bool:
        return self.mask_unit in ("morpheme", "span")


@dataclass(frozen=True)
class Machine:
    """What a run may use; it decides how long a run takes, not what comes out of it."""

    threads: int | None = None
    workers: int = 2
    data_workers: int = 1
    save_minutes: float = 5.0
    sharded: bool = False


def recipe(settings: PretrainSettings) -> Preset:
    """The preset with what the user set otherwise.

    Raises:
        UsageError: an option is out of range; names it.
    """
    given = {
        name: getattr(settings, name)
        for name in ("length", "batch_size", "learning_rate")
        if getattr(settings, name) is not None
    }
    preset = Preset(**(asdict(PRESETS[settings.preset]) | given))
    for option, length in (("--length", preset.length), ("--long-length", settings.long_length)):
        if length is not None and not SHORTEST <= length <= MAX_POSITIONS:
            raise UsageError(f"{option} {length}: between {SHORTEST} and {MAX_POSITIONS} tokens")
    if settings.long_length is not None and settings.long_length <= preset.length:
        raise UsageError(
            f"--long-length {settings.long_length}: must be above --length ({preset.length})"
        )
    if settings.long_length is None and settings.long_share != PretrainSettings.long_share:
        raise UsageError(f"--long-share {settings.long_share}: needs --long-length")
    if preset.batch_size < 1:
        raise UsageError(f"--batch-size {preset.batch_size}: at least 1 sequence")
    for option, share in (
        ("--mask-ratio", settings.mask_ratio),
        ("--long-share", settings.long_share),
    ):
        if not 0 < share < 1:
            raise UsageError(f"{option} {share}: between 0 and 1")
    parse_split(settings.mask_split)
    return preset


def phases(settings: PretrainSettings) -> list[tuple[float, int, int]]:
    """Each phase's begin as a share of the budget, its length, and its sequences a step.

    A step of the long phase has as many tokens as one of the short phase, as near as whole
    sequences allow.
    """
    preset = recipe(settings)
    found = [(0.0, preset.length, preset.batch_size)]
    if settings.long_length is not None:
        size = max(1, preset.batch_size * preset.length // settings.long_length)
        found.append((1 - settings.long_share, settings.long_length, size))
    return found


def longest(settings: PretrainSettings) -> int:
    """Tokens of the longest sequences of the run."""
    return max(length for _, length, _ in phases(settings))


def train_settings(settings: PretrainSettings, machine: Machine) -> TrainSettings:
    """What the training loop is told."""
    preset = recipe(settings)
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
        data_workers=machine.data_workers,
        compile=settings.compile,
        sharded=machine.sharded,
    )
