"""The ledger: what became of every document, by source and reason, and of every file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from kobert_kit.corpus.stage.filters import Tally

_MOST_LINES = 100  # of boilerplate that the ledger names


@dataclass
class Flow:
    """Documents and bytes (UTF-8, as read) of one source: read = kept + dropped, always.

    ``bytes_written`` is the size of what was kept after it was cleaned.
    """

    read: list[int] = field(default_factory=lambda: [0, 0])
    kept: list[int] = field(default_factory=lambda: [0, 0])
    dropped: dict[str, list[int]] = field(default_factory=dict)
    bytes_written: int = 0

    def balance(self) -> tuple[int, int]:
        """Documents and bytes that were read and are neither kept nor dropped: none."""
        gone = [sum(counts[i] for counts in self.dropped.values()) for i in (0, 1)]
        return self.read[0] - self.kept[0] - gone[0], self.read[1] - self.kept[1] - gone[1]


@dataclass
class Overlap:
    """An evaluation file: its sentences, those too short to look for, those found, and in how many
    documents."""

    file: str
    sentences: int
    too_short: int
    found: int
    documents: int


@dataclass
class Ledger:
    """Accounts by source, what each filter did, and every file with its encoding or problem.

    ``overlaps`` counts documents by the evaluation file that they share sentences with, ``found``
    has the numbers of those sentences; at the end both become ``evaluation``.
    """

    sources: dict[str, Flow] = field(default_factory=dict)
    filters: dict[str, Tally] = field(default_factory=dict)
    boilerplate: dict[str, int] = field(default_factory=dict)
    files: list[dict[str, str]] = field(default_factory=list)
    overlaps: dict[str, int] = field(default_factory=dict)
    found: list[int] = field(default_factory=list)
    evaluation: list[Overlap] = field(default_factory=list)

    def flow(self, source: str) -> Flow:
        return self.sources.setdefault(source, Flow())

    def read(self, source: str, documents: int, size: int) -> None:
        _add(self.flow(source).read, documents, size)

    def keep(self, source: str, size: int, written: int) -> None:
        flow = self.flow(source)
        _add(flow.kept, 1, size)
        flow.bytes_written += written

    def drop(self, source: str, reason: str, size: int) -> None:
        _add(self.flow(source).dropped.setdefault(reason, [0, 0]), 1, size)

    def end_file(self, path: str, source: str, encoding: str, problem: str) -> None:
        entry = {"file": path, "source": source, "encoding": encoding}
        self.files.append(entry | ({"problem": problem} if problem else {}))

    def add(self, other: Ledger) -> None:
        """Join the ledger of a later part of the corpus."""
        for source, theirs in other.sources.items():
            flow = self.flow(source)
            _add(flow.read, *theirs.read)
            _add(flow.kept, *theirs.kept)
            flow.bytes_written += theirs.bytes_written
            for reason, counts in theirs.dropped.items():
                _add(flow.dropped.setdefault(reason, [0, 0]), *counts)
        for name, tally in other.filters.items():
            self.filters.setdefault(name, Tally()).add(tally)
        for line, count in other.boilerplate.items():
            self.boilerplate[line] = self.boilerplate.get(line, 0) + count
        self.files += other.files
        for file, count in other.overlaps.items():
            self.overlaps[file] = self.overlaps.get(file, 0) + count
        self.found = sorted({*self.found, *other.found})

    @property
    def total(self) -> Flow:
        """The account of all sources together."""
        flows = Ledger()
        for theirs in self.sources.values():
            flows.add(Ledger({"": theirs}))
        return flows.flow("")

    def problems(self) -> list[dict[str, str]]:
        """The files that were not read whole."""
        return [file for file in self.files if "problem" in file]

    def to_json(self) -> dict[str, Any]:
        top = sorted(self.boilerplate.items(), key=lambda item: (-item[1], item[0]))
        return asdict(self) | {"boilerplate": dict(top[:_MOST_LINES])}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Ledger:
        return cls(
            {name: Flow(**flow) for name, flow in values["sources"].items()},
            {name: Tally(**tally) for name, tally in values["filters"].items()},
            values["boilerplate"],
            values["files"],
            values["overlaps"],
            values["found"],
            [Overlap(**overlap) for overlap in values["evaluation"]],
        )


def _add(counts: list[int], documents: int, size: int) -> None:
    counts[0] += documents
    counts[1] += size
