"""The files of a task's splits, found under the folder that the user names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kobert_kit.errors import DataError, UsageError
from kobert_kit.tasks.formats.official import official_file

SPLITS = ("train", "dev")
DEPTH = 2  # folders below the one named


@dataclass(frozen=True)
class SplitFiles:
    """The files of each split, read one after another."""

    train: tuple[str, ...]
    dev: tuple[str, ...]


def find_files(files: Sequence[str | SplitFiles], data_dir: Path) -> dict[str, list[Path]]:
    """The files of each split.

    Names with "{split}" lie as in KLUE's release (`official_file`). `SplitFiles` lie in
    ``data_dir`` or up to two folders below, and the first of which all are there is read.

    Raises:
        UsageError: there is no such folder.
        DataError: a file is not there, or in several folders.
    """
    layouts = [each for each in files if isinstance(each, SplitFiles)]
    if not layouts:
        names = [each for each in files if isinstance(each, str)]
        return {split: [official_file(names, data_dir, split)] for split in SPLITS}
    if not data_dir.is_dir():
        raise UsageError(f"--data-dir {data_dir}: no such folder")
    missing = []
    for layout in layouts:
        found = {split: [_find(n, data_dir) for n in getattr(layout, split)] for split in SPLITS}
        lacking = [
            name
            for split in SPLITS
            for name, path in zip(getattr(layout, split), found[split], strict=True)
            if path is None
        ]
        if not lacking:
            return {split: [path for path in found[split] if path] for split in SPLITS}
        missing.append(", ".join(lacking))
    raise DataError(
        f"--data-dir {data_dir}: no {'; nor '.join(missing)} in it, nor up to {DEPTH} folders below"
    )


def _find(name: str, data_dir: Path) -> Path | None:
    """The least deep file called ``name``."""
    for parents in _levels(data_dir):
        found = [parent / name for parent in parents if (parent / name).is_file()]
        if len(found) > 1:
            raise DataError(
                f"--data-dir {data_dir}: {found[0]} and {found[1]} both fit; name the folder of one"
            )
        if found:
            return found[0]
    return None


def _levels(data_dir: Path) -> Iterator[list[Path]]:
    """``data_dir``, then the folders in it, then those in them."""
    folders = [data_dir]
    yield folders
    for _ in range(DEPTH):
        folders = [each for folder in folders for each in _folders(folder)]
        yield folders


def _folders(parent: Path) -> list[Path]:
    try:
        return sorted(each for each in parent.iterdir() if each.is_dir())
    except OSError:  # not ours to read
        return []
