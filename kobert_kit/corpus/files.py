"""Which files make a corpus, in which order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from kobert_kit.errors import DataError, UsageError
from kobert_kit.records import fingerprint_files, is_stage_folder

FORMATS = (".txt", ".jsonl", ".parquet")
COMPRESSIONS = (".gz", ".xz", ".zst")


def suffixes_of(path: Path) -> tuple[str, str]:
    """Format and compression of a file by its name: ``a.jsonl.xz`` gives ``.jsonl``, ``.xz``.

    The compression is empty for a plain file; both are empty where the format is not known.
    """
    name = path.name.lower()
    compression = next((suffix for suffix in COMPRESSIONS if name.endswith(suffix)), "")
    name = name.removesuffix(compression)
    kind = next((suffix for suffix in FORMATS if name.endswith(suffix)), "")
    return (kind, compression) if kind else ("", "")


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The corpus files among ``paths``: files as they are, folders with all below, sorted.

    The order is that of ``paths`` and, in a folder, of the names' code points, on any machine.
    Folders are searched for known suffixes; hidden entries, other files there and folders that a
    stage of kobert-kit wrote are passed over.
    Links are followed, and a file that is reached twice is taken once.

    Raises:
        UsageError: a path does not exist or cannot be searched, a file named explicitly has an
            unknown suffix, or nothing is found.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            for file in sorted(_search(path), key=lambda file: file.parts):
                found.setdefault(file.resolve(), file)
        elif not path.exists():
            raise UsageError(f"{path}: no such file or folder")
        elif not suffixes_of(path)[0]:
            raise UsageError(f"{path}: unknown kind of file; a corpus is made of {_known()}")
        else:
            found.setdefault(path.resolve(), path)
    if not found:
        where = ", ".join(map(str, paths)) or "CORPUS"
        raise UsageError(f"{where}: no corpus files found; a corpus is made of {_known()}")
    return list(found.values())


def _search(folder: Path) -> Iterator[Path]:
    """Files with a known suffix below ``folder``; each folder is entered once, so loops end."""
    entered = {folder.resolve()}
    for root, folders, files in os.walk(folder, followlinks=True, onerror=_unreadable):
        here = Path(root)
        if is_stage_folder(files):  # what a stage made from a corpus is not corpus
            folders.clear()
            continue
        ahead = []
        for name in sorted(folders):
            target = (here / name).resolve()
            if not name.startswith(".") and target not in entered:
                entered.add(target)
                ahead.append(name)
        folders[:] = ahead
        for name in files:
            file = here / name
            if name.startswith(".") or not suffixes_of(file)[0]:
                continue
            if not file.is_file():
                raise UsageError(f"{file}: not a file (a broken link?); mend or remove it")
            yield file


def _unreadable(error: OSError) -> None:
    raise UsageError(f"{error.filename}: the folder cannot be searched ({error.strerror})")


def _known() -> str:
    return f"{', '.join(FORMATS)} files, each also with {', '.join(COMPRESSIONS)}"


def total_bytes(files: Sequence[Path]) -> int:
    """Size of the files on disk, in bytes: what ``read_documents`` advances by in all."""
    return sum(file.stat().st_size for file in files)


def fingerprint(files: Sequence[Path]) -> str:
    """Hex digest of the corpus: the files' contents as they lie on disk, in order.

    Raises:
        DataError: a file cannot be read.
    """
    try:
        return fingerprint_files(files)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from None
