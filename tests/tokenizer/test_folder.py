"""The folder as its users meet it: what it holds, how it encodes, and that it loads anywhere."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from conftest import sentences
from contract import assert_lossless
from real_text import cases, corpus_lines
from tokenizers import Tokenizer

from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KiwiSettings, kiwi_versions
from kobert_kit.records import read_record
from kobert_kit.tokenizer.boundaries import BoundaryMarker
from kobert_kit.tokenizer.loading import (
    copy_tokenizer,
    encode_plain,
    load_tokenizer,
    plain_tokenizer,
    tokenizer_fingerprint,
)
from kobert_kit.tokenizer.recipe import Recipe, read_recipe


def tokens(folder: Path, text: str) -> list[str]:
    return encode_plain(plain_tokenizer(folder), [text])[0].tokens


def test_special_tokens_come_first(folder: Path) -> None:
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert vocabulary[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert len(vocabulary) == len(set(vocabulary)) == 470
    ids = plain_tokenizer(folder).get_vocab()
    assert [ids[entry] for entry in vocabulary] == list(range(470))
    assert {*"aZ09", "##a", "##Z", "##9", "[", "."} <= set(vocabulary)


def test_endings_and_particles_are_single_tokens(folder: Path) -> None:
    assert tokens(folder, "지수는 시장에서 책을 찾았습니다.") == [
        "지수",
        "##는",
        "시장",
        "##에서",
        "책",
        "##을",
        "찾",
        "##았",
        "##습니다",
        "##.",
    ]


def test_an_unknown_character_costs_itself_only(folder: Path) -> None:
    assert tokens(folder, "학교뷁에서 😀책을") == [
        "학교",
        "[UNK]",
        "에",
        "##서",
        "[UNK]",
        "책",
        "##을",
    ]


def test_special_literals_in_running_text_are_text(folder: Path) -> None:
    found = tokens(folder, "[MASK]는 글자")
    assert "[MASK]" not in found and found[0] == "[" and "[UNK]" not in found
    assert load_tokenizer(folder).tokenize("[MASK]는")[0] == "[MASK]"


def test_decomposed_text_has_the_ids_of_the_composed(folder: Path) -> None:
    text = "할머니는 바닷가에서 편지를 받았습니다."
    assert tokens(folder, unicodedata.normalize("NFD", text)) == tokens(folder, text)
    assert tokens(folder, "챙겼거든요\u1172\u1172") == tokens(folder, "챙겼거든요ㅠㅠ")
    assert "[UNK]" not in tokens(folder, "ㅋㅋ ㅠㅠ")


def test_long_runs(folder: Path) -> None:
    for text in ("책" * 300, "책" * 100_000):
        encoding = encode_plain(plain_tokenizer(folder), [text])[0]
        assert "[UNK]" not in encoding.tokens
        assert "".join(text[start:end] for start, end in encoding.offsets) == text


def test_lone_surrogates_do_not_crash(folder: Path) -> None:
    encoding = encode_plain(plain_tokenizer(folder), ["책\ud800을 \udfff"])[0]
    assert encoding.offsets == [(0, 1), (1, 2), (2, 3), (4, 5)]


def test_tokens_are_lossless_on_real_lines(folder: Path) -> None:
    lines = [*(case["text"] for case in cases()), *corpus_lines(1500)]
    tokenizer = plain_tokenizer(folder)
    for text, encoding in zip(lines, encode_plain(tokenizer, lines), strict=True):
        assert_lossless(text, encoding.tokens, encoding.offsets)


LOAD = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
lines = json.load(sys.stdin)
pair = tokenizer("책을", "샀다", padding="max_length", max_length=9)
print(json.dumps({
    "ids": tokenizer(lines)["input_ids"],
    "pair": pair["token_type_ids"],
    "keys": sorted(pair),
    "length": tokenizer.model_max_length,
    "special": [tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id,
                tokenizer.sep_token_id, tokenizer.mask_token_id],
    "ours": [name for name in sys.modules if name.startswith("kobert_kit")],
}))
"""


@pytest.mark.parametrize("with_model_config", [False, True])
def test_auto_tokenizer_in_a_fresh_process(
    folder: Path, tmp_path: Path, with_model_config: bool
) -> None:
    copy_tokenizer(folder, tmp_path)
    if with_model_config:  # beside a BERT, transformers prefers its own BertTokenizer
        (tmp_path / "config.json").write_text('{"model_type": "bert", "vocab_size": 470}')
    lines = [
        *sentences(),
        "BERT Bert bert ÀÉ É",
        "재밌다ㅋㅋ ㅠㅠ \u110f\u110f",
        "大韓民國은 [MASK]",
        "",
        "책" * 300,
    ]
    outcome = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path)],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found = json.loads(outcome.stdout)
    raw = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert found["ids"] == [encoding.ids for encoding in raw.encode_batch(lines)]
    assert found["pair"] == [0, 0, 0, 0, 1, 1, 1, 0, 0]
    assert found["keys"] == ["attention_mask", "input_ids", "token_type_ids"]
    assert found["length"] == 512 and found["special"] == [0, 1, 2, 3, 4]
    assert found["ours"] == []


def test_loading_gives_the_same_ids(folder: Path) -> None:
    loaded = load_tokenizer(folder)
    for text in sentences()[:20]:
        plain = encode_plain(plain_tokenizer(folder), [text])[0]
        assert loaded(text)["input_ids"] == [2, *plain.ids, 3]


def test_boundaries(folder: Path) -> None:
    text = "지수는 시장에서 찾았습니다. 뷁을"
    encoding = encode_plain(plain_tokenizer(folder), [text])[0]
    marked = BoundaryMarker().mark(text, encoding.offsets)
    assert marked.shape == (len(encoding.ids),)
    assert marked.all()  # here every token is a morpheme
    inside = BoundaryMarker().mark("찾았습니다", [(0, 2), (2, 3), (3, 5)])
    assert inside.tolist() == [True, True, False]  # 찾 | 았 | 습니다
    decomposed = unicodedata.normalize("NFD", "밥을")
    assert BoundaryMarker().mark(decomposed, [(0, 3), (3, 6)]).tolist() == [True, True]
    assert BoundaryMarker().mark("", []).tolist() == []


def test_the_fingerprint_is_that_of_the_tokenizer(folder: Path, tmp_path: Path) -> None:
    copy_tokenizer(folder, tmp_path)
    assert tokenizer_fingerprint(tmp_path) == tokenizer_fingerprint(folder)
    with (tmp_path / "tokenizer.json").open("a") as stream:
        stream.write(" ")
    assert tokenizer_fingerprint(tmp_path) != tokenizer_fingerprint(folder)


@pytest.mark.parametrize("content", [None, "", "{}", "not json"])
def test_what_is_no_tokenizer(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(DataError, match=r"tokenizer\.json"):
        plain_tokenizer(tmp_path)
    with pytest.raises(DataError, match=r"tokenizer\.json"):
        load_tokenizer(tmp_path)


def test_the_record_explains_the_folder(folder: Path) -> None:
    record = read_record(folder, "tokenizer")
    assert record.settings["vocab_size"] == 470
    assert read_recipe(folder) == Recipe("vocab", KiwiSettings("merge"), kiwi_versions())
    assert kiwi_versions().items() <= record.versions.items()
    assert len(record.inputs["corpus"]) == 32
    assert record.results["reading"]["documents"] == 221
    assert 1 < record.results["held_out"]["tokens_per_eojeol"] < 4
