"""A document, and the account of what was read and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kobert_kit.console import counted
from kobert_kit.errors import DataError

EXAMPLES_PER_REASON = 3
NOT_UTF8 = "not UTF-8"
CONVERTED = "what is in cp949, EUC-KR or UTF-16 `kobert-kit corpus` converts"


@dataclass(frozen=True, slots=True)
class Document:
    """One document; the paragraphs of ``text`` are separated by newlines."""

    id: str
    text: str
    title: str = ""


@dataclass
class ReadReport:
    """What reading a corpus met, filled while it is read.

    ``documents``, ``characters`` and ``bytes`` (of the texts as UTF-8) count what was kept;
    ``skipped`` counts what was not, by reason, and ``examples`` names the first few of each as
    ``file:line: reason`` (in a Parquet file the line is the row, from 1).
    """

    files: int = 0
    documents: int = 0
    characters: int = 0
    bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def keep(self, document: Document) -> None:
        """Count a document that was kept."""
        self.documents += 1
        self.characters += len(document.text)
        self.bytes += len(document.text.encode())

    def skip(self, path: Path, line: int, reason: str) -> None:
        """Count a line or document that was left out."""
        self.skipped[reason] += 1
        if self.skipped[reason] <= EXAMPLES_PER_REASON:
            self.examples.append(f"{path}:{line}: {reason}")

    def summary(self) -> str:
        """A few lines for the terminal."""
        found = f"{counted(self.documents, 'document')} from {counted(self.files, 'file')}"
        size = f"{counted(self.characters, 'character')}, {self.bytes / 1e6:,.1f} MB"
        lines = [f"{found}: {size}"]
        if self.skipped:
            lines.append(f"skipped {self.skipped.total():,} ({self.reasons()}), among them:")
            lines += [f"  {example}" for example in self.examples]
        if NOT_UTF8 in self.skipped:
            lines.append(CONVERTED)
        return "\n".join(lines)

    def reasons(self) -> str:
        """Every reason for leaving something out, with its count, the most frequent first."""
        return ", ".join(f"{reason}: {count:,}" for reason, count in self.skipped.most_common())


def require_documents(report: ReadReport, files: Sequence[Path]) -> None:
    """Check, after reading, that the corpus held any document.

    Raises:
        DataError: it held none; the message says what was skipped, and why.
    """
    if report.documents:
        return
    where = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    found = f"skipped {report.reasons()}" if report.skipped else "empty"
    first = f" (first {report.examples[0]})" if report.examples else ""
    cure = CONVERTED if NOT_UTF8 in report.skipped else "give it some text"
    raise DataError(f"{where}: no documents in the corpus: {found}{first}; {cure}")
