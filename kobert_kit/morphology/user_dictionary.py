"""Words of the user's own, in the format of Kiwi's dictionary files.

One word a line, columns separated by tabs: the form, its tag (NNP), and perhaps a score, the higher
the more the word is preferred. A form of several morphemes has 팔리/VV + 었/EP in the place of the
tag. A line that begins with # is a comment.
"""

from __future__ import annotations

import re
from pathlib import Path

from kobert_kit.errors import DataError, UsageError
from kobert_kit.morphology.kiwi import analyser

_SCORE = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?", re.ASCII)
_LINE = re.compile(r"\bat line (\d+)")


def read_user_dictionary(path: Path) -> str:
    """The text of the dictionary file ``path``, every line of it tried in the analyser.

    Raises:
        UsageError: the file cannot be read.
        DataError: a line is not a dictionary entry; names the file and the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"--user-dict {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        number = path.read_bytes()[: error.start].count(b"\n") + 1
        raise DataError(f"{path}:{number}: not UTF-8; save the dictionary as UTF-8") from None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        _check_columns(line, f"{path}:{number}")
    try:
        analyser("\n".join(lines))
    except ValueError as error:
        number = _line_of(error, lines)
        raise DataError(f"{path}:{number}: Kiwi does not take this line ({error})") from None
    return "\n".join(lines)


def _check_columns(line: str, place: str) -> None:
    """What Kiwi reads without a word: an empty form, or a score that is no number."""
    if not line.strip() or line.startswith("#"):
        return
    form, *rest = line.split("\t")
    if not form.strip() or not rest or len(rest) > 2:
        raise DataError(
            f"{place}: expected form, tag and perhaps a score, separated by tabs (코버트\tNNP\t1.5)"
        )
    if len(rest) == 2 and _SCORE.fullmatch(rest[1].strip()) is None:
        raise DataError(f"{place}: the score '{rest[1]}' is not a number")


def _line_of(error: ValueError, lines: list[str]) -> int:
    """The number of the line that Kiwi complains of: it names the line, or what stands in it."""
    if match := _LINE.search(str(error)):
        return int(match.group(1))
    culprit = str(error).rsplit(" ", 1)[-1]
    return next((number for number, line in enumerate(lines, 1) if culprit in line), 1)
