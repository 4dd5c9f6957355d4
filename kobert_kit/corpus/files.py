"""Which files make a corpus, in which order."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kobert_kit.errors import DataError, UsageError
from kobert_kit.records import (
    RECORD_NAME,
    check_finished,
    fingerprint_files,
    is_stage_folder,
    recorded_stage,
)

FORMATS = (".txt", ".jsonl", ".parquet")
EXTRACTED = "wiki_00"  # what WikiExtractor names its files, with other numbers
COMPRESSIONS = (".gz", ".xz", ".zst", ".bz2")
_SHORT = {".tgz": ".gz", ".txz": ".xz", ".tbz2": ".bz2"}  # for .tar.gz and so on

# The stage whose folder is a corpus, and the part of it that holds the documents.
CLEAN_STAGE, CLEAN_DOCUMENTS = "corpus", "documents"

Refuse = Callable[[Path, str], None]


def compression_of(path: Path) -> str:
    """The suffix of a compressed file, in lower case; empty for a plain one."""
    suffix = path.suffix.lower()
    return suffix if suffix in COMPRESSIONS else _SHORT.get(suffix, "")


def format_of(path: Path, formats: Sequence[str] = FORMATS) -> str:
    """Which of ``formats`` a file is in, by its name: ``a.jsonl.xz`` is ``.jsonl``; or empty."""
    name = path.name.lower().removesuffix(compression_of(path))
    name = re.sub(r"(?<=\.xml)-p\d+p\d+\Z", "", name)  # of a dump of Wikipedia in several files
    if name.endswith("-multistream-index.txt"):  # where its pages lie, no text
        return ""
    if EXTRACTED in formats and re.fullmatch(r"wiki_\d+", name):
        return EXTRACTED
    return next((suffix for suffix in formats if name.endswith(suffix)), "")


def readable_path(path: Path | str) -> str:
    """``path`` as text for records; a part of it that is not UTF-8 is cp949's, as it is where
    archives of Korean Windows were unpacked elsewhere."""
    return "/".join(map(_decoded, os.fsencode(path).split(b"/")))


def _decoded(part: bytes) -> str:
    try:
        return part.decode()
    except UnicodeDecodeError:
        return part.decode("cp949", "replace")


def refuse(path: Path, what: str) -> None:
    """What becomes of an entry of a folder that cannot be read: the job ends."""
    raise UsageError(f"{path}: {what}")


def pass_over(path: Path) -> None:
    """What becomes of a file of no known kind in a folder: nothing."""


def find_files(
    paths: Sequence[Path],
    formats: Sequence[str] = FORMATS,
    refuse: Refuse = refuse,
    passed: Callable[[Path], None] = pass_over,
) -> list[Path]:
    """The corpus files among ``paths``: files as they are, folders with all below, sorted.

    The order is that of ``paths`` and, in a folder, of the names' code points, on any machine.
    Folders are searched for known suffixes; hidden entries, other files there and folders that a
    stage of kobert-kit wrote are passed over.
    Links are followed, and a file that is reached twice is taken once. ``refuse`` is told of what
    a folder holds that cannot be read; where it returns, the search goes on. ``passed`` is told of
    each file with an unknown suffix.

    Raises:
        UsageError: a path does not exist or cannot be searched, a file named explicitly has an
            unknown suffix, or nothing is found.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        _require_reachable(path)
        if path.is_dir():
            for file in sorted(_search(path, formats, refuse, passed), key=lambda file: file.parts):
                found.setdefault(file.resolve(), file)
        elif not format_of(path, formats):
            raise UsageError(f"{path}: unknown kind of file; a corpus is made of {_known(formats)}")
        else:
            found.setdefault(path.resolve(), path)
    if not found:
        where = ", ".join(map(str, paths)) or "CORPUS"
        raise UsageError(f"{where}: no corpus files found; a corpus is made of {_known(formats)}")
    return list(found.values())


def _require_reachable(path: Path) -> None:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None


def _search(
    folder: Path, formats: Sequence[str], refuse: Refuse, passed: Callable[[Path], None]
) -> Iterator[Path]:
    """Files with a known suffix below ``folder``; each folder is entered once, so loops end."""
    entered = {folder.resolve()}

    def unreadable(error: OSError) -> None:
        refuse(Path(error.filename), f"the folder cannot be searched ({error.strerror})")

    for root, folders, files in os.walk(folder, followlinks=True, onerror=unreadable):
        here = Path(root)
        if is_clean_corpus(here, files):
            folders[:] = [CLEAN_DOCUMENTS]
            continue
        if is_stage_folder(files):  # what another stage made from a corpus is not corpus
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
            if name.startswith("."):
                continue
            if not format_of(file, formats):
                passed(file)
                continue
            try:
                if file.is_file():
                    yield file
                else:
                    refuse(file, "not a file (a broken link?); mend or remove it")
            except PermissionError as error:
                refuse(file, f"cannot be read ({error.strerror})")


def is_clean_corpus(folder: Path, names: Sequence[str]) -> bool:
    """Whether `kobert-kit corpus` has made ``folder``, which holds ``names``.

    Raises:
        DataError: it has begun to, and not finished.
    """
    if f".{CLEAN_STAGE}.unfinished" in names:
        check_finished(folder)
    return RECORD_NAME in names and recorded_stage(folder) == CLEAN_STAGE


def _known(formats: Sequence[str]) -> str:
    return f"{', '.join(formats)} files, each also with {', '.join(COMPRESSIONS)}"


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
