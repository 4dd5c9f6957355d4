"""The quickstart with few steps and one task: its whole path.

What pretraining gives is checked where it is run in full, in `.ci/run`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from kobert_kit.cli import main
from kobert_kit.records import read_record


def test_the_path_from_the_sample_to_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("kobert_kit.cli.quickstart.VOCAB_SIZE", 2_500)
    monkeypatch.setattr("kobert_kit.cli.quickstart.STEPS", 12)
    monkeypatch.setattr("kobert_kit.cli.quickstart.EPOCHS", {"ynat": 1})
    words = ["quickstart", "--output", str(tmp_path), "--threads", str(torch.get_num_threads())]
    main(words)
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert "| pretrained | from scratch | majority class |" in table[0]
    assert [row.split()[1] for row in table[2:]] == ["ynat"]
    assert read_record(tmp_path / "model", "pretrain").results["steps"] == 12
    runs = [tmp_path / "klue" / name for name in ("ynat", "ynat-scratch")]
    scores = [(run / "metrics.json").read_bytes() for run in runs]
    main(words)  # all is there, and stays
    again = capsys.readouterr().out.splitlines()
    assert [line for line in again if line.startswith("|")] == table
    assert [(run / "metrics.json").read_bytes() for run in runs] == scores
