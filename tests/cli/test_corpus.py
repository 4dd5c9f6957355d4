"""`kobert-kit corpus` as it is typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kobert_kit.cli import main

TEXT = "도서관은 {n}시에 문을 엽니다. 열람실은 {n}층에 있고, 책은 {n}권까지 빌릴 수 있습니다."


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [TEXT.format(n=n * 7919) for n in range(4)]
    path = tmp_path / "notices.txt"
    path.write_text("\n\n".join([*rows, rows[3], "a & b <c>"]), encoding="utf-8")
    return path


def test_make_then_stats(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, page = tmp_path / "clean", tmp_path / "page.html"
    main(["corpus", str(source), "--no-near-duplicates", "--output", str(output)])
    said = capsys.readouterr().out
    assert "| notices |" in said and "dropped: duplicate 1" in said
    main(["corpus", "stats", str(output), "--html", str(page)])
    said = capsys.readouterr().out
    assert "| documents " in said and " 5 |" in said
    assert "| hangul " in said and "a & b <c>" in said
    html = page.read_text(encoding="utf-8")
    assert "a &amp; b &lt;c&gt;" in html and html.count("<svg") == 2
    for svg in html.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + svg.split("</svg>")[0] + "</svg>")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--preset", "blog"], "--preset blog: not one of news, wiki, comments, none"),
        (["--filter", "colour"], "--filter colour: not one of entities"),
        (["--shard", "3/2"], "--shard 3/2: not I/N"),
        (["--exclude-eval", "."], "--exclude-eval .: no .json"),
    ],
)
def test_wrong_options_are_usage_errors(
    options: list[str],
    message: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    output = tmp_path / "clean"
    with pytest.raises(SystemExit) as stopped:
        main(["corpus", str(source), "--output", str(output), *options])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_a_list_of_words_drops_documents_and_shows_which(source: Path, tmp_path: Path) -> None:
    words, output = tmp_path / "words.txt", tmp_path / "clean"
    words.write_text("열람실\n", encoding="utf-8")
    main(["corpus", str(source), "--profanity", str(words), "--output", str(output)])
    ledger = json.loads((output / "ledger.json").read_text(encoding="utf-8"))
    assert ledger["sources"]["notices"]["dropped"]["profanity"][0] == 5
    tally = ledger["filters"]["profanity"]
    assert tally["documents"] == 5 and "열람실은" in tally["examples"][0]


def test_kss_that_is_not_installed_is_named(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("kobert_kit.morphology.kss_sentences.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        main(["corpus", str(source), "--sentences", "kss", "--output", str(tmp_path / "clean")])
    assert stopped.value.code == 2
    assert "--sentences kss: kss is not installed; pip install kss" in capsys.readouterr().err


def test_stats_of_another_folder_is_a_data_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["corpus", "stats", str(tmp_path)])
    assert stopped.value.code == 1
    assert "not a finished corpus folder" in capsys.readouterr().err


def test_neither_the_command_nor_its_work_loads_torch(source: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from kobert_kit.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: assert not {'torch', 'transformers', 'kiwipiepy', 'pyarrow'} & set(sys.modules)\n"
    )
    arguments = ["corpus", str(source), "--output", str(tmp_path / "clean")]
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)


def test_a_page_that_cannot_be_written_is_a_usage_error(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["corpus", str(source), "--output", str(tmp_path / "clean")])
    for page in (tmp_path / "nowhere" / "page.html", source / "page.html"):
        with pytest.raises(SystemExit) as error:
            main(["corpus", "stats", str(tmp_path / "clean"), "--html", str(page)])
        assert error.value.code == 2
        assert f"--html {page}: cannot be written" in capsys.readouterr().err
