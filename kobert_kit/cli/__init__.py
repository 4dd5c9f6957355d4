"""The command line: each command parses, calls one function, and prints."""

from __future__ import annotations

import contextlib
import errno
import importlib
import logging
import os
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any

import click

from kobert_kit import __version__
from kobert_kit.errors import KobertKitError, Terminated

# name -> (module under kobert_kit.cli, what --help lists); imported when asked for, so that
# `kobert-kit --help` answers at once.
COMMANDS = {
    "quickstart": ("quickstart", "Run the whole path on the sample corpus, in a few minutes."),
    "corpus": ("corpus", "Make clean, unique documents of any Korean text, each accounted for."),
    "build-vocab": ("build_vocab", "Build a morpheme-aware WordPiece vocabulary from a corpus."),
    "tokenize": ("tokenize", "Show what a tokenizer makes of a text."),
    "inspect": ("inspect", "Measure tokenizers side by side."),
    "prepare": ("prepare", "Encode a corpus once, for many runs or by many machines."),
    "pretrain": ("pretrain", "Pretrain a BERT with whole-word masking."),
    "bench": ("bench", "Measure how fast this machine pretrains."),
    "extend-vocab": ("extend_vocab", "Add morphemes of your domain to a BERT's vocabulary."),
    "klue": ("klue", "Fine-tune a model on KLUE tasks and score it as KLUE does."),
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = COMMANDS[cmd_name][0]
        command: click.Command = getattr(
            importlib.import_module(f"kobert_kit.cli.{module}"), module
        )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `kobert-kit quickstart`; each command's own --help has examples.",
)
@click.version_option(__version__, prog_name="kobert-kit")
@click.option("-v", "--verbose", is_flag=True, help="Show what the libraries log as well.")
def group(verbose: bool) -> None:
    """From raw Korean text to a Korean BERT of your own, with an honest KLUE score.

    The path has three commands, each of which writes a folder that the next one reads:

    \b
      kobert-kit build-vocab corpus/ --output vocab
      kobert-kit pretrain corpus/ --tokenizer vocab --preset mini --minutes 90 --output model
      kobert-kit klue --task nli --model model --data-dir klue_benchmark
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s: %(message)s"
    )
    logging.getLogger("kobert_kit").setLevel(logging.INFO)


def main(arguments: list[str] | None = None) -> Any:
    """Entry point; turns the errors that a user can mend into one line and an exit code."""
    try:
        with _termination_raised():
            group.main(arguments, prog_name="kobert-kit", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except KobertKitError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):  # for which click says Abort, too
            raise error.__cause__ from None
        click.echo("\nstopped; the same command continues or starts again", err=True)
        sys.exit(128 + signal.SIGINT)
    except Terminated:
        click.echo("\nterminated; the same command continues or starts again", err=True)
        sys.exit(128 + signal.SIGTERM)
    except Exception as error:
        if not (told := _told(error)):
            raise
        click.echo(f"error: {told}", err=True)
        sys.exit(1)


def _told(error: Exception) -> str:
    """What to do about a machine that is too small; empty where it is something else."""
    if _is_disk_full(error):
        return (
            f"the disk is full ({error}). Nothing half-written is left to be read as whole; free "
            "some space and run the same command again"
        )
    if _is_out_of_memory(error):
        first = str(error).strip().partition("\n")[0]
        return (
            f"memory ran out ({first}); ask for less at a time, as with a smaller --batch-size or "
            "--preset, more --accumulation, or fewer --workers"
        )
    return ""


@contextlib.contextmanager
def _termination_raised() -> Iterator[None]:
    """End by an exception on SIGTERM, so that it is said what to do and workers end, too."""

    process = os.getpid()

    def handle(number: int, _frame: object) -> None:
        if os.getpid() != process:  # a worker that is only beginning has its parent's handler
            os._exit(128 + number)
        raise Terminated

    try:
        before = signal.signal(signal.SIGTERM, handle)
    except ValueError:  # not the main thread: signals are the caller's business
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _is_disk_full(error: Exception) -> bool:
    """Also where a library in Rust, or numpy, reports it in words only."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    words = "|".join([*(rf"\(os error {number}\)" for number in full), r"\d requested and \d"])
    return getattr(error, "errno", None) in full or re.search(words, str(error)) is not None


def _is_out_of_memory(error: Exception) -> bool:
    """Also where PyTorch reports it in words only, as it does on a CPU."""
    words = ("can't allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or any(word in str(error).lower() for word in words)
