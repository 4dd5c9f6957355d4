"""What the sources of a corpus come to: its files, on disk, in archives, and of the hub."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kobert_kit.console import counted
from kobert_kit.corpus.files import Refuse, compression_of, find_files, format_of, readable_path
from kobert_kit.corpus.formats.archives import ARCHIVES, UNPACK, UNREAD, list_members
from kobert_kit.corpus.stage.cutting import FORMATS
from kobert_kit.corpus.stage.hub import hub_input, hub_revision, is_hub, open_hub, parse_hub

Value = TypeVar("Value")
_MOST_SUFFIXES = 20  # that are told apart
_OTHER = "other formats"


@dataclass
class Found:
    """``files`` in order, each with the number of the source that it was first found in;
    the archive that a member lies in, and the revision of a data set of the hub. ``begun`` are
    the inputs of the run that is continued."""

    files: dict[Path, int] = field(default_factory=dict)
    archives: dict[Path, Path] = field(default_factory=dict)
    revisions: dict[Path, str] = field(default_factory=dict)
    begun: Mapping[str, str] = field(default_factory=dict)
    _seen: set[Path] = field(default_factory=set)

    def add(self, path: Path, source: int, refuse: Refuse) -> None:
        """Take in all files of a source; ``refuse`` is told of what cannot be read, and how many
        files are passed over, but for hidden ones and those named README."""
        if is_hub(path):
            # The hub moves on, but keeps what it had: a run ends with the commit it began with.
            begun = None if parse_hub(path).is_folder else self.begun.get(hub_input(path))
            self.revisions[path] = begun or hub_revision(path)
            open_hub(path, self.revisions[path])  # what is wrong shows before any work
            self.files.setdefault(path, source)
            return
        others = _Others()

        def passed(file: Path) -> None:
            if file.name.lower().endswith(UNREAD):
                refuse(file, f"an archive, {UNPACK}")
            elif not _is_about(file):
                others.add(file)

        for file in find_files([path], (*FORMATS, *ARCHIVES), refuse, passed):
            if file.resolve() in self._seen or (file != path and _is_about(file)):
                continue
            self._seen.add(file.resolve())
            members = [file]
            if format_of(file, ARCHIVES):
                members = list_members(file, FORMATS, refuse, passed)
                self.archives |= dict.fromkeys(members, file)
            for member in members:
                if member == path or not _is_about(member):
                    self.files.setdefault(member, source)
        others.tell(path, refuse)

    def by_index(self, values: Mapping[Path, Value]) -> dict[int, Value]:
        """``values`` of some files by the files' indices."""
        return {at: values[file] for at, file in enumerate(self.files) if file in values}


class _Others:
    """Files of a source that are of no kind that is read, counted by their suffix."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._first: dict[str, Path] = {}

    def add(self, file: Path) -> None:
        name = file.name.lower()
        compression = compression_of(file)
        suffix = Path(name.removesuffix(compression)).suffix + compression
        if suffix not in self._counts and len(self._counts) >= _MOST_SUFFIXES:
            suffix = _OTHER
        self._counts[suffix] += 1
        self._first[suffix] = min(file, self._first.get(suffix, file))

    def tell(self, source: Path, refuse: Refuse) -> None:
        for suffix, count in sorted(self._counts.items()):
            first = readable_path(self._first[suffix].relative_to(source))
            found = f"{counted(count, 'file')} {f'in {suffix}' if suffix else 'of no suffix'}"
            refuse(source, f"{found} passed over, the first {first}; convert what is text")


def _is_about(file: Path) -> bool:
    """Whether a file is about those around it, which are the corpus; named itself, it is read."""
    return re.fullmatch(r"readme(\..*)?", file.name, re.IGNORECASE | re.DOTALL) is not None
