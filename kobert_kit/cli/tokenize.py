"""``kobert-kit tokenize``."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

BATCH = 1000


@click.command("tokenize")
@click.argument("text", nargs=-1)
@click.option(
    "--tokenizer",
    required=True,
    help="Folder of `kobert-kit build-vocab`, a model folder, or a name on the Hugging Face hub.",
)
@click.option(
    "--file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Tokenize the lines of a UTF-8 file instead; - reads standard input.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "line"]),
    default="table",
    show_default=True,
    help="table: a row a token, with offsets and Kiwi's tag; json: one object a text; line: the "
    "tokens of a text with spaces between.",
)
def tokenize(text: tuple[str, ...], tokenizer: str, file: Path | None, style: str) -> None:
    """Show what a tokenizer makes of TEXT.

    Offsets count code points of the text as given, also where it was normalised on the way. A tag
    is that of the morpheme in which the token begins.

    \b
    Examples:
      kobert-kit tokenize --tokenizer vocab "시민들은 도서관에서 책을 빌렸습니다."
      kobert-kit tokenize --tokenizer vocab --file reviews.txt --format line > tokens.txt
    """
    from kobert_kit.morphology.splitter import Splitter
    from kobert_kit.report.tokens import STYLES
    from kobert_kit.tokenizer.subject import open_subject
    from kobert_kit.tokenizer.tokens import tokens_of

    if bool(text) == bool(file):
        raise click.UsageError("name either TEXT or --file")
    subject = open_subject(tokenizer)
    splitter = Splitter(subject.kiwi)
    rest = iter(text) if file is None else _lines(file)
    while batch := list(islice(rest, BATCH)):
        for one, tokens in zip(batch, tokens_of(subject, batch, splitter), strict=True):
            click.echo(STYLES[style](one, tokens))


def _lines(file: Path) -> Iterator[str]:
    from kobert_kit.errors import DataError

    try:
        with click.open_file(str(file), "rb") as stream:
            for number, line in enumerate(stream, 1):
                line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                try:
                    yield line.decode("utf-8").removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError:
                    raise DataError(f"{file}:{number}: not UTF-8; convert the file") from None
    except OSError as error:
        raise click.UsageError(f"--file {file}: cannot be read ({error.strerror})") from None
