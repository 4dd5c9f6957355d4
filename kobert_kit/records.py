"""What every stage leaves beside its artefact: how it was made, from what, by which versions.

The record is the file ``kobert_kit.json`` in the stage's folder. It is the last file that a stage
writes, so a folder without it is unfinished and is never read as a whole one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path
from typing import Any

from kobert_kit import __version__
from kobert_kit.errors import DataError, UsageError

RECORD_NAME = "kobert_kit.json"
PLAN_NAME = "plan.json"
_GROUPS = ("settings", "inputs", "results", "versions")
# What is asked for by another name than that of the setting.
_OPTIONS = {
    "held_out_share": "--held-out",
    "overlap": "--eval-overlap",
    "sources": "sources",
    "headline": "'headline'",
}


@dataclass
class Record:
    """One stage's account of itself.

    ``inputs`` maps the name of an input to its fingerprint (hex), ``results`` holds what the
    stage measured, ``seconds`` the wall time it took.
    """

    stage: str
    settings: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seed: int | None = None
    seconds: float = 0.0
    created: str = ""


def versions(*packages: str) -> dict[str, str]:
    """Versions of kobert-kit, Python and the named distributions (those that are installed)."""
    found = {"kobert-kit": __version__, "python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def write_record(folder: Path, record: Record) -> None:
    """Write ``record`` into ``folder``, stamped with the time, as the folder's last file."""
    record.created = datetime.now(timezone.utc).isoformat(timespec="seconds")
    write_json(folder / RECORD_NAME, asdict(record))


def read_record(folder: Path, stage: str) -> Record:
    """Read the record of ``folder`` and check that ``stage`` made it.

    Raises:
        DataError: the folder has no record (unfinished or foreign), or another stage's.
    """
    check_finished(folder)
    path = folder / RECORD_NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        record = Record(**values)
        if not all(isinstance(getattr(record, name), dict) for name in _GROUPS):
            raise TypeError(f"{', '.join(_GROUPS)} must be objects")
    except FileNotFoundError:
        raise DataError(
            f"{folder}: no {RECORD_NAME}, so this is not a finished {stage} folder of kobert-kit"
        ) from None
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: not a record of kobert-kit ({error})") from None
    if record.stage != stage:
        raise DataError(f"{folder}: made by the stage '{record.stage}', expected '{stage}'")
    return record


def recorded_stage(folder: Path) -> str | None:
    """The stage that finished ``folder``, as far as its record says; None where there is none."""
    try:
        values = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return values.get("stage") if isinstance(values, dict) else None


def write_json(path: Path, values: Any) -> None:
    """Write ``values`` as JSON atomically: a reader sees the old file or the new, never half."""
    text = json.dumps(values, ensure_ascii=False, indent=2, sort_keys=False) + "\n"
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success fsync it and rename it to ``path``."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        sync_path(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        sync_path(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def check_place(path: Path, option: str) -> None:
    """Check, before the work is done, that a file can be written at ``path``.

    Raises:
        UsageError: it is a folder, or nothing can be written beside it; ``option`` named it.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{option} {path}: a folder; name a file")
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp").close()
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot be written ({error.strerror})") from None


def sync_path(path: Path) -> None:
    """Ask the system to write a file or folder entry through to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def claim_output(folder: Path, stage: str) -> bool:
    """Make ``folder`` ready for ``stage`` to write into; True if the stage has finished it.

    A new or empty folder is fine, and so is one that the same stage finished or left unfinished
    (it holds the record or the marker of that stage). Anything else is somebody's and is kept.

    Raises:
        UsageError: the folder holds something else, or is a file, or cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in folder.iterdir())
        marker = folder / _marker(stage)
        if marker.name in held:
            return False
        if RECORD_NAME in held:
            read_record(folder, stage)
            return True
        if held:
            raise DataError("foreign")
        marker.touch()
    except OSError as error:
        raise UsageError(f"--output {folder}: cannot be written ({error.strerror})") from None
    except DataError:
        raise UsageError(
            f"--output {folder}: the folder holds something else ({held[0]}, ...); "
            "name a new or empty folder"
        ) from None
    return False


@contextlib.contextmanager
def cleared_if_refused(folder: Path) -> Iterator[None]:
    """Leave nothing in a new or empty ``folder`` when the input or an option proves wrong.

    Once anything of the stage's work lies there it is kept, and the same command continues.
    """
    existed = folder.exists()
    ours = not existed or (folder.is_dir() and not any(folder.iterdir()))
    try:
        yield
    except (DataError, UsageError):
        if ours and not _holds_work(folder):
            shutil.rmtree(folder, ignore_errors=True)
            if existed:
                folder.mkdir()
        raise


def _holds_work(folder: Path) -> bool:
    """Whether a stage has written more than its marker and its plan."""
    files = (path.name for path in folder.rglob("*") if path.is_file())
    return any(name != PLAN_NAME and not fnmatch(name, _marker("*")) for name in files)


def reopen_output(folder: Path, stage: str) -> None:
    """Mark a finished folder as unfinished again, before its files are written anew."""
    (folder / _marker(stage)).touch()
    (folder / RECORD_NAME).unlink(missing_ok=True)


def finish_output(folder: Path, record: Record) -> None:
    """Write the record and take the unfinished marker away: the folder is whole now.

    What kills have left of `atomic_file` goes, too.
    """
    for left in folder.glob(".*.????????.tmp"):
        left.unlink(missing_ok=True)
    write_record(folder, record)
    (folder / _marker(record.stage)).unlink(missing_ok=True)


def check_finished(folder: Path) -> None:
    """Raises DataError where a stage has begun to write ``folder`` and has not finished."""
    for marker in folder.glob(_marker("*")):
        stage = marker.name.split(".")[1]
        command = {"tokenizer": "build-vocab", "klue-grid": "klue --grid"}.get(stage, stage)
        raise DataError(f"{folder}: unfinished; run the same {command} command again to finish it")


def is_stage_folder(names: Iterable[str]) -> bool:
    """Whether a folder with these files was written, or begun, by a stage of kobert-kit."""
    return any(name == RECORD_NAME or fnmatch(name, _marker("*")) for name in names)


def _marker(stage: str) -> str:
    return f".{stage}.unfinished"


def fingerprint_files(paths: Iterable[Path]) -> str:
    """Hex digest over the contents of files, in the given order; names do not count."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        inner = hashlib.blake2b(digest_size=16)
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                inner.update(block)
        digest.update(inner.digest())
    return digest.hexdigest()


def fingerprint_values(values: Mapping[str, Any]) -> str:
    """Hex digest of plain values, independent of key order."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def check_plan(folder: Path, plan: Record) -> None:
    """Compare ``plan`` with what ``folder`` was begun with; keep it there on the first call.

    Raises:
        UsageError: the folder was begun with other settings or inputs.
        DataError: what it was begun with cannot be read.
    """
    path = folder / PLAN_NAME
    asked = json.loads(json.dumps({"settings": plan.settings, "inputs": plan.inputs}))
    if not path.exists():
        write_json(path, asked)
    begun = _read_plan(path)
    # In the order of the plan, where a preset comes before what follows from it.
    for name in [*asked["settings"], *begun["settings"]]:
        old, new = begun["settings"].get(name), asked["settings"].get(name)
        if old != new:
            raise UsageError(
                f"--output {folder}: begun {_as_option(name, old)}, now run "
                f"{_as_option(name, new)}; use the same options to continue, or a new folder"
            )
    for name in [*asked["inputs"], *begun["inputs"]]:
        old, new = begun["inputs"].get(name), asked["inputs"].get(name)
        if old is None and new is not None:
            raise UsageError(f"--output {folder}: begun without a {name}; name a new folder")
        if old != new:
            raise UsageError(
                f"--output {folder}: begun with another {name}, which has changed since; "
                "put the old one back to continue, or name a new folder"
            )


def begun_inputs(folder: Path) -> dict[str, str]:
    """The inputs that an unfinished ``folder`` was begun with; none where it is new or finished.

    Raises:
        DataError: what it was begun with cannot be read.
    """
    path = folder / PLAN_NAME
    unfinished = path.exists() and not (folder / RECORD_NAME).exists()
    return _read_plan(path)["inputs"] if unfinished else {}


def _read_plan(path: Path) -> dict[str, dict[str, Any]]:
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        return {group: dict(plan[group]) for group in ("settings", "inputs")}
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: damaged ({error!r}); name a new folder") from None


def _as_option(name: str, value: Any) -> str:
    """A setting as it is given on the command line."""
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if isinstance(value, bool) or value is None:
        return f"{'with' if value else 'without'} {option}"
    return f"with {option} {value}"
