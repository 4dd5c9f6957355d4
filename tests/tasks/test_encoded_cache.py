"""Encoded data that are kept: read where they are the same, and never else."""

from __future__ import annotations

import json
import logging
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from tiny_models import write_encoder

from kobert_kit.corpus.sample import sample_folder
from kobert_kit.finetune.prepared import Prepared, prepare
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.data import load_data

SAMPLE = sample_folder() / "klue_benchmark"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    texts = [str(vars(each)) for t in TASKS.values() for each in load_data(t, SAMPLE).dev]
    return write_encoder(tmp_path_factory.mktemp("encoder"), texts)


def prepared(task: str, encoder: Path, cache: Path, length: int = 64, limit: int = 40) -> Prepared:
    return prepare(TASKS[task], encoder, SAMPLE, length, limit, False, print, cache)


def forbidden(*_: object) -> None:
    raise AssertionError("encoded again")


@pytest.mark.parametrize("task", TASKS)
def test_what_is_kept_is_what_was_encoded(task, encoder, tmp_path, monkeypatch):
    made = prepared(task, encoder, tmp_path).rows(tmp_path)
    for name in ("encode", "misfits"):
        monkeypatch.setattr(type(TASKS[task]), name, forbidden)
    again = prepared(task, encoder, tmp_path)
    for one, other in zip(made, again.rows(tmp_path), strict=True):
        assert type(one) is type(other)
        for field in fields(one):
            mine, kept = getattr(one, field.name), getattr(other, field.name)
            if isinstance(mine, np.ndarray):
                assert mine.dtype == kept.dtype and np.array_equal(mine, kept)
            else:
                assert mine == kept


@pytest.mark.parametrize("change", [{"length": 48}, {"limit": 39}])
def test_other_data_or_lengths_are_encoded_again(change, encoder, tmp_path):
    prepared("nli", encoder, tmp_path).rows(tmp_path)
    other = prepared("nli", encoder, tmp_path, **change)
    from_cache, fresh = other.rows(tmp_path), replace(other, _rows=None).rows(tmp_path / "new")
    for one, two in zip(from_cache, fresh, strict=True):
        assert len(one.examples) == len(two.examples) and np.array_equal(one.ids, two.ids)


def test_another_tokenizer_encodes_again(encoder, tmp_path):
    kept = tmp_path / "kept"
    prepared("nli", encoder, kept).rows(kept)
    other = write_encoder(tmp_path / "other", ["가나다"])
    rows = prepared("nli", other, kept).rows(kept)
    assert rows[0].ids.max() < 5 + 2 * 3


def test_what_does_not_fit_is_told_again_and_left_out_again(encoder, tmp_path):
    first = prepared("re", encoder, tmp_path, length=14)
    first.rows(tmp_path)
    assert first.misfits["train"] and len(first.data.train) == 40 - len(first.misfits["train"])
    again = prepared("re", encoder, tmp_path, length=14)
    assert again.data == first.data and again.data_digest == first.data_digest
    longer = prepared("re", encoder, tmp_path, length=128)
    assert len(longer.data.train) == 40
    path = tmp_path / "misfits.json"
    path.write_text(path.read_text(encoding="utf-8").replace("dev_", "xxx_"), encoding="utf-8")
    assert prepared("re", encoder, tmp_path, length=14).data == first.data


def test_damage_is_said_and_encoded_again(encoder, tmp_path, caplog):
    made = prepared("ner", encoder, tmp_path).rows(tmp_path)
    path = tmp_path / "train.npz"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with caplog.at_level(logging.WARNING):
        again = prepared("ner", encoder, tmp_path).rows(tmp_path)
    assert "train.npz is damaged (its digest does not match)" in caplog.text
    assert np.array_equal(made[0].ids, again[0].ids)


def test_a_second_seed_of_later_encodes_nothing(encoder, tmp_path, monkeypatch):
    settings = FinetuneSettings(epochs=1, max_length=64, limit=40)
    task = TASKS["nli"]
    finetune(task, encoder, SAMPLE, tmp_path / "run", settings, [0, 1], print, threads=1)
    finetune(task, encoder, SAMPLE, tmp_path / "later", settings, [0], print, threads=1)
    with monkeypatch.context() as patched:
        patched.setattr(type(task), "encode", forbidden)
        finetune(task, encoder, SAMPLE, tmp_path / "later", settings, [0, 1], print, threads=1)
    one, other = (json.loads((tmp_path / n / "metrics.json").read_text()) for n in ("run", "later"))
    assert one["metrics"] == other["metrics"]
    assert {path.name for path in (tmp_path / "later" / "encoded").iterdir()} == {
        *("train.npz", "train.json", "dev.npz", "dev.json", "misfits.json")
    }
