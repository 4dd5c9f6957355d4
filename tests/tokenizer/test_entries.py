"""Entries added to a finished tokenizer: where they go, and all that stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from foreign_bert import listed_as_added, vocabulary, write_bert
from tokenizers import AddedToken
from transformers import AutoTokenizer

from kobert_kit.tokenizer.entries import place_entries, write_extended
from kobert_kit.tokenizer.loading import copy_tokenizer, load_tokenizer, tokenizer_fingerprint
from kobert_kit.tokenizer.subject import open_subject

NEW = ["법원", "##권을", "피고인", "##됩니다"]
TEXT = "법원은 피고인에게 특허권을 알렸다 됩니다"


def extend(source: Path, output: Path, entries: list[str] = NEW) -> dict[str, int]:
    output.mkdir()
    subject = open_subject(str(source))
    places = place_entries(subject, entries)
    write_extended(subject, output, places)
    return dict(places)


def test_slots_in_order_then_new_ids(tmp_path: Path):
    source = write_bert(tmp_path / "source", vocabulary(TEXT, slots=3))
    before = AutoTokenizer.from_pretrained(source)
    assert extend(source, tmp_path / "out") == dict(zip(NEW, [5, 6, 7, len(before)], strict=True))
    after = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert after.tokenize("특허권을 피고인") == ["특", "##허", "##권을", "피고인"]
    assert len(after) == len(before) + 1


def test_slots_that_are_listed_as_added_tokens(tmp_path: Path):
    """Listed slots are filled all the same, but for one with a role; other tokens keep their id."""
    added = [
        AddedToken("[unused0]", special=True),
        AddedToken("[unused2]", special=True),
        AddedToken("<obj>", special=True),
    ]
    source = write_bert(tmp_path / "source", vocabulary(TEXT, slots=3), added=added)
    listed_as_added(source, ["[unused0]", "[unused2]", "<obj>"])
    config = json.loads((source / "tokenizer_config.json").read_text())
    config["extra_special_tokens"] = ["[unused2]"]
    (source / "tokenizer_config.json").write_text(json.dumps(config))
    before = AutoTokenizer.from_pretrained(source)
    assert before.tokenize("법 [unused0]") == ["법", "[unused0]"]
    places = extend(source, tmp_path / "out")
    after = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert list(places.values()) == [5, 6, len(before), len(before) + 1]
    for token in ("[unused2]", "<obj>", "[MASK]"):
        assert after.convert_tokens_to_ids(token) == before.convert_tokens_to_ids(token)
        assert after.tokenize(f"법 {token} 법") == ["법", token, "법"]
    assert "[unused0]" not in after.get_vocab() and "[unused0]" not in after.tokenize("[unused0]")
    assert len(after) == len(before) + 2


def test_added_tokens_in_a_file_of_their_own(tmp_path: Path):
    """As version 3 of transformers wrote them, with ids behind the vocabulary."""
    entries = vocabulary(TEXT, slots=0)
    source = write_bert(tmp_path / "source", entries, files=["vocab.txt"])
    (source / "added_tokens.json").write_text(json.dumps({"<subj>": len(entries)}))
    before = AutoTokenizer.from_pretrained(source)
    assert before.convert_tokens_to_ids("<subj>") == len(entries)
    places = extend(source, tmp_path / "out")
    assert list(places.values()) == list(range(len(entries) + 1, len(entries) + 5))
    after = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert after.tokenize("법원 <subj>") == ["법원", "<subj>"]
    assert after.get_vocab() == before.get_vocab() | places


def test_a_vocabulary_alone(tmp_path: Path):
    """As the BERTs of old are: transformers makes their tokenizer of vocab.txt."""
    source = write_bert(tmp_path / "source", vocabulary(TEXT), files=["vocab.txt"])
    (tmp_path / "copy").mkdir()
    copy_tokenizer(source, tmp_path / "copy")
    assert tokenizer_fingerprint(tmp_path / "copy") == tokenizer_fingerprint(source)
    places = extend(source, tmp_path / "out")
    after = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert after.get_vocab().items() >= places.items()
    (tmp_path / "out" / "tokenizer.json").unlink()
    again = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert again.get_vocab() == after.get_vocab(), "vocab.txt says the same as tokenizer.json"


@pytest.mark.parametrize("mode", ["vocab", "always"])
def test_ours(mode: str, folder: Path, tmp_path: Path):
    source = tmp_path / "source"
    source.mkdir()
    copy_tokenizer(folder, source)
    if mode == "always":
        _make_always(source)
    places = extend(source, tmp_path / "out", ["사과나무", "##습니다만"])
    before, after = load_tokenizer(source), load_tokenizer(tmp_path / "out")
    size = before.vocab_size
    assert list(places.values()) == [size, size + 1]
    assert after.get_vocab() == before.get_vocab() | places
    text = "지수는 시장에서 사과를 샀습니다"
    assert after.tokenize(text) == before.tokenize(text)
    assert after.tokenize("사과나무")[0].startswith("사과")
    old, new = (
        json.loads((path / "tokenizer.json").read_text()) for path in (source, tmp_path / "out")
    )
    assert old["version"] == new["version"], "a lock stays locked"


def _make_always(folder: Path) -> None:
    from kobert_kit.tokenizer.folder import write_tokenizer
    from kobert_kit.tokenizer.loading import native_tokenizer
    from kobert_kit.tokenizer.recipe import Recipe

    write_tokenizer(folder, native_tokenizer(folder), Recipe("always"))
