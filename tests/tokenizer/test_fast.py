"""The tokenizers as transformers' users meet them, with and without the analyser."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import shutil
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from conftest import encoded, sentences
from contract import assert_lossless, noise
from real_text import cases, corpus_lines

import kobert_kit
from kobert_kit.errors import DataError
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.tokenizer import eojeols
from kobert_kit.tokenizer.exact import Spelling
from kobert_kit.tokenizer.loading import encode_plain, plain_tokenizer
from kobert_kit.tokenizer.recipe import read_recipe

TEXT = '지수는 "시장에서" 책을 찾았습니다. 할머니는 바닷가에서 편지를 받았습니다.'


def test_lossless_on_the_cases(either: Any) -> None:
    for case in cases():
        assert_lossless(case["text"], *encoded(either, case["text"]))


def test_lossless_on_noise(either: Any) -> None:
    for text in noise(1500):
        assert_lossless(text, *encoded(either, text))


def test_lossless_on_real_lines(either: Any) -> None:
    lines = list(corpus_lines(150))
    lines += [unicodedata.normalize("NFD", line) for line in lines]
    batch = either(lines, add_special_tokens=False, return_offsets_mapping=True)
    for text, ids, offsets in zip(lines, batch["input_ids"], batch["offset_mapping"], strict=True):
        assert_lossless(text, either.convert_ids_to_tokens(ids), offsets)


def test_no_token_crosses_a_morpheme(always: Path) -> None:
    tokenizer = kobert_kit.load_tokenizer(always)
    split = Splitter().split_eojeol
    for line in (*corpus_lines(40), *noise(200)):
        for eojeol in line.split():
            if Spelling(tokenizer.backend_tokenizer).cleaned(eojeol) != eojeol:
                continue  # the cuts are those of the normalised text
            cuts = set(split(eojeol))
            for start, end in encoded(tokenizer, eojeol)[1]:
                assert not cuts & set(range(start + 1, end)), eojeol


def test_decomposed_text_has_the_ids_and_its_own_offsets(either: Any) -> None:
    composed, decomposed = (unicodedata.normalize(form, TEXT) for form in ("NFC", "NFD"))
    tokens, offsets = encoded(either, decomposed)
    assert tokens == encoded(either, composed)[0]
    assert [unicodedata.normalize("NFC", decomposed[a:b]) for a, b in offsets] == [
        composed[a:b] for a, b in encoded(either, composed)[1]
    ]
    pair = either(TEXT, decomposed, return_offsets_mapping=True)
    spans = zip(pair["offset_mapping"], pair.sequence_ids(), pair.word_ids(), strict=True)
    second = [decomposed[a:b] for (a, b), sequence, word in spans if sequence == 1]
    assert second == [decomposed[a:b] for a, b in offsets]
    words = decomposed.split()
    split = either(words, is_split_into_words=True, return_offsets_mapping=True)
    rows = list(zip(split.word_ids(), split["offset_mapping"], strict=True))[1:-1]
    assert "".join(words[word][a:b] for word, (a, b) in rows) == "".join(words)
    place = decomposed.index(unicodedata.normalize("NFD", "찾"))
    token = either(decomposed).char_to_token(place + 1)
    assert either(decomposed).tokens()[token].removeprefix("##").startswith("찾")


def test_windows_are_slices_of_the_whole(either: Any) -> None:
    whole = either(TEXT * 3, add_special_tokens=False, return_offsets_mapping=True)
    windows = either(
        [TEXT, TEXT * 3],
        max_length=12,
        stride=4,
        truncation=True,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        padding=True,
    )
    mapping = windows["overflow_to_sample_mapping"]
    assert mapping == sorted(mapping) and set(mapping) == {0, 1}
    parts = [
        (ids[1 : sum(mask) - 1], offsets[1 : sum(mask) - 1])
        for ids, mask, offsets, sample in zip(
            windows["input_ids"],
            windows["attention_mask"],
            windows["offset_mapping"],
            mapping,
            strict=True,
        )
        if sample == 1
    ]
    for number, (ids, offsets) in enumerate(parts):
        start = number * 6  # 12 - [CLS] - [SEP] - 4
        assert ids == whole["input_ids"][start : start + 10]
        assert offsets == whole["offset_mapping"][start : start + 10]


def test_truncation_on_the_left_and_pairs(either: Any) -> None:
    whole = either(TEXT)["input_ids"]
    either.truncation_side = "left"
    try:
        assert either(TEXT, truncation=True, max_length=8)["input_ids"] == [2, *whole[-7:]]
    finally:
        either.truncation_side = "right"
    pair = either(TEXT, "책을", return_special_tokens_mask=True)
    assert pair["input_ids"] == whole + either("책을")["input_ids"][1:]
    assert pair["token_type_ids"] == [0] * len(whole) + [1] * (len(pair["input_ids"]) - len(whole))
    assert [i for i, one in enumerate(pair["special_tokens_mask"]) if one] == [
        0,
        len(whole) - 1,
        len(pair["input_ids"]) - 1,
    ]


def test_words_are_eojeols_and_morphemes_are_numbered(always: Path) -> None:
    tokenizer = kobert_kit.load_tokenizer(always)
    encoding = tokenizer('지수는 "책을" 찾았습니다', "책", return_morpheme_ids=True)
    assert encoding.tokens()[1:-3] == [
        *("지수", "##는", '"', "##책", "##을", '##"', "찾", "##았", "##습니다"),
    ]
    assert encoding.word_ids() == [None, 0, 0, 1, 1, 1, 1, 2, 2, 2, None, 0, None]
    assert encoding["morpheme_ids"] == [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, 0, -1]
    words = tokenizer(["책을", "찾았습니다"], is_split_into_words=True, return_morpheme_ids=True)
    assert words.word_ids() == [None, 0, 0, 1, 1, 1, None]
    assert words["morpheme_ids"] == [-1, 0, 1, 2, 3, 4, -1]
    # 바닷가 and 에서 are morphemes, whatever the vocabulary makes of them.
    long = tokenizer("쌀밥바닷가에서", return_morpheme_ids=True)
    assert long["morpheme_ids"] == [*sorted(long["morpheme_ids"][:-1]), -1]


def test_morpheme_ids_without_the_analyser_in_the_tokenizer(folder: Path) -> None:
    tokenizer = kobert_kit.load_tokenizer(folder)
    found = tokenizer("찾았습니다", return_morpheme_ids=True, padding="max_length", max_length=7)
    assert found["morpheme_ids"] == [-1, 0, 1, 2, -1, -1, -1]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("##책을", ["#", "#", "##책", "##을"]),  # not the entry ##책
        ("### 책", ["#", "#", "#", "책"]),
        ("#책", ["#", "##책"]),
        ("책##", ["책", "#", "#"]),
        ("책#책", ["책", "#", "##책"]),
    ],
)
def test_number_signs_are_text(either: Any, text: str, tokens: list[str]) -> None:
    assert either.tokenize(text) == tokens


def test_added_tokens(either: Any) -> None:
    tokenizer = copy.deepcopy(either)
    tokenizer.add_tokens(["<이름>"])
    assert "<이름>" in tokenizer.tokenize("지수는<이름>을 찾았습니다")
    assert tokenizer.tokenize("[MASK]는")[0] == "[MASK]"


def test_copies_encode_alike(either: Any, tmp_path: Path) -> None:
    expected = either(TEXT)["input_ids"]
    either.save_pretrained(tmp_path)
    for twin in (
        copy.deepcopy(either),
        pickle.loads(pickle.dumps(either)),
        type(either).from_pretrained(tmp_path),
        kobert_kit.load_tokenizer(tmp_path),
    ):
        assert type(twin) is type(either) and twin(TEXT)["input_ids"] == expected


def _ids(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text)["input_ids"]
    return ids


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(always: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    tokenizer = kobert_kit.load_tokenizer(always)
    expected = [_ids(tokenizer, text) for text in sentences()[:8]]
    # Not through a function of this file, which a spawned child may not find.
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(tokenizer, sentences()[:8])
    assert [encoding["input_ids"] for encoding in found] == expected


def test_datasets_map(always: Path, tmp_path: Path) -> None:
    from datasets import Dataset
    from datasets.fingerprint import Hasher

    tokenizer = kobert_kit.load_tokenizer(always)
    before = Hasher.hash(tokenizer)
    rows = Dataset.from_dict({"text": sentences()[:20]})
    mapped = rows.map(lambda batch: tokenizer(batch["text"]), batched=True, num_proc=2)
    assert mapped["input_ids"][:] == [_ids(tokenizer, text) for text in sentences()[:20]]
    assert Hasher.hash(tokenizer) == before  # or the library's cache would never be found again


def test_threads(always: Path) -> None:
    tokenizer = kobert_kit.load_tokenizer(always)
    lines = sentences()
    expected = [_ids(tokenizer, line) for line in lines]
    found: dict[int, list[list[int]]] = {}

    def work(number: int) -> None:
        found[number] = [_ids(tokenizer, line) for line in lines]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(4)] == [expected] * 4


def test_plain_encoding_is_the_same(either: Any) -> None:
    plain = plain_tokenizer(Path(either.name_or_path))
    lines = [*sentences()[:20], "책" * 300, "학교뷁에서 😀책을"]
    for text, encoding in zip(lines, encode_plain(plain, lines), strict=True):
        assert encoding.ids == either(text, add_special_tokens=False)["input_ids"]


LOAD = """
import sys
{imports}
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
print(type(tokenizer).__name__, tokenizer(sys.argv[2])["input_ids"])
"""


@pytest.mark.parametrize("with_model_config", [False, True])
def test_auto_tokenizer_with_and_without_kobert_kit(
    always: Path, tmp_path: Path, with_model_config: bool
) -> None:
    home = tmp_path / "model"
    shutil.copytree(always, home)
    if with_model_config:
        (home / "config.json").write_text('{"model_type": "bert", "vocab_size": 470}')
    for first in ("import kobert_kit", "import transformers, kobert_kit", ""):
        outcome = subprocess.run(
            [sys.executable, "-c", LOAD.format(imports=first), str(home), TEXT],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        if first:
            ids = kobert_kit.load_tokenizer(always)(TEXT)["input_ids"]
            assert outcome.stdout.strip() == f"MorphemeTokenizer {ids}", outcome.stderr
        else:
            assert outcome.returncode != 0
            assert "pip install kobert-kit" in outcome.stderr.splitlines()[-1]


def test_another_kiwi_is_refused(always: Path, tmp_path: Path) -> None:
    home = tmp_path / "model"
    shutil.copytree(always, home)
    path = home / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["kobert_kit"]["versions"]["kiwipiepy"] = "0.1.2"
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(DataError, match=r"tokenizer_config\.json was changed"):
        kobert_kit.load_tokenizer(home)
    (home / "kobert_kit.json").unlink()  # as in a model folder, or one that was downloaded
    with pytest.raises(DataError, match=r"0\.1\.2.*pip install kiwipiepy==0\.1\.2"):
        kobert_kit.load_tokenizer(home)
    config["kobert_kit"]["mode"] = "sometimes"
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(DataError, match=r"'sometimes' is unknown.*vocab and always"):
        kobert_kit.load_tokenizer(home)


@pytest.mark.parametrize(
    "name",
    [
        *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"),
        "eojeols.txt",
    ],
)
def test_a_missing_or_edited_file_is_named(always: Path, tmp_path: Path, name: str) -> None:
    home = tmp_path / "copy"
    shutil.copytree(always, home)
    with (home / name).open("a", encoding="utf-8") as stream:
        stream.write(" ")
    with pytest.raises(DataError, match=f"{name} was changed"):
        kobert_kit.load_tokenizer(home)
    (home / name).unlink()
    with pytest.raises(DataError, match=name):
        kobert_kit.load_tokenizer(home)


def test_what_is_not_text_is_named(either: Any) -> None:
    with pytest.raises(TypeError, match="row 1: text is NoneType"):
        either(["책", None])
    with pytest.raises(TypeError, match="row 0: text is bytes, not str; decode"):
        either([b"\xec\xb1\x85", "책"])
    with pytest.raises(TypeError, match="row 1: text is float"):
        either(["책", "책"], ["책", 1.5])
    with pytest.raises(ValueError, match=r"2.*1"):
        either(["책", "책"], ["책"])
    with pytest.raises(ValueError, match=r"stride=6.*4 tokens"):
        either(TEXT, max_length=6, stride=6, truncation=True, return_overflowing_tokens=True)


def test_a_stride_too_long_for_what_a_pair_leaves(either: Any) -> None:
    first = either(TEXT, add_special_tokens=False)["input_ids"]
    options = {"max_length": len(first) + 3 + 4, "return_overflowing_tokens": True}
    for stride, strategy in ((4, "only_second"), (9, "only_second"), (len(first), "longest_first")):
        with pytest.raises(ValueError, match=rf"stride={stride}: must be smaller than the \d+ tok"):
            either(TEXT, TEXT, stride=stride, truncation=strategy, **options)
    found = either(TEXT, TEXT, stride=3, truncation="only_second", **options)
    assert len(found["input_ids"]) == len(first) - 3
    # Nothing is cut, so no window has to advance.
    assert either(TEXT, stride=9, max_length=6, truncation=False) == either(TEXT)


def test_running_text_is_whole_whatever_was_cut_before_saving(either: Any, tmp_path: Path) -> None:
    either("책", truncation=True, max_length=6, padding="max_length")
    either.save_pretrained(tmp_path)
    found = encode_plain(plain_tokenizer(tmp_path), [TEXT, "책"])
    assert [one.ids for one in found] == [either.encode(text)[1:-1] for text in (TEXT, "책")]


@pytest.mark.parametrize("length", range(98, 103))
@pytest.mark.parametrize("before", ["", "#", "##", "책"])
def test_a_run_as_long_as_wordpiece_takes(either: Any, before: str, length: int) -> None:
    text = before + "책" * length + "을"
    tokens, offsets = encoded(either, text)
    assert "[UNK]" not in tokens
    assert_lossless(text, tokens, offsets)


@pytest.mark.parametrize("edit", [None, "책 을\n"])
def test_a_model_folder_without_its_known_eojeols_is_refused(
    always: Path, tmp_path: Path, edit: str | None
) -> None:
    """No record there says what its files were."""
    from transformers import AutoTokenizer

    kobert_kit.load_tokenizer(always).save_pretrained(tmp_path)
    (tmp_path / "eojeols.txt").unlink()
    if edit:
        (tmp_path / "eojeols.txt").write_text(edit, encoding="utf-8")
    for load in (kobert_kit.load_tokenizer, AutoTokenizer.from_pretrained, plain_tokenizer):
        with pytest.raises(DataError, match=r"eojeols\.txt is missing or was changed"):
            load(tmp_path)


def test_the_recipe_travels_with_the_model(always: Path, tmp_path: Path) -> None:
    kobert_kit.load_tokenizer(always).save_pretrained(tmp_path)
    assert read_recipe(tmp_path) == read_recipe(always)
    assert read_recipe(always).kiwi.known_eojeols


def test_decoding_gives_the_text_back(either: Any) -> None:
    for text in ("(지수는) \"시장에서\" 책을 '샀습니다'...", *sentences()[:40]):
        assert "[UNK]" not in either.tokenize(text)
        assert either.decode(either(text, add_special_tokens=False)["input_ids"]) == text


def test_an_empty_text(either: Any) -> None:
    for text in ("", "  \n\t "):
        assert either(text)["input_ids"] == [2, 3]


def test_long_runs(either: Any) -> None:
    text = "보통" * 20_000
    tokens, offsets = encoded(either, text)
    assert_lossless(text, tokens, offsets)


@pytest.mark.parametrize("limit", ["MAX_MET", "MAX_SHARED", "MAX_MET_CHARS"])
def test_forgetting_changes_nothing(
    always: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    lines = sentences()[:40]
    expected = kobert_kit.load_tokenizer(always)(lines)["input_ids"]
    monkeypatch.setattr(eojeols, limit, 3)
    assert kobert_kit.load_tokenizer(always)(lines)["input_ids"] == expected
