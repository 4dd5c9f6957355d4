"""The sample's documents: enough of them, each its own, natural particles, the same bytes again."""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
SAMPLE = REPO / "corpora" / "sample"
TOPICS = {"정치", "경제", "사회", "생활문화", "세계", "IT과학", "스포츠"}
REGISTERS = {"news", "encyclopedia", "review", "dialogue", "notice"}


@pytest.fixture(scope="module")
def documents() -> list[dict[str, str]]:
    with lzma.open(SAMPLE / "documents.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_at_least_two_megabytes_of_text(documents):
    assert sum(len(document["text"].encode("utf-8")) for document in documents) >= 2_000_000


def test_documents_are_unique_and_complete(documents):
    assert all(set(document) == {"id", "source", "title", "text"} for document in documents)
    assert all(document["title"].strip() and document["text"].strip() for document in documents)
    for key in ("id", "text"):
        assert len({document[key] for document in documents}) == len(documents)


def test_every_register_covers_every_topic(documents):
    sources = {tuple(document["source"].split("/")) for document in documents}
    assert sources == {(register, topic) for register in REGISTERS for topic in TOPICS}


def test_no_template_slot_is_left_open(documents):
    for document in documents:
        assert not re.search(r"[{}<>]|  |None", document["title"] + document["text"])


def has_coda(syllable: str) -> bool:
    return (ord(syllable) - 0xAC00) % 28 != 0


def test_object_and_topic_particles_follow_the_coda(documents):
    """No closed syllable before 를, no open one before 을: by the words that stand before both.

    Nouns that end in these syllables by themselves (마을, 가을, 노을) are let pass.
    """
    text = " ".join(document["text"] for document in documents)
    objects = re.findall(r"([가-힣])(을|를)(?= )", text)
    assert len(objects) > 20_000
    wrong = [syllable + mark for syllable, mark in objects if has_coda(syllable) != (mark == "을")]
    assert set(wrong) <= {"마을", "가을", "노을"}


def test_subject_particles_of_known_names_follow_the_coda(documents):
    """Titles are nouns for sure: 이/은/과 after a closed syllable, 가/는/와 after an open one."""
    titles = {document["title"] for document in documents}
    checked = 0
    for document in documents:
        for eojeol in document["text"].split():
            name, mark = eojeol[:-1], eojeol[-1]
            if name in titles and mark in "이가은는과와":
                assert has_coda(name[-1]) == (mark in "이은과"), eojeol
                checked += 1
    assert checked > 500


def test_the_same_seed_writes_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(REPO))
    sys.modules.pop("corpora", None)
    from corpora.generate import write_sample

    write_sample(tmp_path)
    committed = {path.relative_to(SAMPLE) for path in SAMPLE.rglob("*") if path.is_file()}
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == committed
    for name in sorted(written):
        assert content(tmp_path / name) == content(SAMPLE / name), name


def content(path: Path) -> bytes:
    """What a file says; liblzma's own output may differ between its versions."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def test_the_sample_stays_small_enough_for_a_wheel():
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 4_500_000
