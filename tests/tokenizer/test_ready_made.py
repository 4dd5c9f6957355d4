"""The tokenizers that come with the project: what their users may rely on."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from contract import assert_lossless
from real_text import SHARED, cases, corpus_lines

import kobert_kit
from kobert_kit.morphology.kiwi import kiwi_versions
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.tasks.spans import read_entities
from kobert_kit.tokenizer.boundaries import BoundaryMarker
from kobert_kit.tokenizer.inspection import Inspection, add_texts, begin
from kobert_kit.tokenizer.recipe import read_recipe
from kobert_kit.tokenizer.subject import open_subject

HOME = Path(__file__).resolve().parents[2] / "tokenizer"


@pytest.fixture(scope="module", params=["vocab", "always"])
def folder(request: pytest.FixtureRequest) -> Path:
    path = HOME / str(request.param)
    if request.param == "always" and read_recipe(path).versions != kiwi_versions():
        pytest.skip(f"{path} needs Kiwi {read_recipe(path).versions}")
    return path


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Any:
    return kobert_kit.load_tokenizer(folder)


def test_both_modes_share_one_vocabulary(tokenizer: Any, folder: Path) -> None:
    assert len(tokenizer) == 32_000
    entries = [(HOME / mode / "vocab.txt").read_bytes() for mode in ("vocab", "always")]
    assert entries[0] == entries[1]
    record = json.loads((folder / "kobert_kit.json").read_text(encoding="utf-8"))
    assert record["settings"]["mode"] == folder.name
    assert record["results"]["reading"]["documents"] == 22_564


def test_endings_and_particles_are_single_tokens(tokenizer: Any) -> None:
    assert tokenizer.tokenize("책을 먹습니다 지금까지 학교에서 집으로") == [
        *("책", "##을", "먹", "##습니다", "지금", "##까지", "학교", "##에서", "집", "##으로")
    ]


def test_the_cases(tokenizer: Any, folder: Path) -> None:
    found = {}
    for case in cases():
        text = case["text"]
        encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        tokens = tokenizer.convert_ids_to_tokens(encoding["input_ids"])
        assert_lossless(text, tokens, encoding["offset_mapping"])
        found[case["id"]] = tokens
    assert "##ㅋㅋ" in found["slang-suffix"] and "국민" in found["slang-suffix"]
    assert "ㅋㅋ" in "".join(found["jamo-run"]) and "[UNK]" not in found["jamo-run"]
    assert "[UNK]" not in found["nfd"] and "[UNK]" not in found["conjoining-jamo"]
    assert not found["empty"] and not found["blank"]
    assert "[UNK]" not in found["long-repeat"] and len(found["long-repeat"]) > 1000
    assert found["long-word"].count("[UNK]") == 0
    # Only what is not in the alphabet is unknown; the particles around it are not.
    assert {"을", "##을", "이", "##이"} & set(found["rare-syllables"])
    if folder.name == "always":
        assert found["no-space"] == ["나", "##는", "##학교", "##에", "##갔", "##다"]


def test_lossless_on_real_lines(tokenizer: Any) -> None:
    lines = list(corpus_lines(300))
    batch = tokenizer(lines, add_special_tokens=False, return_offsets_mapping=True)
    for text, ids, offsets in zip(lines, batch["input_ids"], batch["offset_mapping"], strict=True):
        assert_lossless(text, tokenizer.convert_ids_to_tokens(ids), offsets)


@pytest.fixture(scope="module")
def entities(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, list[tuple[int, int]]]]:
    archive = SHARED / "data" / "klue_benchmark.tar.xz"
    if not archive.exists():
        pytest.skip(f"no {archive}")
    path = tmp_path_factory.mktemp("ner") / "dev.tsv"
    with tarfile.open(archive) as members:
        stream = members.extractfile("klue_benchmark/klue-ner-v1.1/klue-ner-v1.1_dev.tsv")
        assert stream is not None
        path.write_bytes(stream.read())
    return list(read_entities(path))


def test_entities_are_kept_apart(folder: Path, entities: list[Any]) -> None:
    subject = open_subject(str(folder))
    inspection: Inspection = begin(subject)
    marker = BoundaryMarker(Splitter(subject.kiwi).settings)
    texts, spans = [text for text, _ in entities], [found for _, found in entities]
    add_texts(inspection, subject, texts, marker, spans)
    assert inspection.texts == 5000 and inspection.spans > 14_000
    most = {"vocab": 0.010, "always": 0.005}[folder.name]
    assert inspection.spans_hurt_at_end / inspection.spans <= most
    assert inspection.tokens / inspection.eojeols <= 2.34
    assert inspection.texts_with_unknown / inspection.texts <= 0.01
    assert inspection.crossed <= {"vocab": 0.012, "always": 0}[folder.name] * inspection.eojeols
    assert not inspection.dead
