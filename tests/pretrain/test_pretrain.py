"""Pretraining as a user meets it: kills, reruns, wrong folders, and what loads elsewhere."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from foreign_bert import vocabulary, write_bert

from kobert_kit.errors import DataError, UsageError
from kobert_kit.pretrain.run import pretrain
from kobert_kit.pretrain.settings import Machine, PretrainSettings
from kobert_kit.tokenizer.build import BuildSettings, build_vocab
from kobert_kit.tokenizer.loading import file_digests

SETTINGS = PretrainSettings("tiny", steps=24, batch_size=4, length=32, held_out_share=0.1)
MACHINE = Machine(threads=1, workers=1)
SUBJECTS = ("고양이", "강아지", "할머니", "선생님", "요리사", "기자", "사진가", "농부")
PLACES = ("시장", "공원", "도서관", "바닷가", "역 앞", "학교", "카페", "박물관")
ENDINGS = ("갔다", "쉬었다", "친구를 만났다", "사진을 찍었다", "점심을 먹었다", "책을 읽었다")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(0)
    sentences = [
        f"{rng.choice(SUBJECTS)}는 {rng.choice(PLACES)}에서 {rng.choice(ENDINGS)}."
        for _ in range(1200)
    ]
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text("\n\n".join("\n".join(sentences[i : i + 8]) for i in range(0, 1200, 8)))
    return path


@pytest.fixture(scope="module")
def tokenizer(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocab") / "vocab"
    build_vocab([corpus], folder, BuildSettings(600), workers=1)
    return folder


@pytest.fixture(scope="module")
def model(corpus: Path, tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "model"
    pretrain([corpus], tokenizer, folder, SETTINGS, MACHINE, lambda _: None)
    return folder


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def command(corpus: Path, tokenizer: Path, output: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "kobert_kit", "pretrain", str(corpus)),
        *("--tokenizer", str(tokenizer), "--output", str(output), "--preset", "tiny"),
        *("--steps", "24", "--batch-size", "4", "--length", "32", "--held-out", "0.1"),
        *("--threads", "1", "--workers", "1", *more),
    ]


def test_the_folder_explains_itself(model: Path, tokenizer: Path):
    record = json.loads((model / "kobert_kit.json").read_text())
    assert record["stage"] == "pretrain" and record["seed"] == 0 and record["seconds"] > 0
    assert {"torch", "transformers", "kiwipiepy", "kobert-kit"} <= record["versions"].keys()
    assert record["settings"]["learning_rate"] > 0
    assert set(record["inputs"]) == {"corpus", "tokenizer"}
    assert record["results"]["steps"] == 24
    rows = [json.loads(line) for line in (model / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["evaluation_loss"] == record["results"]["evaluation_loss"]
    assert {path.name for path in model.iterdir()} == {
        *("config.json", "model.safetensors", "kobert_kit.json", "plan.json", "metrics.jsonl"),
        *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"),
    }, "nothing else is left behind"


def test_the_model_answers_in_a_process_without_kobert_kit(model: Path, tmp_path: Path):
    program = (
        "import sys; from transformers import pipeline, AutoModelForMaskedLM\n"
        "fill = pipeline('fill-mask', sys.argv[1])\n"
        "answers = fill('고양이는 공원에서 [MASK].')\n"
        "assert len(answers) == 5 and all(0 <= a['score'] <= 1 for a in answers)\n"
        "assert not any('kobert' in name for name in sys.modules)\n"
        "print(type(fill.model).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(model)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "BertForMaskedLM", done.stderr


def test_what_was_never_seen_starts_from_what_was(model: Path):
    """Pretraining sees segment A and the first positions; fine-tuning on pairs wants the rest."""
    saved = weights(model)
    types = saved["bert.embeddings.token_type_embeddings.weight"]
    places = saved["bert.embeddings.position_embeddings.weight"]
    assert torch.equal(types[0], types[1]) and types[0].std() > 0
    for start in range(SETTINGS.length, len(places), SETTINGS.length):
        assert torch.equal(places[start : start + SETTINGS.length], places[: SETTINGS.length])
    assert len(places[: SETTINGS.length].unique(dim=0)) == SETTINGS.length


def test_evaluation_is_that_of_the_saved_model(model: Path, corpus: Path, tokenizer: Path):
    """The reported loss, computed again from the saved folder by the library's own head."""
    from transformers import AutoModelForMaskedLM

    from kobert_kit.pretrain.encode import EncodeSettings, encode_corpus
    from kobert_kit.pretrain.prepared import open_shards
    from kobert_kit.pretrain.run import build_objective
    from kobert_kit.tokenizer.subject import open_subject

    work = model.parent / "again"
    encode_corpus([corpus], work, EncodeSettings(tokenizer, workers=1), "")
    objective = build_objective(open_shards(work), open_subject(str(tokenizer)), SETTINGS)
    bert = AutoModelForMaskedLM.from_pretrained(model).eval()
    total, count = 0.0, 0
    with torch.inference_mode():
        for batch in objective.evaluation_batches:
            labels = torch.full_like(batch.input_ids, -100)
            labels.view(-1)[batch.positions] = batch.labels
            loss = bert(batch.input_ids, attention_mask=batch.attention_mask, labels=labels).loss
            total, count = total + loss.item() * batch.weight, count + batch.weight
    reported = json.loads((model / "kobert_kit.json").read_text())["results"]["evaluation_loss"]
    assert total / count == pytest.approx(reported, abs=1e-4)


def curve(folder: Path) -> list[dict[str, float]]:
    """metrics.jsonl without what depends on the clock."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {k: v for k, v in row.items() if k not in ("seconds", "tokens_per_second")} for row in rows
    ]


def test_twenty_kills_change_nothing(corpus: Path, tokenizer: Path, tmp_path: Path):
    """At any moment, many inside the writing of a checkpoint, in both phases of length, and with
    another number of data workers each time. A run that ends before it is killed is looked at, and
    the next one begun."""
    rng = random.Random(0)
    options = [*("--steps", "500", "--long-length", "48", "--long-share", "0.4"), "--save-minutes"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run([*command(corpus, tokenizer, whole), *options, "60"], check=True)
    kills, last = 0, ""
    while kills < 20:
        if (cut / "kobert_kit.json").exists():
            assert_same(cut, whole)
            cut, last = cut.with_name(f"{cut.name}-on"), ""
        workers = ["--data-workers", str(rng.choice([0, 1, 3]))]
        run = [*command(corpus, tokenizer, cut), *options, "0", *workers]
        process = subprocess.Popen(run, stderr=subprocess.DEVNULL)
        while process.poll() is None and newest_checkpoint(cut) <= last:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.12))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        assert process.returncode in (0, -signal.SIGKILL)
        last = newest_checkpoint(cut)
    subprocess.run([*command(corpus, tokenizer, cut), *options, "60"], check=True)
    assert_same(cut, whole)


def assert_same(one: Path, other: Path) -> None:
    ours, theirs = weights(one), weights(other)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert curve(one) == curve(other)


def newest_checkpoint(folder: Path) -> str:
    return max((path.name for path in (folder / "checkpoints").glob("step-*")), default="")


def test_the_same_command_on_a_finished_run_does_nothing(
    model: Path, corpus: Path, tokenizer: Path
):
    before = (model / "model.safetensors").stat().st_mtime_ns
    said: list[str] = []
    pretrain([corpus], tokenizer, model, SETTINGS, MACHINE, said.append)
    assert "finished already" in said[0]
    assert (model / "model.safetensors").stat().st_mtime_ns == before
    other = PretrainSettings("tiny", steps=25, batch_size=4, length=32, held_out_share=0.1)
    with pytest.raises(UsageError, match="begun with --steps 24, now run with --steps 25"):
        pretrain([corpus], tokenizer, model, other, MACHINE, said.append)


def test_another_kiwi_is_refused(corpus: Path, tokenizer: Path, tmp_path: Path):
    import shutil

    other = tmp_path / "vocab"
    shutil.copytree(tokenizer, other)
    config = json.loads((other / "tokenizer_config.json").read_text())
    config["kobert_kit"]["versions"]["kiwipiepy"] = "0.1.0"
    (other / "tokenizer_config.json").write_text(json.dumps(config))
    record = json.loads((other / "kobert_kit.json").read_text())
    record["results"]["files"] = file_digests(other)
    (other / "kobert_kit.json").write_text(json.dumps(record))
    with pytest.raises(DataError, match=r"made with kiwipiepy 0\.1\.0"):
        pretrain([corpus], other, tmp_path / "model", SETTINGS, MACHINE, print)
    assert not (tmp_path / "model").exists()


def test_folders_that_are_something_else(corpus: Path, tokenizer: Path, tmp_path: Path):
    with pytest.raises(DataError, match="not a finished tokenizer folder"):
        pretrain([corpus], tmp_path, tmp_path / "model", SETTINGS, MACHINE, print)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("소중한 글")
    with pytest.raises(UsageError, match=r"--output .*holds something else \(thesis.txt"):
        pretrain([corpus], tokenizer, tmp_path / "mine", SETTINGS, MACHINE, print)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_special_tokens_in_the_corpus_are_text(tokenizer: Path, tmp_path: Path):
    from kobert_kit.pretrain.encode import EncodeSettings, encode_corpus
    from kobert_kit.pretrain.prepared import open_shards

    path = tmp_path / "literal.txt"
    path.write_text("[MASK]는 글자다 [CLS] [SEP] [PAD]")
    encode_corpus([path], tmp_path / "work", EncodeSettings(tokenizer, workers=1), "")
    (shard,) = open_shards(tmp_path / "work")
    special = {0, 2, 3, 4}  # [PAD] [CLS] [SEP] [MASK]; [UNK] is allowed
    assert len(shard.ids) > 8 and not special & set(shard.ids.tolist())


@pytest.mark.parametrize(
    "options, message",
    [
        (["--steps", "5", "--minutes", "1"], "--steps or --minutes"),
        (["--length", "4"], "--length 4"),
        (["--long-share", "0.5"], "--long-share 0.5: needs --long-length"),
        (["--mask-ratio", "1.5"], "--mask-ratio"),
        (["--steps", "5", "--fsdp"], "start several with torchrun"),
    ],
)
def test_usage_errors_exit_with_2(options, message, corpus, tokenizer, tmp_path):
    run = [*command(corpus, tokenizer, tmp_path / "model"), *options]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "model").exists()


def test_without_a_compiler_it_is_said_and_the_run_goes_on_without(
    model: Path, corpus: Path, tokenizer: Path, tmp_path: Path
):
    bare = {name: value for name, value in os.environ.items() if name not in ("PATH", "CXX")}
    bare |= {"PATH": str(tmp_path), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    run = command(corpus, tokenizer, tmp_path / "model")
    done = subprocess.run([*run, "--compile"], capture_output=True, text=True, env=bare)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert "or leave --compile out" in done.stderr
    pretrain([corpus], tokenizer, tmp_path / "model", SETTINGS, MACHINE, print)
    ours, theirs = weights(tmp_path / "model"), weights(model)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize("share, warned", [(0.0, False), (1e-9, True)])
def test_a_run_without_evaluation_is_warned_of_unless_it_was_asked_for(
    share: float, warned: bool, corpus: Path, tokenizer: Path, tmp_path: Path, caplog
):
    settings = replace(SETTINGS, steps=1, mask_unit="eojeol", held_out_share=share)
    pretrain([corpus], tokenizer, tmp_path / "model", settings, MACHINE, print)
    assert ("no document fell into the held-out slice" in caplog.text) == warned
    results = json.loads((tmp_path / "model" / "kobert_kit.json").read_text())["results"]
    assert "evaluation_loss" not in results and results["steps"] == 1


def test_going_on_from_a_model_of_ours(model: Path, corpus: Path, tmp_path: Path):
    settings = replace(SETTINGS, steps=3, init_from=str(model), learning_rate=1e-9)
    pretrain([corpus], None, tmp_path / "on", settings, MACHINE, print)
    before, after = weights(model), weights(tmp_path / "on")
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)
    record = json.loads((tmp_path / "on" / "kobert_kit.json").read_text())
    assert record["settings"]["init_from"] == str(model) and "layers" not in record["settings"]
    assert set(record["inputs"]) == {"corpus", "tokenizer", "model"}
    finished = json.loads((model / "kobert_kit.json").read_text())["results"]
    assert record["results"]["evaluation_loss"] == pytest.approx(
        finished["evaluation_loss"], abs=1e-4
    )


def test_a_model_is_the_same_under_another_name(
    model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said: list[str] = []
    monkeypatch.chdir(model.parent)
    for name in (model.name, f"./{model.name}/", str(model)):
        settings = replace(SETTINGS, steps=2, init_from=name)
        pretrain([corpus], None, tmp_path / "on", settings, MACHINE, said.append)
    assert said[-1] == said[-2] == f"{tmp_path / 'on'} is finished already; nothing to do"


def test_what_a_kill_after_the_end_left_behind_goes(model: Path, corpus: Path, tokenizer: Path):
    (model / "checkpoints" / "step-000000024").mkdir(parents=True)
    pretrain([corpus], tokenizer, model, SETTINGS, MACHINE, print)
    assert not (model / "checkpoints").exists()


def test_going_on_from_a_foreign_bert(corpus: Path, tmp_path: Path):
    """Its own special tokens and unused slots, and segment B as it was."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    text = corpus.read_text(encoding="utf-8")
    foreign = write_bert(tmp_path / "foreign", vocabulary(text), files=["vocab.txt"])
    settings = replace(SETTINGS, steps=3, init_from=str(foreign), length=16)
    pretrain([corpus], None, tmp_path / "on", settings, MACHINE, print)
    before, after = (AutoTokenizer.from_pretrained(path) for path in (foreign, tmp_path / "on"))
    assert before.get_vocab() == after.get_vocab()
    assert before(text[:50])["input_ids"] == after(text[:50])["input_ids"]
    old, new = (
        AutoModelForMaskedLM.from_pretrained(path).bert.embeddings.token_type_embeddings.weight
        for path in (foreign, tmp_path / "on")
    )
    assert torch.allclose(old[1], new[1], atol=1e-4) and not torch.equal(new[0], new[1])


def test_what_to_start_from_must_be_clear(
    model: Path, corpus: Path, tokenizer: Path, tmp_path: Path
):
    both = replace(SETTINGS, init_from=str(model))
    for folder, settings in ((tokenizer, both), (None, SETTINGS)):
        with pytest.raises(UsageError, match="--tokenizer for a new model, or --init-from"):
            pretrain([corpus], folder, tmp_path / "model", settings, MACHINE, print)
    with pytest.raises(DataError, match=r"no config\.json"):
        settings = replace(both, init_from=str(tokenizer))
        pretrain([corpus], None, tmp_path / "model", settings, MACHINE, print)
    assert not (tmp_path / "model").exists()


def torchrun(run: list[str]) -> list[str]:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return [*launch, *run[1:]]


def workers_of(launcher: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(launcher)], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def wait_for_checkpoint(output: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 600  # on a busy machine starting takes minutes
    while not newest_checkpoint(output):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "sig, more", [(signal.SIGKILL, []), (signal.SIGTERM, []), (signal.SIGTERM, ["--fsdp"])]
)
def test_a_lost_rank_or_a_signal_ends_the_job_and_one_process_can_finish_it(
    sig: signal.Signals, more: list[str], corpus: Path, tokenizer: Path, tmp_path: Path
):
    """SIGKILL of one rank, as the system does when memory runs out; SIGTERM of the whole job."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    steps = ["--steps", "400"]
    run = torchrun([*command(corpus, tokenizer, cut), *steps, "--save-minutes", "0.01", *more])
    process = subprocess.Popen(run, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_checkpoint(cut, process)
    target = workers_of(process.pid)[1] if sig == signal.SIGKILL else process.pid
    os.kill(target, sig)
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "Traceback" not in errors.partition("torch/distributed")[0]
    # torchrun ends a rank that is left, which may come before it has said why it ends by itself.
    lost = ("has died", "continues or starts again")
    expected = lost if sig == signal.SIGKILL else ("The same command continues",)
    assert any(words in errors for words in expected), errors
    for output in (whole, cut):  # the rest alone, with the same global batch
        subprocess.run([*command(corpus, tokenizer, output), *steps], check=True)
    # Sums in another order: the curves agree at first, and drift apart after that.
    losses = [
        [row["loss"] for row in curve(output) if "loss" in row][:2] for output in (cut, whole)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=2e-3)
    assert curve(cut)[-1]["tokens"] == curve(whole)[-1]["tokens"], "the same global batches"


def test_a_rank_that_is_lost_while_the_corpus_is_encoded_ends_the_job(
    tokenizer: Path, tmp_path: Path
):
    text, output = tmp_path / "text.txt", tmp_path / "model"
    text.write_text("가나다라마바사" * 100_000)  # minutes of work
    run = torchrun(command(text, tokenizer, output))
    process = subprocess.Popen(run, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (output / "prepared").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "Traceback" not in errors.partition("torch/distributed")[0]
    assert "has died" in errors or "continues or starts again" in errors


@pytest.mark.parametrize("more", [[], ["--fsdp"], ["--fsdp", "--accumulation", "2"]])
def test_two_processes_train_as_one_does(
    more: list[str], model: Path, corpus: Path, tokenizer: Path, tmp_path: Path
):
    run = torchrun([*command(corpus, tokenizer, tmp_path / "model"), *more])
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = ("sequences of", "24 steps", "held out: loss", "model: ")
    assert [done.stdout.count(words) for words in told] == [1] * 4, "only rank 0 speaks"
    ours, whole = weights(tmp_path / "model"), weights(model)
    for name in whole:
        assert torch.allclose(ours[name], whole[name], atol=1e-4), name
    results = [
        json.loads((folder / "kobert_kit.json").read_text())["results"]
        for folder in (tmp_path / "model", model)
    ]
    losses = [result["evaluation_loss"] for result in results]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    assert results[0]["tokens"] == results[1]["tokens"], "the global batch is the same"
