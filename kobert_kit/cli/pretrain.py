"""``kobert-kit pretrain``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

PRESET_NAMES = ("tiny", "mini", "small", "base", "large")


@click.command("pretrain")
@click.argument("corpus", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--tokenizer",
    type=click.Path(path_type=Path),
    help="Folder that `kobert-kit build-vocab` wrote, for a new model.",
)
@click.option(
    "--init-from",
    metavar="MODEL",
    help="Go on from this BERT with its own tokenizer instead: a folder, or a name on the Hugging "
    "Face hub. --preset then only says how to train.",
)
@click.option("--output", required=True, type=click.Path(path_type=Path), help="Model folder.")
@click.option(
    "--preset",
    type=click.Choice(PRESET_NAMES),
    default="mini",
    show_default=True,
    help="Layers x hidden size: tiny 2x128, mini 4x256, small 6x512, base 12x768, large 24x1024.",
)
@click.option("--steps", type=int, help="Budget in optimizer steps.")
@click.option(
    "--minutes",
    type=float,
    help="Budget in minutes of training; the learning rate reaches 0 when they end.",
)
@click.option(
    "--mask-unit",
    type=click.Choice(["token", "morpheme", "eojeol", "span"]),
    default="morpheme",
    show_default=True,
    help="What is masked as a whole; a span is a few morphemes. For morphemes and spans Kiwi must "
    "be the one the tokenizer was made with.",
)
@click.option(
    "--mask-ratio",
    type=float,
    default=0.15,
    show_default=True,
    help="Share of the tokens to predict.",
)
@click.option(
    "--mask-split",
    default="80/10/10",
    show_default=True,
    help="Per cent of the chosen words that become [MASK], that become random pieces, and that "
    "stay.",
)
@click.option(
    "--mask-rule",
    type=click.Choice(["unbiased", "google"]),
    default="unbiased",
    show_default=True,
    help="unbiased: every word has the same chance. google: as the original BERT, which masks "
    "short words more often; to compare with.",
)
@click.option("--length", type=int, help="Tokens a sequence; default: the preset's.")
@click.option(
    "--long-length",
    type=int,
    help="Tokens a sequence at the end of the run, as BERT's 512 after 128; a step has as many "
    "tokens as before.",
)
@click.option(
    "--long-share",
    type=float,
    default=0.1,
    show_default=True,
    help="Share of the budget that --long-length gets.",
)
@click.option(
    "--pack-documents",
    is_flag=True,
    help="Fill sequences with parts of several documents, which do not see each other. Worth it "
    "where documents are short.",
)
@click.option(
    "--batch-size",
    type=int,
    help="Full sequences a step; of shorter ones there are more, so that a step has as many "
    "tokens. Default: the preset's.",
)
@click.option("--learning-rate", type=float, help="Peak; default: the preset's.")
@click.option(
    "--accumulation",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Parts a batch is computed in, to save memory; the same result but for rounding, and for "
    "which units dropout drops.",
)
@click.option(
    "--held-out",
    "held_out_share",
    type=click.FloatRange(0, 0.5),
    default=0.01,
    show_default=True,
    help="Share of the documents kept for evaluation.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--mixed-precision",
    type=click.Choice(["no", "bf16"]),
    default="no",
    show_default=True,
    help="bf16 pays on GPUs, and on CPUs with AVX512-BF16 or AMX; elsewhere it is slow.",
)
@click.option(
    "--compile",
    is_flag=True,
    help="Let torch.compile make the model faster; worth its minutes of waiting on GPUs, which do "
    "not count as training.",
)
@click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads; default: PyTorch's.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Encoding processes.",
)
@click.option(
    "--data-workers",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Threads that make batches ahead; the result does not change.",
)
@click.option(
    "--save-minutes",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    help="Minutes between checkpoints; what a kill can cost at most.",
)
@click.option(
    "--fsdp",
    "sharded",
    is_flag=True,
    help="Split weights and moments over torchrun's processes, for models too large for one.",
)
def pretrain(
    corpus: tuple[Path, ...],
    tokenizer: Path | None,
    output: Path,
    threads: int | None,
    workers: int,
    data_workers: int,
    save_minutes: float,
    sharded: bool,
    **options: Any,
) -> None:
    """Pretrain a BERT on CORPUS with whole-word masking.

    CORPUS is files or folders as `build-vocab` takes them, or one folder of `kobert-kit prepare`.

    15 % of the tokens are predicted, whole morphemes or eojeol at a time, with new masks in
    every epoch. A slice of the documents is held out; loss and accuracy on it are in
    metrics.jsonl, with the training curve. The result loads with `AutoModelForMaskedLM` and
    answers in `pipeline("fill-mask")`.

    The same command again continues a run that was stopped.

    \b
    Examples:
      kobert-kit pretrain corpus/ --tokenizer vocab --preset mini --minutes 90 --output model
      kobert-kit pretrain law/ --init-from klue/bert-base --preset base --steps 20000 --output law
      torchrun --nproc-per-node 8 -m kobert_kit pretrain corpus/ --tokenizer vocab \\
          --preset base --steps 1000000 --mixed-precision bf16 --output model
    """
    from kobert_kit.console import counted
    from kobert_kit.pretrain.run import pretrain as run
    from kobert_kit.pretrain.settings import Machine, PretrainSettings
    from kobert_kit.training.ranks import join_ranks

    record = run(
        corpus,
        tokenizer,
        output,
        PretrainSettings(**options),
        Machine(threads, workers, data_workers, save_minutes, sharded),
        click.echo,
    )
    if not join_ranks().is_main_process:  # one of them speaks for all
        return
    results = record.results
    click.echo(
        f"{counted(results['steps'], 'step')}, {counted(results['tokens'], 'token')} in "
        f"{record.seconds:,.0f} s "
        f"({results['tokens_per_second']:,.0f} tokens/s)"
    )
    if "evaluation_loss" in results:
        click.echo(
            f"held out: loss {results['evaluation_loss']:.3f}, "
            f"masked accuracy {100 * results['evaluation_accuracy']:.1f} %"
        )
    click.echo(f"model: {output}")
