"""``kobert-kit bench``."""

from __future__ import annotations

import click

from kobert_kit.cli.pretrain import PRESET_NAMES


@click.command("bench")
@click.option(
    "--preset",
    type=click.Choice(PRESET_NAMES),
    default="mini",
    show_default=True,
    help="As for `pretrain`.",
)
@click.option("--vocab-size", type=int, default=32_000, show_default=True)
@click.option("--length", type=int, help="Tokens a sequence; default: the preset's.")
@click.option("--batch-size", type=int, help="Sequences a step; default: the preset's.")
@click.option(
    "--mixed-precision", type=click.Choice(["no", "bf16"]), default="no", show_default=True
)
@click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads; default: PyTorch's.")
@click.option(
    "--seconds",
    type=float,
    default=20.0,
    show_default=True,
    help="Of training; the matrix products between take half as long again.",
)
@click.option("--compile", is_flag=True, help="Compile the model first (needs a C++ compiler).")
def bench(
    preset: str,
    vocab_size: int,
    length: int | None,
    batch_size: int | None,
    mixed_precision: str,
    threads: int | None,
    seconds: float,
    compile: bool,
) -> None:
    """Measure how fast this machine pretrains, how near that is to its peak, and what takes long.

    Needs no corpus: the text is made up, in the shape of real text. Training steps and matrix
    products by themselves take turns, so that the share of the peak means something on a busy
    machine, too. FLOP/s count what the model has to compute, not what it happens to compute twice.
    "data" is the making of masked batches.

    \b
    Examples:
      kobert-kit bench --preset mini --threads 2
      kobert-kit bench --preset base --batch-size 16 --mixed-precision bf16 --seconds 120
    """
    from dataclasses import replace

    from kobert_kit.pretrain.bench import BenchSettings
    from kobert_kit.pretrain.bench import bench as run
    from kobert_kit.pretrain.presets import PRESETS
    from kobert_kit.report.bench import describe

    given = {"length": length, "batch_size": batch_size}
    chosen = replace(PRESETS[preset], **{name: n for name, n in given.items() if n is not None})
    settings = BenchSettings(chosen, vocab_size, mixed_precision, threads, seconds, compile)
    click.echo(describe(run(settings)))
