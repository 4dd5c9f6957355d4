"""Rows of a Parquet file as a stream."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kobert_kit.corpus.files import compression_of
from kobert_kit.corpus.formats.compression import Advance, Damaged, read_blocks
from kobert_kit.corpus.formats.raw import LONGEST_RECORD
from kobert_kit.errors import DataError, KobertKitError

BATCH_ROWS = 8  # any of which may be of many megabytes


@dataclass(frozen=True, slots=True)
class TooLong:
    """In place of a text: its row has ``size`` bytes, which is more than a record may have."""

    size: int


def read_rows(path: Path, advance: Advance, text: str = "text") -> Iterator[dict[str, object]]:
    """The column ``text``, as "text", and, where present, ``id`` and ``title``, row by row.

    A string that is not UTF-8 comes out as bytes, and a row that is too long as no more than that,
    in place of its text. In memory are a few rows and what the file has compressed as one piece,
    which Parquet calls a page. A file compressed as a whole goes through a
    temporary file, because Parquet is read from its end.

    Raises:
        DataError: the file cannot be read, is damaged, or has no such column.
        KobertKitError: there is no room for the temporary file.
    """
    told = 0
    try:
        size = path.stat().st_size
        with _plain(path) as stream:
            for share, row in _rows(path, stream, text):
                # The reader jumps about in the file, so its rows stand for its bytes.
                advance(int(size * share) - told)
                told = int(size * share)
                yield row
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    advance(size - told)


def read_copied_rows(
    path: Path, blocks: Iterable[bytes], text: str = "text"
) -> Iterator[dict[str, object]]:
    """The same of a Parquet file that comes as ``blocks``."""
    with _copied(path, blocks) as stream:
        for _, row in _rows(path, stream, text):
            yield row


@contextlib.contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    """``path``, or its decompressed content in a temporary file, open for reading."""
    if compression_of(path):
        with _copied(path, read_blocks(path, lambda consumed: None)) as stream:
            yield stream
        return
    with path.open("rb") as stream:
        yield stream


@contextlib.contextmanager
def _copied(path: Path, blocks: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """``blocks`` in a temporary file.

    Raises:
        KobertKitError: there is no room for it. That ends the job, for the file is whole.
    """
    try:
        with tempfile.TemporaryFile() as copy:
            for block in blocks:
                copy.write(block)
            copy.seek(0)
            yield copy
    except Damaged as error:
        raise DataError(
            f"{path}: the compressed file is truncated or damaged ({error}); "
            "repair it or leave it out"
        ) from None
    except OSError as error:  # the rows' own reader says what is wrong with them in its words
        where = tempfile.tempdir or "the folder for temporary files"
        raise KobertKitError(
            f"{path}: Parquet is read from its end, and {where} does not take the unpacked copy "
            f"that this needs ({error.strerror}); make room there, or set the environment "
            "variable TMPDIR to a folder on another disk, and run the same command again"
        ) from None


def _rows(path: Path, stream: IO[bytes], text: str) -> Iterator[tuple[float, dict[str, object]]]:
    """Rows, each with the share of all rows that it and those before it are."""
    import pyarrow
    import pyarrow.parquet

    row = 0
    try:
        with pyarrow.parquet.ParquetFile(stream) as table:
            names = table.schema_arrow.names
            if text not in names:
                raise DataError(
                    f"{path}: no column '{text}', only {', '.join(names)}; rename the column that "
                    "holds the documents, or name it with kobert-kit corpus --text-field"
                )
            if names.count(text) > 1:
                raise DataError(f"{path}: several columns '{text}'; rename all but one")
            columns = [text, *(name for name in ("id", "title") if names.count(name) == 1)]
            keys = ["text", *columns[1:]]
            for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=columns):
                for values in zip(*map(batch.column, columns), strict=True):
                    row += 1
                    yield (
                        row / table.metadata.num_rows,
                        _fields(dict(zip(keys, values, strict=True))),
                    )
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:  # that of a name
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{path}: not a Parquet file, or damaged after row {row:,} ({reason}); "
            "repair it or leave it out"
        ) from None


def _fields(scalars: dict[str, Any]) -> dict[str, object]:
    """The values of a row, if they are not too long: then no copy of them is made."""
    import pyarrow

    for name, scalar in scalars.items():
        if isinstance(scalar, pyarrow.DictionaryScalar):
            scalars[name] = scalar.value
    size = sum(map(_size, scalars.values()))
    if size > LONGEST_RECORD:
        return {"text": TooLong(size)}
    return {name: _value(scalar) for name, scalar in scalars.items()}


def _size(scalar: Any) -> int:
    """The bytes of a string, or of bytes; 0 for anything else."""
    held = scalar.as_buffer() if hasattr(scalar, "as_buffer") else None
    return held.size if held else 0


def _value(scalar: Any) -> object:
    """A string, where it is none of UTF-8 its bytes, or what else there is; None for what Python
    has nothing for, such as a time in nanoseconds."""
    try:
        value = scalar.as_py()
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes() if hasattr(scalar, "as_buffer") else None
    except (ValueError, OverflowError):
        return None
