from __future__ import annotations

from pathlib import Path

import pytest
from klue_sample import RECORDS, write_model, write_split


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "klue_benchmark"
    for name, make in RECORDS.items():
        write_split(folder, name, "train", make(90))
        write_split(folder, name, "dev", make(30, start=1000))
    return folder


@pytest.fixture
def model_dir(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")
