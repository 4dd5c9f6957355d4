"""Files that are larger than memory or disk: maps of them, and a full disk as an error."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.errors import DataError

_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EFBIG: "a file became larger than the system allows",
}


@contextlib.contextmanager
def full_disk_told(folder: Path) -> Iterator[None]:
    """Turn the error of writing to a full disk into one that says what to do.

    Raises:
        DataError: the disk that ``folder`` is on is full.
    """
    try:
        yield
    except OSError as error:
        # numpy says how much it wrote, and no number of an error.
        what = _FULL.get(error.errno or 0) or ("the disk is full" if error.errno is None else "")
        if not what:
            raise
        raise DataError(
            f"{folder}: {what}; make room and run the same command again, which goes on where "
            "this one stopped"
        ) from None


def reserve(path: Path) -> None:
    """Have the system set aside the disk space of a file with holes, which is then mapped.

    A page of a map that finds no space ends the process.
    """
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)


def let_go(array: np.ndarray) -> None:
    """Take the pages of a mapped ``array`` that were looked at out of the process's memory.

    They count as such until then, up to the whole file; what was written stays. Does nothing to
    an array that is not of a mapped file, nor where the system has no such call.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)
