"""What every worker process of the corpus stage knows."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kobert_kit.corpus.copies.overlap import View
from kobert_kit.corpus.files import format_of, readable_path
from kobert_kit.corpus.stage.cutting import FORMATS
from kobert_kit.corpus.stage.filters import Filters, Settings, build_filters
from kobert_kit.corpus.stage.hub import is_hub, parse_hub

SentenceStarts = Callable[[str], list[int]]


@dataclass(frozen=True)
class Context:
    """The corpus and what is asked of it. It travels to every process, so it is plain data.

    ``files`` and the index in ``names`` of the source of each; ``archives``: that which a file lies
    in as a member, by the file's index, and ``revisions`` of those that are data sets of the hub;
    ``filters`` by source's name;
    ``work`` is the folder of what is on its way. ``sentence_starts`` is a function of a module.
    """

    files: list[Path]
    source_of: list[int]
    names: list[str]
    filters: dict[str, Settings]
    work: Path
    text_field: str = "text"
    sentence_starts: SentenceStarts | None = None
    near_duplicates: bool = True
    evaluation_files: tuple[Path, ...] = ()
    drop_overlap: bool = True
    archives: dict[int, Path] = field(default_factory=dict)
    revisions: dict[int, str] = field(default_factory=dict)

    @property
    def on_disk(self) -> list[Path]:
        """The files and archives that hold the corpus, each once."""
        paths = (
            self.archives.get(file, path)
            for file, path in enumerate(self.files)
            if file not in self.revisions
        )
        return list(dict.fromkeys(paths))

    @property
    def evaluation(self) -> Path:
        """The folder of the index of evaluation sentences."""
        return self.work / "evaluation"

    @cached_property
    def built(self) -> list[Filters]:
        """The filters of each source, by its index; for workers, as they do not pickle."""
        return [build_filters(self.filters[name]) for name in self.names]

    @property
    def views(self) -> list[View]:
        """What the filters of the sources make of a text, each of them once."""
        distinct = {tuple(settings.items()): settings for settings in self.filters.values()}
        return [build_filters(settings).mend for settings in distinct.values()]

    def filters_of(self, file: int) -> Filters:
        return self.built[self.source_of[file]]

    def source(self, file: int) -> str:
        return self.names[self.source_of[file]]

    def path(self, file: int) -> str:
        """Where a file lies, as the records have it."""
        return readable_path(self.files[file])

    def kind(self, file: int) -> str:
        return format_of(self.files[file], FORMATS)

    def chunk(self, stage: str, number: int) -> Path:
        """The chunk ``number`` as ``stage`` left it."""
        return self.work / f"{stage}-{number:06d}"


_context: list[Context] = []


def start_worker(context: Context) -> None:
    """Make ``context`` the one of this process."""
    _context[:] = [context]


def worker_context() -> Context:
    """The context that this process was started with."""
    return _context[0]


def name_sources(sources: list[Path]) -> list[str]:
    """A name for each source: its file's or folder's, without what its suffixes say; distinct."""
    names: list[str] = []
    for path in sources:
        stem = Path(parse_hub(path).name).name if is_hub(path) else path.resolve().name
        whole = is_hub(path) or os.path.isdir(path)
        name = base = readable_path(stem if whole else stem.split(".")[0] or stem)
        number = 2
        while name in names:
            name, number = f"{base}-{number}", number + 1
        names.append(name)
    return names
