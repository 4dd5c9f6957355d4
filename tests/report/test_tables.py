"""Tables: aligned in a terminal, right in their numbers."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from kobert_kit.errors import DataError
from kobert_kit.report.klue import (
    Row,
    compare,
    confusion_table,
    describe,
    headline,
    write_confusion_tables,
)
from kobert_kit.report.tables import display_width, score, table


def columns(line: str) -> list[int]:
    """Where the bars of a table's line stand in a terminal."""
    at, places = 0, []
    for char in line:
        if char == "|":
            places.append(at)
        at += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return places


def test_hangul_lines_up():
    text = table(["주제", "F1", "메모"], [["생활문화", "71.2", "IT과학"], ["정치", "9", "-"]])
    places = [columns(line) for line in text.splitlines()]
    assert all(place == places[0] for place in places) and len(places[0]) == 4
    assert text.splitlines()[1].count(":") == 2  # Markdown: the numbers are flush right


@pytest.mark.parametrize(
    "text, width", [("abc", 3), ("한글", 4), ("한", 2), ("e\u0301", 1), ("％", 2), ("±", 1)]
)
def test_display_width(text, width):
    assert display_width(text) == width


def test_scores():
    assert score(71.236, 0.449) == "71.24 ± 0.45"
    assert score(71.236) == "71.24"
    assert score(None) == score(float("nan")) == "undefined"


def test_confusion_table_shows_counts_and_recall():
    lines = confusion_table(["정치", "경제"], [[3, 1], [0, 0]]).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == ["정치", "3", "1", "75.0 %"]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == ["경제", "0", "0", "-"]


def test_comparison():
    text = compare(
        [
            Row("nli", "klue_nli_acc", (62.5, 0.5), (51.25, None), 33.3),
            Row("sts", "klue_sts_pearsonr", (70.0, None), (None, None), None),
        ]
    )
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert lines[2] == ["nli", "klue_nli_acc", "62.50 ± 0.50", "51.25", "33.30"]
    assert lines[3] == ["sts", "klue_sts_pearsonr", "70.00", "undefined", "undefined"]


def write_run(folder: Path) -> None:
    seeds = {
        str(seed): {"last": {"klue_nli_acc": value}, "best": {"klue_nli_acc": value + 1}}
        for seed, value in enumerate([60.0, 62.0])
    }
    metrics = {"klue_nli_acc": {"mean": 61.0, "std": 1.4142, "best": 62.0}}
    summary = {"task": "nli", "headline": "klue_nli_acc", "metrics": metrics, "seeds": seeds}
    (folder / "metrics.json").write_text(json.dumps(summary))


def test_a_run_is_described_from_its_files(tmp_path):
    write_run(tmp_path)
    assert headline(tmp_path) == (61.0, 1.4142)
    text = describe(tmp_path)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert lines[0] == ["nli", "klue_nli_acc", "best epoch"]
    assert lines[2] == ["seed 0", "60.00", "61.00"]
    assert lines[4] == ["mean ± std", "61.00 ± 1.41", "62.00 ± 1.41"]
    assert lines[5] == ["best seed", "62.00", ""]


def test_confusion_tables_stand_beside_their_counts(tmp_path):
    (tmp_path / "seed-1").mkdir()
    values = {"labels": ["가", "나"], "counts": [[5, 0], [2, 3]]}
    (tmp_path / "seed-1" / "confusion.json").write_text(json.dumps(values), encoding="utf-8")
    write_confusion_tables(tmp_path)
    text = (tmp_path / "seed-1" / "confusion.txt").read_text(encoding="utf-8")
    assert text == confusion_table(**values) + "\n"


def test_a_run_that_is_not_finished(tmp_path):
    with pytest.raises(DataError, match=r"no metrics.json; the run is not finished"):
        describe(tmp_path)
