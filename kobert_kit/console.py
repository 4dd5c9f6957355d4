"""Progress on standard error; results go to standard output through click."""

from __future__ import annotations

import sys
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
