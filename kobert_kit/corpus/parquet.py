"""Rows of a Parquet file as a stream."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from kobert_kit.corpus.compression import Advance, Damaged, read_blocks
from kobert_kit.corpus.files import compression_of
from kobert_kit.errors import DataError

BATCH_ROWS = 256


def read_rows(path: Path, advance: Advance, text: str = "text") -> Iterator[dict[str, object]]:
    """The column ``text``, as "text", and, where present, ``id`` and ``title``, row by row.

    A string that is not UTF-8 comes out as bytes. A file compressed as a whole goes through a
    temporary file, because Parquet is read from its end.

    Raises:
        DataError: the file cannot be read, is damaged, or has no such column.
    """
    import pyarrow
    import pyarrow.parquet

    row, told = 0, 0
    try:
        size = path.stat().st_size
        with _plain(path) as stream, pyarrow.parquet.ParquetFile(stream) as table:
            names = table.schema_arrow.names
            if text not in names:
                raise DataError(
                    f"{path}: no column '{text}', only {', '.join(names)}; rename the column that "
                    "holds the documents"
                )
            columns = [text, *(name for name in ("id", "title") if name in names)]
            keys = ["text", *columns[1:]]
            for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=columns):
                for values in zip(*map(batch.column, columns), strict=True):
                    row += 1
                    yield dict(zip(keys, map(_value, values), strict=True))
                # The reader jumps about in the file, so its rows stand for its bytes.
                done = size * row // table.metadata.num_rows
                advance(done - told)
                told = done
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{path}: not a Parquet file, or damaged after row {row:,} ({reason}); "
            "repair it or leave it out"
        ) from None
    except Damaged as error:
        raise DataError(
            f"{path}: the compressed file is truncated or damaged ({error}); "
            "repair it or leave it out"
        ) from None
    advance(size - told)


@contextlib.contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    """``path``, or its decompressed content in a temporary file, open for reading."""
    if not compression_of(path):
        with path.open("rb") as stream:
            yield stream
        return
    with tempfile.TemporaryFile() as copy:
        for block in read_blocks(path, lambda consumed: None):
            copy.write(block)
        copy.seek(0)
        yield copy


def _value(scalar: Any) -> object:
    try:
        value = scalar.as_py()
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()
