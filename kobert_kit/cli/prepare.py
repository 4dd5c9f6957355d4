"""``kobert-kit prepare``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("prepare")
@click.argument("corpus", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--tokenizer",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder that `kobert-kit build-vocab` wrote.",
)
@click.option("--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--morphemes/--no-morphemes",
    default=True,
    show_default=True,
    help="Mark morphemes too, not only eojeols and sentences; pretraining with --mask-unit "
    "morpheme or span needs them.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Encoding processes; the result does not change.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help="Make only the I-th of N parts (1/4 to 4/4), for several machines. They may write into "
    "one folder, or their shards are copied into one; the command without --shard finishes it.",
)
@click.option(
    "--export-arrow",
    type=click.Path(path_type=Path),
    help="Also write the documents as a data set that `datasets.load_from_disk` reads, into a new "
    "folder beside --output.",
)
def prepare(
    corpus: tuple[Path, ...],
    tokenizer: Path,
    output: Path,
    morphemes: bool,
    workers: int,
    shard: str | None,
    export_arrow: Path | None,
) -> None:
    """Analyse and encode CORPUS once into memory-mapped shards that `pretrain` takes.

    Ids lie in flat arrays (two bytes a token where the vocabulary allows), with marks where
    eojeols, morphemes and sentences begin. The corpus is read as a stream. The same command again
    continues a run that was stopped, shard by shard. `pretrain` on the folder gives the same model
    as on the corpus.

    \b
    Examples:
      kobert-kit prepare corpus/ --tokenizer vocab --output prepared
      kobert-kit prepare corpus/ --tokenizer vocab --output prepared --shard 2/8
      kobert-kit pretrain prepared --tokenizer vocab --preset base --steps 500000 --output model
    """
    from kobert_kit.console import counted
    from kobert_kit.pretrain.encode import EncodeSettings
    from kobert_kit.pretrain.export import check_target
    from kobert_kit.pretrain.export import export_arrow as export
    from kobert_kit.pretrain.prepare import prepare as run

    part, parts = parse_shard(shard)
    if export_arrow and parts > 1:
        raise click.UsageError("--export-arrow: only without --shard, when the folder is whole")
    if export_arrow:
        check_target(output, export_arrow)
    settings = EncodeSettings(tokenizer, morphemes, workers, part, parts)
    record = run(corpus, output, settings, click.echo)
    if parts > 1:
        return
    results = record.results
    click.echo(
        f"prepared: {output} ({counted(results['documents'], 'document')}, "
        f"{counted(results['tokens'], 'token')} in {counted(results['shards'], 'shard')}, "
        f"{record.seconds:,.0f} s)"
    )
    if export_arrow:
        written = export(output, export_arrow)
        click.echo(f"data set: {export_arrow}" + ("" if written else " (finished already)"))


def parse_shard(shard: str | None) -> tuple[int, int]:
    """``I/N`` as (I - 1, N)."""
    if shard is None:
        return 0, 1
    number, slash, count = shard.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise click.UsageError(f"--shard {shard}: not I/N with I from 1 to N, such as 2/8")
    return int(number) - 1, int(count)
