"""All files of a corpus, one after another, as records: on disk, in archives, and of the hub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from kobert_kit.corpus.formats.archives import member_path, walk
from kobert_kit.corpus.formats.compression import Advance, Damaged
from kobert_kit.corpus.formats.raw import FileEnd, Raw
from kobert_kit.corpus.stage.context import Context
from kobert_kit.corpus.stage.cutting import read_member, read_raw
from kobert_kit.corpus.stage.hub import read_hub
from kobert_kit.errors import DataError


def read_sources(context: Context, advance: Advance) -> Iterator[Raw | FileEnd]:
    """The records of all files of ``context``, each file with its end."""
    for archive, group in groupby(range(len(context.files)), context.archives.get):
        if archive:
            yield from _read_archive(context, archive, list(group), advance)
            continue
        for file in group:
            path, revision = context.files[file], context.revisions.get(file)
            if revision is None:
                yield from read_raw(file, path, context.text_field, advance)
            else:
                yield from read_hub(file, path, revision, context.text_field, advance)


def _read_archive(
    context: Context, archive: Path, members: Sequence[int], advance: Advance
) -> Iterator[Raw | FileEnd]:
    """The ``members`` that were listed, in one pass over the archive, in which they lie so."""
    missing = {context.files[file]: file for file in members}
    problem = "gone since the archive was listed; run the command again on a copy at rest"
    try:
        for entry in walk(archive, advance):
            path = member_path(archive, entry.name)
            file = missing.pop(path, None)
            if file is not None:
                yield from read_member(file, path, archive, entry.blocks, context.text_field)
            if not missing:
                return
    except (Damaged, DataError) as error:
        problem = f"not reached, for the archive is damaged before it ({error})"
    for file in missing.values():
        yield FileEnd(file, "ascii", problem)
