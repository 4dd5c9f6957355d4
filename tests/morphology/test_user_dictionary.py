"""Words of the user's own: they count, they travel, and a bad line is named."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner

import kobert_kit
from kobert_kit.cli.build_vocab import build_vocab as command
from kobert_kit.errors import DataError, UsageError
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.morphology.user_dictionary import read_user_dictionary
from kobert_kit.tokenizer.recipe import read_recipe

WORDS = "# 우리 제품\n\n달빛구름이\tNNP\t3.0\n그랬엌\t그랬어/IC\t-1\n"
TEXT = "달빛구름이를 샀다"


def surfaces(text: str, words: str) -> list[str]:
    pieces = Splitter(KiwiSettings(user_dictionary=words)).split(text)
    return [text[piece.start : piece.end] for piece in pieces]


def test_a_word_of_the_users_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\ufeff" + WORDS.splitlines()[2] + "\r\n", encoding="utf-8")
    words = read_user_dictionary(path)
    assert surfaces(TEXT, "")[0] != "달빛구름이"
    assert surfaces(TEXT, words)[:2] == ["달빛구름이", "를"]
    splitter = pickle.loads(pickle.dumps(Splitter(KiwiSettings(user_dictionary=words))))
    assert splitter.split_eojeol("달빛구름이를") == (5,)


def test_a_forked_child_can_have_another_dictionary() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    for number in range(3):
        surfaces(TEXT, f"달빛{number}\tNNP\n")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(surfaces, (TEXT, "달빛구름이\tNNP\t3"))
        assert found.get(timeout=60)[:2] == ["달빛구름이", "를"]


@pytest.mark.parametrize(
    ("lines", "place", "complaint"),
    [
        (["달빛\tNNP", "구름이"], 2, "separated by tabs"),
        (["달빛\tNNP", "", "구름이\tNNX"], 3, "NNX"),
        (["달빛\tNNP\t높음"], 1, "'높음' is not a number"),
        (["달빛\tNNP\t1", "구름이\tNNP\tnan"], 2, "'nan' is not a number"),
        (["달빛\tNNP\tinf"], 1, "'inf' is not a number"),
        (["달빛\tNNP\t1_0"], 1, "'1_0' is not a number"),
        (["달빛\tNNP\t1\t2"], 1, "separated by tabs"),
        (["\tNNP"], 1, "separated by tabs"),
        (["달빛\tNNP", "달빛엌\t달빛어마/EF\t0"], 2, "달빛어마/EF"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, lines: list[str], place: int, complaint: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=complaint) as caught:
        read_user_dictionary(path)
    assert str(caught.value).startswith(f"{path}:{place}: ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--user-dict .*none\.txt"):
        read_user_dictionary(tmp_path / "none.txt")
    (tmp_path / "cp949.txt").write_bytes("가\tNNP\n달빛\tNNP".encode("cp949"))
    with pytest.raises(DataError, match=r"cp949\.txt:1: not UTF-8"):
        read_user_dictionary(tmp_path / "cp949.txt")


def test_it_is_kept_in_the_tokenizer_folder(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("달빛구름이\tNNP\t3\n", encoding="utf-8")
    documents = [f"달빛구름이를 {n}번 보았다. 구름이 달빛을 가렸다." for n in range(40)]
    rows = (json.dumps({"text": text}, ensure_ascii=False) for text in documents)
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    arguments = [str(tmp_path / "corpus.jsonl"), "--vocab-size", "500", "--workers", "1"]
    arguments += ["--mode", "always", "--user-dict", str(tmp_path / "words.txt")]
    outcome = CliRunner().invoke(command, [*arguments, "--output", str(tmp_path / "vocab")])
    assert outcome.exit_code == 0, outcome.output
    (tmp_path / "words.txt").unlink()
    assert "달빛구름이" in read_recipe(tmp_path / "vocab").kiwi.user_dictionary
    tokenizer = kobert_kit.load_tokenizer(tmp_path / "vocab")
    assert tokenizer.tokenize(TEXT)[:2] == ["달빛구름이", "##를"]
    tokenizer.save_pretrained(tmp_path / "copy")
    assert kobert_kit.load_tokenizer(tmp_path / "copy").tokenize(TEXT)[:2] == [
        "달빛구름이",
        "##를",
    ]
