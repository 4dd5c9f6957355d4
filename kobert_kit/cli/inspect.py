"""``kobert-kit inspect``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

BATCH = 200
SAMPLES = 20


@click.command("inspect")
@click.argument("corpus", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--tokenizer",
    required=True,
    help="Folder of `kobert-kit build-vocab`, a model folder, or a name on the Hugging Face hub.",
)
@click.option(
    "--against",
    multiple=True,
    help="Another tokenizer to stand beside it, folder or hub name. May be given several times.",
)
@click.option(
    "--ner",
    multiple=True,
    type=click.Path(path_type=Path),
    help="KLUE-NER file: how many entities begin or end inside a token.",
)
@click.option(
    "--qa",
    multiple=True,
    type=click.Path(path_type=Path),
    help="SQuAD-format file (KorQuAD, KLUE-MRC): the same of answers.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="Read only the first texts, for a quick look."
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    help="Also write a page that shows the first texts cut by each tokenizer.",
)
def inspect(
    corpus: tuple[Path, ...],
    tokenizer: str,
    against: tuple[str, ...],
    ner: tuple[Path, ...],
    qa: tuple[Path, ...],
    limit: int | None,
    html: Path | None,
) -> None:
    """Measure tokenizers side by side on CORPUS and on gold spans.

    Tokens per eojeol and per character; [UNK] by kind of character; how well token boundaries
    agree with Kiwi's morphemes and with gold spans; how many of the 11,172 Hangul syllables can be
    written; entries that no text can yield; the longest entries.

    CORPUS is read as `build-vocab` reads it. A morpheme cut is met where a token begins there; an
    eojeol is crossed if a token lies across a cut in it.

    \b
    Examples:
      kobert-kit inspect corpus/ --tokenizer vocab --against klue/bert-base --html look.html
      kobert-kit inspect --tokenizer vocab --ner klue-ner-v1.1_dev.tsv
    """
    from kobert_kit.morphology.splitter import Splitter
    from kobert_kit.records import atomic_file, check_place
    from kobert_kit.report.inspection import describe, page
    from kobert_kit.tokenizer.boundaries import BoundaryMarker
    from kobert_kit.tokenizer.inspection import add_texts, begin
    from kobert_kit.tokenizer.subject import open_subject
    from kobert_kit.tokenizer.tokens import tokens_of

    if not (corpus or ner or qa):
        raise click.UsageError("name a CORPUS, --ner or --qa to measure on")
    if html:
        check_place(html, "--html")
    subjects = [open_subject(name) for name in dict.fromkeys([tokenizer, *against])]
    inspections = [begin(subject) for subject in subjects]
    marker = BoundaryMarker(subjects[0].kiwi)
    texts = islice(_texts(corpus, ner, qa), limit)
    first: list[str] = []
    while batch := list(islice(texts, BATCH)):
        lines, spans = [text for text, _ in batch], [found for _, found in batch]
        for subject, inspection in zip(subjects, inspections, strict=True):
            add_texts(inspection, subject, lines, marker, spans)
        first += lines[: SAMPLES - len(first)]
    click.echo(describe(inspections))
    if html:
        splitter = Splitter(subjects[0].kiwi)
        rows = [list(tokens_of(subject, first, splitter)) for subject in subjects]
        with atomic_file(html) as temporary:
            samples = list(zip(first, zip(*rows, strict=True), strict=True))
            temporary.write_text(page(inspections, samples), encoding="utf-8")
        click.echo(f"\npage: {html}")


def _texts(
    corpus: tuple[Path, ...], ner: tuple[Path, ...], qa: tuple[Path, ...]
) -> Iterator[tuple[str, Any]]:
    """The texts of all files, with their gold spans; paragraphs of a corpus are texts."""
    from kobert_kit.console import progress
    from kobert_kit.corpus.documents import ReadReport, require_documents
    from kobert_kit.corpus.files import find_files, total_bytes
    from kobert_kit.corpus.reading import read_documents
    from kobert_kit.tasks.spans import read_answers, read_entities

    for path in ner:
        yield from read_entities(path)
    for path in qa:
        yield from read_answers(path)
    if corpus:
        files, report = find_files(corpus), ReadReport()
        with progress(total_bytes(files), "read", "B", unit_scale=True) as bar:
            for document in read_documents(files, report, bar.update):
                for line in document.text.split("\n"):
                    yield line, []
        require_documents(report, files)
