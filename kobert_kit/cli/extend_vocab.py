"""``kobert-kit extend-vocab``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kobert_kit.pretrain.extend import ExtendReport

MOST_NAMED = 12


@click.command("extend-vocab")
@click.argument("corpus", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--model",
    required=True,
    help="BERT to extend: folder of `kobert-kit pretrain`, any other BERT saved by transformers "
    "with a fast tokenizer, or a name on the Hugging Face hub.",
)
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), help="Model folder to write."
)
@click.option(
    "--tokens",
    type=click.IntRange(min=1),
    default=2_000,
    show_default=True,
    help="Entries to add, at most.",
)
@click.option(
    "--held-out",
    "held_out_share",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.01,
    show_default=True,
    help="Share of the documents that are not learnt from, to measure before and after on. "
    "`pretrain` holds out the same ones.",
)
@click.option(
    "--min-frequency",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Uses below which a morpheme is not worth an entry.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Analysing processes, 500 MB each; default: one a core. The result does not change.",
)
def extend_vocab(
    corpus: tuple[Path, ...],
    model: str,
    output: Path,
    tokens: int,
    held_out_share: float,
    min_frequency: int,
    workers: int | None,
) -> None:
    """Add morphemes of CORPUS, the text of your domain, to the vocabulary of a BERT.

    CORPUS is read as `build-vocab` reads it. Kiwi splits it into surface morphemes. Those that the
    model's tokenizer takes apart, or takes for [UNK], are ranked by the tokens that they would
    save as entries. They go into [unused] slots first, then into new rows of the embedding. An
    entry that longest-match-first would not reach, or would use across morphemes, gives way to
    another.

    Old entries keep their ids, and the model's answers for them do not change. Each new embedding
    is the mean of those of the pieces that the morpheme was made of. The new entries have to be
    learnt: go on with `kobert-kit pretrain CORPUS --init-from OUTPUT`.

    \b
    Examples:
      kobert-kit extend-vocab law/ --model model --output law-model
      kobert-kit extend-vocab law/ --model klue/bert-base --tokens 4000 --output law-model
    """
    from kobert_kit.console import counted
    from kobert_kit.pretrain.extend import ExtendSettings
    from kobert_kit.pretrain.extend import extend_vocab as run
    from kobert_kit.tokenizer.counting import describe_forgotten

    settings = ExtendSettings(tokens, held_out_share, min_frequency)
    report = run(corpus, model, output, settings, workers=workers, say=click.echo)
    if report.forgotten:
        click.echo(describe_forgotten(report.forgotten))
    added = len(report.added)
    if added < tokens:
        click.echo(f"the text yields only {added:,} of the {tokens:,} entries")
    click.echo(
        f"{counted(added, 'entry', 'entries')} added: {report.slots:,} in unused slots, "
        f"{added - report.slots:,} in new rows; first {' '.join(list(report.added)[:MOST_NAMED])}"
    )
    click.echo(f"\n{_comparison(report)}\n")
    click.echo(f"model: {output} ({report.vocab_size:,} entries, {report.seconds:,.0f} s)")


def _comparison(report: ExtendReport) -> str:
    from kobert_kit.report.tables import table

    before, after = report.before, report.after
    if before is None or after is None:
        return "no document was held out, so there is nothing to measure on; raise --held-out"
    return table(
        [f"{before.eojeols:,} held-out eojeols", "before", "after"],
        [
            ["tokens per eojeol", *(f"{one.tokens_per_eojeol:.3f}" for one in (before, after))],
            [
                "[UNK] of the tokens",
                *(f"{100 * one.unknown_share:.3f} %" for one in (before, after)),
            ],
        ],
    )
