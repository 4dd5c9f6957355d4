"""A data set of the Hugging Face hub as a source, as a stream of rows through ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kobert_kit.corpus.formats.compression import Advance
from kobert_kit.corpus.formats.encodings import UTF8
from kobert_kit.corpus.formats.raw import LONGEST_RECORD, TOO_LONG, FileEnd, Raw
from kobert_kit.errors import DataError, UsageError
from kobert_kit.records import fingerprint_files

_PREFIX = "hf:"
_FORM = "write hf:OWNER/NAME, hf:OWNER/NAME:CONFIG or hf:OWNER/NAME:CONFIG:SPLIT"

_CHUNKS = (1 << 20, 1 << 16, 1 << 12, 1 << 8, 1)  # bytes from which types are inferred


class HubSource(NamedTuple):
    """A data set, which may also be a folder in a layout of the hub; ``config`` and ``split`` are
    empty where none is named."""

    name: str
    config: str = ""
    split: str = ""

    @property
    def is_folder(self) -> bool:
        return Path(self.name).is_dir()


def is_hub(source: Path) -> bool:
    return str(source).startswith(_PREFIX)


def parse_hub(source: Path) -> HubSource:
    """What ``hf:NAME[:CONFIG[:SPLIT]]`` names.

    Raises:
        UsageError: it is not of this form.
    """
    name, *more = str(source).removeprefix(_PREFIX).split(":")
    if not name or len(more) > 2:
        raise UsageError(f"{source}: no name of a data set; {_FORM}")
    return HubSource(name, *more)


def hub_input(source: Path) -> str:
    """A data set's name among the inputs of a corpus."""
    return f"data set {source}"


def hub_revision(source: Path) -> str:
    """The commit that the data set is at, by which it is read; of a folder its contents.

    Raises:
        UsageError: there is no such data set.
        DataError: the hub cannot be reached.
    """
    found = parse_hub(source)
    if found.is_folder:
        files = (path for path in sorted(Path(found.name).rglob("*")) if path.is_file())
        return fingerprint_files(files)
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        about = HfApi().dataset_info(found.name)
    except RepositoryNotFoundError:
        raise UsageError(
            f"{source}: no such data set on the hub, or none that you may read; check its name, "
            "or log in (hf auth login)"
        ) from None
    except HFValidationError:
        raise UsageError(f"{source}: neither a folder nor a name of a data set; {_FORM}") from None
    except Exception as error:  # of the HTTP library, which is not the same in all versions
        raise _failed(source, "cannot be reached", error) from None
    if "/" not in found.name and about.id != found.name:
        raise UsageError(f"{source}: the hub has it as {about.id}, so name that; {_FORM}")
    return str(about.sha)


def open_hub(source: Path, revision: str, **reading: Any) -> Any:
    """The rows of a data set, not read yet, as ``datasets`` streams them. ``reading`` is for the
    reader of its files.

    Raises:
        UsageError: it has no such configuration or split, or several and none was named.
        DataError: the hub cannot be reached, or something else is wrong there.
    """
    from datasets import load_dataset
    from datasets.data_files import EmptyDatasetError
    from datasets.exceptions import DataFilesNotFoundError, DatasetNotFoundError

    found = parse_hub(source)
    pinned = None if found.is_folder else revision
    config = found.config or None
    try:
        # Where the hub fails, what is in the cache is read, whatever its commit: so an empty one.
        with TemporaryDirectory() as empty:
            splits = load_dataset(
                found.name, config, revision=pinned, streaming=True, cache_dir=empty, **reading
            )
    except Exception as error:
        lacking = (EmptyDatasetError, DataFilesNotFoundError, DatasetNotFoundError)
        if found.is_folder or isinstance(error, (ValueError, RuntimeError, *lacking)):
            raise UsageError(f"{source}: {_first_line(error)}") from None
        raise _failed(source, "does not give it", error) from None
    split = found.split or ("train" if "train" in splits else "")
    if not split and len(splits) == 1:
        split = next(iter(splits))
    if split not in splits:
        wanted = f"no split '{split}'" if split else "several splits and no 'train'"
        raise UsageError(f"{source}: {wanted}, only {', '.join(map(str, splits))}; {_FORM}")
    return splits[split]


def read_hub(
    file: int, source: Path, revision: str, text_field: str, advance: Advance
) -> Iterator[Raw | FileEnd]:
    """The rows of a data set, and its end; ``advance`` is told the bytes of their texts.

    Raises:
        DataError: the stream broke off, as it does with the network; a later run can go on.
    """
    import pyarrow

    problem, row = "", 0
    rows = open_hub(source, revision)
    try:
        for row, fields in enumerate(_until_damaged(rows, source, revision), 1):
            if row == 1 and text_field not in fields:
                names = ", ".join(fields)
                problem = f"no column '{text_field}', only {names}; name it with --text-field"
                break
            about: dict[str, object] = {
                name: fields[name] for name in ("id", "title") if name in fields
            }
            text = fields[text_field]
            size = len(text.encode()) if isinstance(text, str) else 0
            advance(size)
            if size > LONGEST_RECORD:
                yield Raw(file, row, problem=TOO_LONG, size=size)
            else:
                yield Raw(file, row, {**about, "text": text})
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        problem = f"damaged after row {row:,} ({_first_line(error)})"
    except DataError:
        raise
    except Exception as error:  # of the HTTP library, as above
        raise DataError(
            f"{source}: broke off after row {row:,} ({_first_line(error)}); run the same command "
            "again to continue"
        ) from None
    yield FileEnd(file, UTF8, problem)


def _until_damaged(rows: Any, source: Path, revision: str) -> Iterator[dict[str, Any]]:
    """``rows`` up to damage, which is raised as the library has it."""
    import pyarrow

    damages = (pyarrow.ArrowException, ValueError, TypeError)  # the last where types change
    given = 0
    try:
        for fields in rows:
            given += 1
            yield fields
        return
    except damages as error:
        damage = error
    # It reads many lines at a time and gives none of those around damage: so one at a time.
    try:
        features = _open_types(rows.features or _features_before(source, revision))
        again = open_hub(source, revision, chunksize=1, features=features)
    except UsageError:  # not a format of lines
        raise damage from None
    try:
        yield from islice(again, given, None)
    except damages:
        raise damage from None


def _features_before(source: Path, revision: str) -> Any:
    """The types of the columns by as many rows as can be read; None where that gives none."""
    opened = (open_hub(source, revision, chunksize=size).features for size in _CHUNKS)
    return next(filter(None, opened), None)


def _open_types(features: Any) -> Any:
    """``features`` with strings where nothing but null has been seen, for strings may follow."""
    from datasets import Features, Value

    string, null = Value("string"), Value("null")
    return features and Features(
        {name: string if kind == null else kind for name, kind in features.items()}
    )


def _failed(source: Path, what: str, error: Exception) -> DataError:
    return DataError(
        f"{source}: the hub {what} ({_first_line(error)}); check the network and "
        "HF_HUB_OFFLINE, or download the files of the data set and name those"
    )


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0] or type(error).__name__
