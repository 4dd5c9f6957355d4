"""A table of a TOML file, read key by key; what is wrong is named by file and key."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kobert_kit.errors import DataError, UsageError
from kobert_kit.tasks.formats.parse import short

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Table:
    """``values`` of the table called ``name``, "" for the file itself."""

    def __init__(self, path: Path, values: dict[str, Any], name: str = "") -> None:
        self.path, self.values, self.name = path, values, name

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def error(self, key: str, problem: str) -> DataError:
        """``problem`` of ``key``, to be raised."""
        return DataError(f"{self.path}: '{self._full(key)}' {problem}")

    def only(self, allowed: Sequence[str], what: str) -> None:
        """Raises DataError where there is a key that ``what`` does not take."""
        for key in self.values:
            if key not in allowed:
                guess = near(key, allowed)
                raise self.error(key, f"is no key of {what}{guess}; allowed: {', '.join(allowed)}")

    def needed(self, keys: Iterable[str], what: str) -> None:
        """Raises DataError where one of ``keys`` is not there."""
        for key in keys:
            if key not in self.values:
                raise DataError(f"{self.path}: no '{self._full(key)}', which {what} needs")

    def text(self, key: str, default: str) -> str:
        """The text at ``key``. Raises DataError where it is none."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.error(key, f"is {short(value)}; expected text in quotes")
        return value

    def one_of(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of ``allowed``. Raises DataError where it is none."""
        value = self.values.get(key, default)
        if value not in allowed:
            guess = near(value, allowed) if isinstance(value, str) else ""
            raise self.error(key, f"is {short(value)}{guess}; allowed: {', '.join(allowed)}")
        return str(value)

    def flag(self, key: str, default: bool) -> bool:
        """True or false. Raises DataError where it is neither."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"is {short(value)}; allowed: true, false")
        return value

    def number(self, key: str, default: float) -> float:
        """A number. Raises DataError where it is none."""
        value = self.values.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.error(key, f"is {short(value)}; expected a number")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """One text or a list of them. Raises DataError where it is neither, or empty."""
        value = self.values.get(key)
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(each, str) and each for each in values):
            raise self.error(key, f"is {short(value)}; expected text in quotes, or a list of texts")
        return tuple(values)

    def table(self, key: str) -> Table:
        """The table at ``key``, or an empty one. Raises DataError where it is no table."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"is {short(value)}; expected a table [{self._full(key)}]")
        return Table(self.path, value, self._full(key))

    def _full(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key


def read_toml(path: Path) -> Table:
    """The file's tables.

    Raises:
        UsageError: there is no such file.
        DataError: it is no TOML; says where.
    """
    try:
        return Table(path, tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        raise UsageError(f"--task {path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start:,}") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: not TOML ({error})") from None


def near(word: str, allowed: Iterable[str]) -> str:
    """The one of ``allowed`` that was probably meant, for a message; "" where none is like it."""
    close = difflib.get_close_matches(word, list(allowed), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
