"""The sample corpus and task data that come with the project."""

from __future__ import annotations

from pathlib import Path

from kobert_kit.errors import DataError


def sample_folder() -> Path:
    """Folder with ``documents`` (a corpus) and ``klue_benchmark`` (task files) of the sample.

    In an installed wheel it lies inside the package, in a checkout under ``corpora/``.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_sample", package.parent / "corpora" / "sample"):
        if folder.is_dir():
            return folder
    raise DataError("the sample corpus is not installed; install kobert-kit again")
