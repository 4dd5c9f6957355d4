"""``kobert-kit corpus``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kobert_kit.cli.prepare import parse_shard

if TYPE_CHECKING:
    from kobert_kit.corpus.stage.curate import Sentences


class _WithoutName(click.Group):
    """A group whose first command needs no name: `corpus SOURCE...` is `corpus make SOURCE...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands:
            args = ["make", *args]
        return super().parse_args(ctx, args)


@click.group("corpus", cls=_WithoutName)
def corpus() -> None:
    """Make clean documents of raw text (`make`, whose name may be left out), or look at them."""


@corpus.command("make")
@click.argument(
    "sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--preset",
    "presets",
    multiple=True,
    metavar="[SOURCE=]NAME",
    help="Filters for a kind of text: news, wiki, comments (keeps slang and emoji) or none, which "
    "is the default. May be given for each source, by its name: reviews=comments.",
)
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="A filter beside the preset's, or another value for one of them: repeats=2, personal.",
)
@click.option(
    "--without", multiple=True, metavar="NAME", help="A filter of the preset to leave out."
)
@click.option(
    "--text-field",
    default="text",
    show_default=True,
    help="The field or column that holds the text, in JSON lines, Parquet, CSV and TSV.",
)
@click.option(
    "--near-duplicates/--no-near-duplicates",
    default=True,
    show_default=True,
    help="Drop documents that are nearly the same as an earlier one, in any source.",
)
@click.option(
    "--exclude-eval",
    "evaluation",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True),
    help="A file or folder of evaluation data (JSON, TSV, CSV, Parquet, text): documents that hold "
    "a sentence of it go. May be given several times.",
)
@click.option(
    "--eval-overlap",
    type=click.Choice(["drop", "report"]),
    default="drop",
    show_default=True,
    help="What becomes of documents with evaluation sentences; report only counts them.",
)
@click.option(
    "--sentences",
    type=click.Choice(["none", "rule", "kiwi", "kss"]),
    default="none",
    show_default=True,
    help="Mark where sentences begin and end: by rule (fast), by Kiwi (needs no full stops, "
    "0.3 MB/s a process, 500 MB each), or by kss if it is installed.",
)
@click.option(
    "--profanity",
    metavar="FILE",
    help="Drop documents with a word of this file, which has one a line: short for --filter "
    "profanity=FILE.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Processes; the result does not change.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help="Clean only the I-th of N parts (1/4 to 4/4), for several machines. They may write into "
    "one folder, or their work folders are copied into one; the command without --shard finishes "
    "it.",
)
def make(
    sources: tuple[Path, ...],
    output: Path,
    presets: tuple[str, ...],
    filters: tuple[str, ...],
    without: tuple[str, ...],
    text_field: str,
    near_duplicates: bool,
    evaluation: tuple[Path, ...],
    eval_overlap: str,
    sentences: str,
    profanity: str | None,
    workers: int,
    shard: str | None,
) -> None:
    """Make clean, unique documents of any Korean text, each accounted for.

    SOURCE is any number of files or folders: .txt with a blank line between documents, .jsonl,
    .parquet, .csv and .tsv, a Wikipedia dump (.xml) and what WikiExtractor made of one, .json of
    the Modu corpora, AI-Hub or Namuwiki, .html and .md (main text only), each also as .gz, .xz,
    .bz2 or .zst, or in a .zip or .tar, in UTF-8, UTF-16, cp949 or EUC-KR; or a data set of the
    hub, hf:OWNER/NAME[:CONFIG[:SPLIT]], of which train is read if no split is named. Of documents
    that are the same or nearly so the first is kept: name the sources in the order in which you
    prefer them. Other files in a folder or archive are passed over; the ledger counts them by
    suffix, but for hidden ones and those named README.

    The folder holds the documents as JSON lines, which all other commands read, and beside them
    what was dropped, with file, line and reason, and the ledger. The same command again continues
    a run that was stopped, and the number of workers does not change a byte of the result.

    \b
    Filters, in the order in which they run:
      entities         &amp; and the like become characters
      nfc              Unicode NFC, stray jamo and full-width forms, as the tokenizer has them
      control          control, zero-width and directional characters go
      urls             mask ([URL]) or drop
      emails           mask ([EMAIL]) or drop
      personal         resident numbers, phone numbers, cards and e-mails are masked
      repeats          the longest run of one character: ㅋㅋㅋㅋㅋㅋ with 3 is ㅋㅋㅋ
      spaces           white space in order, blank lines go
      boilerplate      lines that are in at least so many documents go
      duplicate-lines  lines go that the document, or the corpus, had before
      hangul           the least share of the letters that is Hangul
      length           the fewest characters of a document, or MIN-MAX
      profanity        a file of words, one a line: documents with one of them go

    \b
    Examples:
      kobert-kit corpus wiki.jsonl.xz news/ --preset news --preset wiki=wiki --output clean
      kobert-kit corpus reviews.csv --text-field review --preset comments --output clean
      kobert-kit corpus hf:wikimedia/wikipedia:20231101.ko --preset wiki --output clean
      kobert-kit corpus stats clean --html clean.html
    """
    from kobert_kit.corpus.stage.curate import CorpusSettings, make_corpus, read_ledger
    from kobert_kit.corpus.stage.steps import Pace
    from kobert_kit.report.corpus import describe_ledger

    part, parts = parse_shard(shard)
    if profanity:
        filters = (*filters, f"profanity={profanity}")
    settings = CorpusSettings(
        dict(_by_source(preset) for preset in presets),
        filters,
        without,
        text_field,
        near_duplicates,
        evaluation,
        eval_overlap == "drop",
        _sentences(sentences),
    )
    record = make_corpus(sources, output, settings, Pace(workers, part, parts), click.echo)
    if parts == 1:
        click.echo(describe_ledger(read_ledger(output)))
        click.echo(f"corpus: {output} ({record.seconds:,.0f} s)")


@corpus.command("stats")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path), help="Also write a page with plots to this file."
)
def stats(folder: Path, html: Path | None) -> None:
    """Print what the corpus in DIR is made of, and a few documents to read.

    \b
    Example:
      kobert-kit corpus stats clean --html clean.html
    """
    from kobert_kit.corpus.documents import ReadReport
    from kobert_kit.corpus.files import find_files
    from kobert_kit.corpus.reading import read_documents
    from kobert_kit.corpus.stage.curate import read_ledger
    from kobert_kit.corpus.stats import measure_corpus
    from kobert_kit.records import atomic_file, check_place
    from kobert_kit.report.corpus_stats import corpus_page, describe_corpus

    if html:
        check_place(html, "--html")
    ledger = read_ledger(folder)
    measured = measure_corpus(read_documents(find_files([folder]), ReadReport()))
    click.echo(describe_corpus(measured, ledger))
    if html:
        with atomic_file(html) as temporary:
            temporary.write_text(corpus_page(measured, ledger), encoding="utf-8")
        click.echo(f"\npage: {html}")


def _by_source(preset: str) -> tuple[str, str]:
    """``SOURCE=NAME`` as a pair; the source is empty where the preset is for all."""
    source, _, name = preset.rpartition("=")
    return source, name


def _sentences(name: str) -> Sentences:
    from kobert_kit.corpus.sentences import sentence_starts
    from kobert_kit.corpus.stage.curate import Sentences

    if name == "none":
        return Sentences()
    if name == "rule":
        return Sentences(name, sentence_starts)
    if name == "kss":
        from kobert_kit.morphology.kss_sentences import (
            KSS_PACKAGES,
            kss_sentence_starts,
            require_kss,
        )

        require_kss()
        return Sentences(name, kss_sentence_starts, KSS_PACKAGES)
    from kobert_kit.morphology.kiwi import KIWI_PACKAGES
    from kobert_kit.morphology.kiwi_sentences import kiwi_sentence_starts

    return Sentences(name, kiwi_sentence_starts, KIWI_PACKAGES)
