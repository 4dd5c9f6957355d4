"""build-vocab as a job: the same every time, light, and clear about what it cannot do."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from kobert_kit.cli.build_vocab import build_vocab as command
from kobert_kit.corpus.documents import Document
from kobert_kit.errors import DataError, UsageError
from kobert_kit.morphology.kiwi import KiwiSettings
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.morphology.workers import splitting
from kobert_kit.tokenizer.analysis import Analysis, analyse_eojeols
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
from kobert_kit.tokenizer.counting import count_eojeols

ARTEFACT = ["vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]

RUN = """
import sys
from pathlib import Path
from kobert_kit.tokenizer import analysis
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
settings = BuildSettings(470, held_out_share=0.1)
analysis.ENOUGH_EOJEOLS = int((sys.argv[4:] or [analysis.ENOUGH_EOJEOLS])[0])
build_vocab([Path(sys.argv[1])], Path(sys.argv[2]), settings, workers=int(sys.argv[3]))
print([name for name in ("torch", "transformers", "datasets") if name in sys.modules])
"""


def test_the_same_bytes_whatever_the_hash_seed_and_the_workers(
    corpus: Path, folder: Path, tmp_path: Path
) -> None:
    for seed, workers in (("0", 2), ("1", 3)):
        outcome = subprocess.run(
            [sys.executable, "-c", RUN, str(corpus), str(tmp_path / seed), str(workers)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for name in ARTEFACT:
            assert (tmp_path / seed / name).read_bytes() == (folder / name).read_bytes()
        assert outcome.stdout.strip() == "[]"  # nothing heavy was imported


def test_the_same_bytes_where_not_all_is_analysed(corpus: Path, tmp_path: Path) -> None:
    for seed, workers in (("0", 1), ("1", 3)):
        subprocess.run(
            [sys.executable, "-c", RUN, str(corpus), str(tmp_path / seed), str(workers), "10"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    for name in ARTEFACT:
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()


def test_of_many_eojeols_rare_ones_follow_their_relatives(
    corpus: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.ENOUGH_EOJEOLS", 10)
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.CHUNK_EOJEOLS", 7)
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.CHUNKS_AHEAD", 3)
    settings = BuildSettings(470, held_out_share=0.1)
    vocabularies = []
    for workers in (1, 2):
        report = build_vocab([corpus], tmp_path / f"{workers}", settings, workers=workers)
        assert report.forgotten == 0  # nothing is left out
        text = (tmp_path / f"{workers}" / "vocab.txt").read_text(encoding="utf-8")
        vocabularies.append(set(text.splitlines()))
    analysed = set((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
    assert vocabularies[0] == vocabularies[1]
    assert len(vocabularies[0] & analysed) > 0.95 * len(analysed)


def test_every_eojeol_is_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.ENOUGH_EOJEOLS", 10)
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.CHUNK_EOJEOLS", 3)
    eojeols = {"학교에": 5, "도서관에서는": 4, "학교에서는": 1, "먹었습니다.": 1, "보았습니다": 2}
    eojeols |= {f"{number}번째": 1 for number in range(20)}
    split = Splitter().split_eojeol
    with splitting(KiwiSettings(), 2) as pool:
        analysis = Analysis(pool)
        analysis.begin({"학교에": 4, "먹었습니다.": 1, "잊힌": 9})
        analysis.begin({"학교에": 5, "도서관에서는": 4, "먹었습니다.": 1, "잊힌": 9})
        cuts = list(analysis.finish(eojeols))
        everything = list(analyse_eojeols(pool, list(eojeols)))
    assert sorted(eojeol for eojeol, _ in cuts) == sorted(eojeols)
    assert dict(cuts) == {eojeol: split(eojeol) for eojeol in eojeols}
    assert sorted(everything) == sorted(cuts)


def test_a_rare_eojeol_that_was_analysed_has_relatives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.ENOUGH_EOJEOLS", 2)
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.CHUNK_EOJEOLS", 1)
    monkeypatch.setattr("kobert_kit.tokenizer.analysis.CHUNKS_AHEAD", 0)
    common = {"학교가": 9, "학교에서": 8}
    found = []
    with splitting(KiwiSettings(), 1) as pool:
        for rare in (["전문가"], ["전문에서", "전문가"]):
            found.append(dict(Analysis(pool).finish(common | dict.fromkeys(rare, 1))))
    assert found[0]["전문가"] == ()  # as Kiwi has it
    assert found[1]["전문가"] == found[1]["전문에서"] == (2,)


def test_vocabulary_smaller_than_the_alphabet(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--vocab-size 100\b.*alphabet.*\d{3} entries"):
        build_vocab([corpus], tmp_path / "out", BuildSettings(100))
    assert not (tmp_path / "out" / "kobert_kit.json").exists()
    assert not (tmp_path / "out" / "tokenizer.json").exists()


def test_fewer_entries_where_the_text_yields_no_more(corpus: Path, tmp_path: Path) -> None:
    arguments = [str(corpus), "--vocab-size", "5000", "--output", str(tmp_path), "--workers", "1"]
    outcome = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert outcome.exit_code == 0
    size = len((tmp_path / "vocab.txt").read_text(encoding="utf-8").splitlines())
    assert size < 5000
    assert f"only {size:,} of the 5,000" in outcome.output
    assert "tokens per eojeol" in outcome.output and "221 documents" in outcome.output


def test_somebody_elses_folder_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        build_vocab([corpus], tmp_path, BuildSettings(470))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_empty_corpus(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(DataError, match=r"empty\.txt"):
        build_vocab([tmp_path / "empty.txt"], tmp_path / "out", BuildSettings(470))
    with pytest.raises(UsageError, match="missing"):
        build_vocab([tmp_path / "missing"], tmp_path / "out", BuildSettings(470))


def test_everything_held_out(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("한 문장뿐인 글이다.")
    with pytest.raises(DataError, match="--held-out"):
        build_vocab([tmp_path / "one.txt"], tmp_path / "out", BuildSettings(470, held_out_share=1))


def test_a_stopped_build_is_unfinished_and_can_be_rerun(
    corpus: Path, folder: Path, tmp_path: Path
) -> None:
    output, large = tmp_path / "out", tmp_path / "large.txt"
    syllables = [chr(code) for code in range(ord("가"), ord("힣"), 300)]
    large.write_text("\n".join(map("".join, permutations(syllables, 3))), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(large), str(output), "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Ignored in what a shell runs in the background, and inherited so.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (output / ".tokenizer.unfinished").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(0.5)  # into the analysis, which takes longer than that
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors
    assert not (output / "kobert_kit.json").exists()
    build_vocab([corpus], output, BuildSettings(470, held_out_share=0.1), workers=1)
    assert (output / "vocab.txt").read_bytes() == (folder / "vocab.txt").read_bytes()
    assert not (output / ".tokenizer.unfinished").exists()


def test_building_again_into_the_same_folder(corpus: Path, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "out")
    build_vocab([corpus], tmp_path / "out", BuildSettings(460, held_out_share=0.1), workers=1)
    record = json.loads((tmp_path / "out" / "kobert_kit.json").read_text(encoding="utf-8"))
    assert record["results"]["vocab_size"] == 460


def documents() -> Iterator[Document]:
    for number in range(200):
        yield Document(str(number), f"학교에 학교에 학교에 하나{number}")


def test_counting_forgets_the_rarest_to_bound_memory() -> None:
    everything = count_eojeols(documents(), 0.0)
    assert everything.train["학교에"] == 600 and len(everything.train) == 201
    assert everything.forgotten == 0
    bounded = count_eojeols(documents(), 0.0, max_distinct=50)
    assert bounded.train["학교에"] == 600 and len(bounded.train) <= 50
    assert bounded.forgotten >= 1


def test_counting_keeps_the_held_out_apart() -> None:
    counts = count_eojeols(documents(), 0.3)
    assert counts.train.total() + counts.held_out.total() == 800
    numbered = {word for word in counts.held_out if word.startswith("하나")}
    assert 20 < len(numbered) < 100 and not numbered & set(counts.train)


@pytest.mark.parametrize("token", ["[MASK]", "[unused3]", "가", " ", " [USER]"])
def test_a_special_token_that_cannot_be_one(corpus: Path, tmp_path: Path, token: str) -> None:
    arguments = [str(corpus), "--special-token", token, "--output", str(tmp_path / "out")]
    outcome = CliRunner().invoke(command, arguments)
    assert outcome.exit_code == 2 and "--special-token" in outcome.output
    assert not (tmp_path / "out").exists()
