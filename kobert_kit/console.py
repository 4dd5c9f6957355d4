"""Progress on standard error; results go to standard output through click."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm


def progress(total: float | None, description: str, unit: str, **options: Any) -> tqdm[Any]:
    """A progress bar with rate and time left.

    On a terminal it is redrawn ten times a second; in a log file it prints a line's worth every
    15 seconds, so that a log of a long run stays readable.
    """
    interactive = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=description,
        unit=unit,
        mininterval=0.1 if interactive else 15.0,
        dynamic_ncols=interactive,
        file=sys.stderr,
        **options,
    )


def counted(number: int, one: str, several: str = "") -> str:
    """``1 shard``, ``2,000 shards``; ``several`` is the plural where it is not ``one`` with s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """No bars of a moment, and no tables of weights that a caller checks for itself."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
