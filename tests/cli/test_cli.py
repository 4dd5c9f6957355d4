"""The command line: quick help, exit codes, and one line for everything that goes wrong."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kobert_kit.cli import COMMANDS, main
from kobert_kit.console import counted


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kobert_kit", *arguments], capture_output=True, text=True, **options
    )


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_reads_like_documentation_and_imports_nothing_heavy(arguments):
    program = (
        "import sys\nfrom kobert_kit.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit as e: assert not e.code\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'kiwipiepy', 'datasets', 'numpy',"
        " 'pyarrow', 'accelerate'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Usage: kobert-kit" in done.stdout
    if arguments == ["--help"]:
        assert all(name in done.stdout for name in COMMANDS)
    else:
        assert "Example" in done.stdout


def test_a_command_that_does_not_exist():
    done = run("pretrian")
    assert done.returncode == 2 and "pretrian" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--preset", "huge"),
        ("--length", "4"),
        ("--batch-size", "0"),
        ("--vocab-size", "2"),
        ("--seconds", "0"),
        ("--threads", "0"),
        ("--mixed-precision", "fp8"),
    ],
)
def test_a_bench_of_nothing_is_a_usage_error(options: tuple[str, str], capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", *options])
    assert stopped.value.code == 2 and options[0] in capsys.readouterr().err


def test_a_missing_corpus_is_named(tmp_path: Path):
    done = run("build-vocab", str(tmp_path / "none.txt"), "--output", str(tmp_path / "vocab"))
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and "none.txt" in done.stderr
    assert not (tmp_path / "vocab").exists()


def test_an_empty_corpus_is_a_data_error(tmp_path: Path):
    (tmp_path / "empty.txt").write_text(" \n\n")
    done = run("build-vocab", str(tmp_path / "empty.txt"), "--output", str(tmp_path / "vocab"))
    assert done.returncode == 1
    assert "error: " in done.stderr and "empty.txt" in done.stderr
    assert not (tmp_path / "vocab").exists(), "nothing is left behind"


def test_a_full_disk_is_one_line_and_no_folder_that_looks_whole(tmp_path: Path):
    """A limit on the size of files fails a write as a full disk does.

    Byte code is not written: Python takes half of a file for the whole of it from then on.
    """
    without = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    corpus = tmp_path / "text.txt"
    corpus.write_text("고양이가 햇볕 아래에서 낮잠을 잔다.\n\n" * 300)

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    vocab = tmp_path / "vocab"
    build = ("build-vocab", str(corpus), "--vocab-size", "500", "--workers", "1")
    encode = ("prepare", str(corpus), "--tokenizer", str(vocab), "--workers", "1")
    for arguments, output in ((build, vocab), (encode, tmp_path / "prepared")):
        done = run(*arguments, "--output", str(output), env=without, preexec_fn=limit_file_size)
        assert done.returncode == 1 and "the disk is full" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        assert not (output / "kobert_kit.json").exists()
        done = run(*arguments, "--output", str(output))
        assert done.returncode == 0, "the same command works once there is space"


@pytest.mark.parametrize(
    "much", [("--batch-size", "1000000000"), ("--preset", "large", "--vocab-size", "20000000")]
)
def test_too_little_memory_is_one_line(much: tuple[str, ...]):
    """Whether numpy says so or PyTorch."""

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (16_000_000_000, 16_000_000_000))

    done = run("bench", *much, "--threads", "1", preexec_fn=limit_memory)
    assert done.returncode == 1 and "memory ran out" in done.stderr, done.stderr
    assert "a smaller --batch-size" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "absurd, named",
    [
        (("--threads", "0"), "--threads"),
        (("--threads", "1000000"), "--threads"),
        (("--seconds", "0"), "--seconds"),
        (("--length", "513"), "--length"),
        (("--preset", "huge"), "--preset"),
    ],
)
def test_absurd_options_of_bench(absurd: tuple[str, str], named: str):
    done = run("bench", *absurd)
    assert done.returncode == 2 and named in done.stderr and "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli-vocab")
    (folder / "text.txt").write_text("고양이가 햇볕 아래에서 낮잠을 잔다.\n\n" * 30)
    made = run("build-vocab", str(folder / "text.txt"), "--output", str(folder / "vocab"))
    assert made.returncode == 0, made.stderr
    return folder / "vocab"


@pytest.mark.parametrize("to_group", [False, True])
@pytest.mark.parametrize("command", ["prepare", "pretrain", "build-vocab"])
def test_a_scheduler_ends_text_work_at_once_with_a_word_on_what_to_do(
    command: str, to_group: bool, vocab: Path, tmp_path: Path
):
    """SIGTERM to the command, or to it and its workers."""
    (tmp_path / "text.txt").write_text("가나다라마바사" * 100_000)  # minutes of work
    options = {
        "prepare": ["--tokenizer", str(vocab)],
        "pretrain": ["--tokenizer", str(vocab), "--preset", "tiny", "--steps", "9"],
        "build-vocab": [],
    }[command]
    arguments = [command, str(tmp_path / "text.txt"), "--workers", "2", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "kobert_kit", *arguments, "--output", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not children_of(process.pid):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(1)
    (os.killpg if to_group else os.kill)(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert "the same command continues or starts again" in errors
    assert "Traceback" not in errors and "died" not in errors
    deadline = time.monotonic() + 30
    with pytest.raises(ProcessLookupError):  # no worker is left
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)
            time.sleep(0.1)


def test_a_worker_that_is_only_beginning_is_ended_without_a_word():
    program = (
        "import os, signal\nfrom kobert_kit.cli import _termination_raised\n"
        "with _termination_raised():\n"
        "    if not (child := os.fork()):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == [str(128 + signal.SIGTERM)] and not done.stderr


def test_an_end_of_file_that_nobody_expected_is_not_taken_for_a_stop(
    monkeypatch: pytest.MonkeyPatch,
):
    """As Python raises it for byte code that a full disk has cut."""

    def cut(*_: object, **__: object) -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr("kobert_kit.cli.bench.bench.callback", cut)
    with pytest.raises(EOFError, match="marshal"):
        main(["bench"])


def children_of(number: int) -> list[str]:
    found = subprocess.run(["pgrep", "-P", str(number)], capture_output=True, text=True)
    return found.stdout.split()


@pytest.mark.parametrize(
    "arguments",
    [
        ["corpus", "stats", "gone", "--html"],
        ["inspect", "text.txt", "--tokenizer", "gone", "--html"],
        ["klue", "--model", "gone", "--predict", "text.txt", "--output"],
        ["prepare", "text.txt", "--tokenizer", "gone", "--output", "out", "--export-arrow"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_file_that_cannot_be_written_is_named_before_the_work(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """What the work would begin with is not there, and would be named first."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("글이다.", encoding="utf-8")
    Path("folder").mkdir()
    Path("locked").mkdir(mode=0o500)
    targets = ["folder", "text.txt/page", "folder/" + "가" * 90]
    if os.geteuid():
        targets.append("locked/page")
    if arguments[-1] == "--html":
        targets.append("nowhere/page")
    for target in targets:
        with pytest.raises(SystemExit) as stopped:
            main([*arguments, target])
        assert stopped.value.code == 2
        (said,) = capsys.readouterr().err.strip().splitlines()
        assert f"{arguments[-1]} {target}" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "locked", "text.txt"]
    assert not any(Path("folder").iterdir())


def test_one_of_a_thing_is_not_several() -> None:
    counts = [counted(number, "shard") for number in (0, 1, 2, 1_000)]
    assert counts == ["0 shards", "1 shard", "2 shards", "1,000 shards"]
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(4_000, "entry", "entries") == "4,000 entries"
