"""extend-vocab: old ids and answers stay, new morphemes are one token, numbers are true."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from foreign_bert import vocabulary, write_bert
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM, AutoTokenizer

from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.holdout import is_held_out
from kobert_kit.corpus.reading import read_documents
from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.model import open_model_folder
from kobert_kit.morphology.splitter import EOJEOL, Splitter
from kobert_kit.pretrain.extend import ExtendReport, ExtendSettings, extend_vocab
from kobert_kit.pretrain.initial import load_initial
from kobert_kit.pretrain.run import Machine, PretrainSettings, pretrain
from kobert_kit.tokenizer.build import BuildSettings, build_vocab

GENERAL = ["고양이는 공원에서 쉬었다.", "강아지가 시장에 갔다.", "할머니는 도서관에서 책을 읽었다."]
TERMS = ("특허권", "손해배상", "피고인", "계약금", "변호사", "판결문", "가처분", "뷁어")
DEEDS = ("확인했다", "검토했다", "기각했다")
SETTINGS = ExtendSettings(tokens=10, held_out_share=0.2, min_frequency=3)
KINDS = ("foreign", "ours", "always")

Extended = tuple[Path, Path, ExtendReport]  # the model's folder, the extended one, the report
Extend = Callable[[str], Extended]


def domain() -> list[str]:
    return [
        f"{place}에서 {term}을 {deed}, {term}은 {other}와 (주){term}이다."
        for place in ("법원", "시장", "공원")
        for term in TERMS
        for other in TERMS[:4]
        for deed in DEEDS
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("domain") / "law.txt"
    path.write_text("\n\n".join(domain()))
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    general = root / "general.txt"
    known = [text.replace("뷁", "") for text in domain()]
    general.write_text("\n\n".join(GENERAL * 20 + known))
    entries = vocabulary("".join(GENERAL + known), ["고양이", "시장", "##에서", "##했"])
    models = {"foreign": write_bert(root / "foreign", entries)}
    settings = PretrainSettings("tiny", steps=2, batch_size=4, length=32, held_out_share=0.1)
    for kind, mode in (("ours", "vocab"), ("always", "always")):
        tokenizer = root / f"{kind}-vocab"
        # The terms are rarer than this, so that they are no entries.
        sizes = BuildSettings(480, min_frequency=150, mode=mode, unused=4)
        build_vocab([general], tokenizer, sizes, workers=1)
        models[kind] = root / kind
        pretrain([general], tokenizer, models[kind], settings, Machine(1, 1), lambda _: None)
    return models


@pytest.fixture(scope="module")
def extend(models, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Extend:
    root, done = tmp_path_factory.mktemp("extended"), {}

    def once(kind: str) -> Extended:
        if kind not in done:
            source, output = models[kind], root / kind
            report = extend_vocab([corpus], str(source), output, SETTINGS, workers=1)
            done[kind] = (source, output, report)
        return done[kind]

    return once


@pytest.fixture(params=KINDS)
def extended(request: pytest.FixtureRequest, extend: Extend) -> Extended:
    return extend(request.param)


def vocabulary_of(folder: Path) -> dict[str, int]:
    return json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]


def test_old_entries_keep_their_ids_and_slots_are_filled_first(extended: Extended):
    source, output, report = extended
    old, new = vocabulary_of(source), vocabulary_of(output)
    slots = [f"[unused{number}]" for number in range(4)]
    assert {entry: new[entry] for entry in old if entry not in slots} == {
        entry: number for entry, number in old.items() if entry not in slots
    }
    assert set(new) == set(old) - set(slots) | set(report.added)
    places = list(report.added.values())
    assert len(places) == SETTINGS.tokens and report.slots == 4
    assert places == [*(old[slot] for slot in slots), *range(len(old), len(old) + 6)]
    by_line = (output / "vocab.txt").read_text().split("\n")
    assert all(by_line[number] == entry for entry, number in new.items())


def test_what_was_added_are_morphemes_of_the_text_that_were_several_tokens(extended: Extended):
    source, output, report = extended
    before, after = (AutoTokenizer.from_pretrained(folder) for folder in (source, output))
    eojeols = {eojeol for text in domain() for eojeol in EOJEOL.findall(text)}
    morphemes = {
        eojeol[piece.start : piece.end] for eojeol in eojeols for piece in Splitter().split(eojeol)
    }
    for entry in report.added:
        morpheme = entry.removeprefix("##")
        assert morpheme in morphemes or morpheme == "뷁", "ours isolates an unknown character"
        context = "고" if entry.startswith("##") else ""  # which no entry continues
        tokens = after.tokenize(context + morpheme)
        assert tokens[-1] == entry and len(tokens) == (2 if context else 1)
        assert len(before.tokenize(context + morpheme)) > len(tokens) or (
            "[UNK]" in before.tokenize(context + morpheme)
        )
    text = "법원에서 손해배상을 검토했다"
    assert len(after.tokenize(text)) < len(before.tokenize(text))


def test_embeddings_start_from_their_pieces_and_old_logits_stay(extended: Extended):
    source, output, report = extended
    before, after = (
        AutoModelForMaskedLM.from_pretrained(folder).eval() for folder in (source, output)
    )
    tokenizer = AutoTokenizer.from_pretrained(source)
    old, new = (model.get_input_embeddings().weight for model in (before, after))
    biases = [model.cls.predictions.bias for model in (before, after)]
    for entry, number in report.added.items():
        context = "고" if entry.startswith("##") else ""
        ids = tokenizer(context + entry.removeprefix("##"), add_special_tokens=False)["input_ids"]
        pieces = [tokenizer.unk_token_id] if tokenizer.unk_token_id in ids else ids[len(context) :]
        assert torch.allclose(new[number], old[pieces].mean(0), atol=1e-6), entry
        assert biases[1][number] == biases[0][pieces].min()
    kept = [n for n in vocabulary_of(source).values() if n not in report.added.values()]
    ids = torch.tensor([[*tokenizer("고양이는 시장에서")["input_ids"], kept[-1], kept[-2]]])
    with torch.inference_mode():
        logits = [model(ids).logits[..., kept] for model in (before, after)]
    assert torch.allclose(*logits, atol=1e-5)
    assert after.cls.predictions.decoder.weight is after.get_input_embeddings().weight


def test_before_and_after_are_counted_on_what_was_held_out(extended: Extended, corpus: Path):
    source, output, report = extended
    texts = [
        document.text
        for document in read_documents([corpus], ReadReport())
        if is_held_out(document, SETTINGS.held_out_share)
    ]
    eojeols = sum(len(EOJEOL.findall(text)) for text in texts)
    for folder, said in ((source, report.before), (output, report.after)):
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokens = [token for text in texts for token in tokenizer.tokenize(text)]
        assert said.eojeols == eojeols > 100
        assert said.tokens_per_eojeol == pytest.approx(len(tokens) / eojeols)
        assert said.unknown_share == pytest.approx(tokens.count("[UNK]") / len(tokens))
    assert report.after.tokens_per_eojeol < report.before.tokens_per_eojeol
    assert report.after.unknown_share < report.before.unknown_share


def test_the_result_goes_on_as_any_model_folder_does(extended: Extended):
    _, output, report = extended
    record = json.loads((output / "kobert_kit.json").read_text())
    assert record["stage"] == "extend-vocab" and record["results"]["added"] == report.added
    assert record["inputs"].keys() == {"corpus", "model"}
    folder = open_model_folder(output)  # as `klue --model` does
    assert len(folder.tokenizer) == report.vocab_size
    initial = load_initial(str(output))
    assert initial.model.config.vocab_size >= report.vocab_size
    (output / "tokenizer.json").write_text((output / "tokenizer.json").read_text() + "\n")
    try:
        with pytest.raises(DataError, match=r"tokenizer\.json is not the one"):
            open_model_folder(output)
    finally:
        (output / "tokenizer.json").write_text((output / "tokenizer.json").read_text()[:-1])


def test_it_loads_where_kobert_kit_is_not(extend: Extend, tmp_path: Path):
    program = (
        "import sys; from transformers import AutoModelForMaskedLM, AutoTokenizer\n"
        "for folder in sys.argv[1:]:\n"
        "    model, loading = AutoModelForMaskedLM.from_pretrained(\n"
        "        folder, output_loading_info=True)\n"
        "    assert not any(loading.values())\n"
        "    tokenizer = AutoTokenizer.from_pretrained(folder)\n"
        "    batch = tokenizer('손해배상을 [MASK]', return_tensors='pt')\n"
        "    assert model(**batch).logits.shape[-1] >= len(tokenizer)\n"
        "    assert not any('kobert' in name for name in sys.modules)\n"
        "    print(*tokenizer.tokenize('손해배상'))\n"
    )
    folders = [str(extend(kind)[1]) for kind in KINDS]
    done = subprocess.run(
        [sys.executable, "-c", program, *folders], capture_output=True, text=True, cwd=tmp_path
    )
    foreign, ours = (line.split() for line in done.stdout.splitlines())
    assert 0 < len(foreign) < len("손해배상") and 0 < len(ours) < len("손해배상")
    assert "import kobert_kit" in done.stderr, "mode always needs the analyser, and says so"


def test_the_same_on_every_run(extend: Extend, corpus: Path, tmp_path: Path):
    source, one, report = extend("ours")
    two = tmp_path / "two"
    for tokens, workers in ((3, 1), (SETTINGS.tokens, 2)):  # the second over a finished folder
        settings = ExtendSettings(tokens, 0.2, 3)
        again = extend_vocab([corpus], str(source), two, settings, workers=workers)
    assert again.added == report.added
    for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json", "config.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    first, second = (load_file(folder / "model.safetensors") for folder in (one, two))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert {path.name for path in two.iterdir()} == {
        *("config.json", "kobert_kit.json", "model.safetensors", "special_tokens_map.json"),
        *("tokenizer.json", "tokenizer_config.json", "vocab.txt"),
    }, "nothing else is left behind"


@pytest.mark.parametrize("there", [".extend-vocab.unfinished", "tokenizer.json", "config.json"])
def test_a_killed_extension_is_not_gone_on_from_and_the_same_call_makes_it_whole(
    there: str, extend: Extend, corpus: Path, tmp_path: Path
):
    source, whole, _ = extend("foreign")
    output = tmp_path / "out"
    program = (
        "import sys; from pathlib import Path\n"
        "from kobert_kit.pretrain.extend import ExtendSettings, extend_vocab\n"
        "if __name__ == '__main__':\n"
        "    corpus, model, output = sys.argv[1:]\n"
        "    settings = ExtendSettings(tokens=10, held_out_share=0.2, min_frequency=3)\n"
        "    extend_vocab([Path(corpus)], model, Path(output), settings, workers=1)\n"
    )
    (tmp_path / "run.py").write_text(program)
    command = [sys.executable, str(tmp_path / "run.py"), str(corpus), str(source), str(output)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (output / there).exists():
        time.sleep(0.001)
    process.kill()
    assert process.wait() in (0, -signal.SIGKILL)
    if not (output / "kobert_kit.json").exists():
        with pytest.raises(DataError, match=r"(unfinished; run the same|no config\.json)"):
            load_initial(str(output))
    extend_vocab([corpus], str(source), output, SETTINGS, workers=1)
    for path in whole.iterdir():
        if path.name != "kobert_kit.json":
            assert path.read_bytes() == (output / path.name).read_bytes(), path.name
    assert {path.name for path in output.iterdir()} == {path.name for path in whole.iterdir()}


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_file_a_kill_has_cut_the_same_call_makes_it_whole(
    kind: str, extend: Extend, corpus: Path, tmp_path: Path
):
    source, whole, _ = extend(kind)
    names = sorted(path.name for path in whole.iterdir() if path.name != "kobert_kit.json")
    for cut in names:
        output = tmp_path / cut
        shutil.copytree(whole, output)
        (output / "kobert_kit.json").rename(output / ".extend-vocab.unfinished")
        content = (output / cut).read_bytes()
        (output / cut).write_bytes(content[: len(content) // 2])
        extend_vocab([corpus], str(source), output, SETTINGS, workers=1)
        for name in names:
            assert (whole / name).read_bytes() == (output / name).read_bytes(), (cut, name)


def test_a_folder_extended_from_another_model_before_keeps_nothing_of_it(
    extend: Extend, corpus: Path, tmp_path: Path
):
    """Mode "always" has files that others lack, and what is left of them would be read."""
    source, once, _ = extend("foreign")
    bare, output = tmp_path / "bare", tmp_path / "out"
    shutil.copytree(source, bare)
    for name in ("vocab.txt", "special_tokens_map.json"):
        (bare / name).unlink(missing_ok=True)
    shutil.copytree(extend("always")[1], output)
    extend_vocab([corpus], str(bare), output, SETTINGS, workers=1)
    kept = {path.name for path in once.iterdir()} - {"vocab.txt", "special_tokens_map.json"}
    assert {path.name for path in output.iterdir()} == kept
    for name in kept - {"kobert_kit.json"}:
        assert (once / name).read_bytes() == (output / name).read_bytes(), name


def test_all_else_of_the_tokenizer_stays(extended: Extended):
    source, output, _ = extended
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if (source / name).exists():
            assert (source / name).read_bytes() == (output / name).read_bytes()
    old, new = (json.loads((f / "tokenizer.json").read_text()) for f in (source, output))
    for values in (old, new):
        del values["model"]["vocab"]
    assert old == new


def test_what_cannot_be_right(models, corpus: Path, tmp_path: Path):
    output, source = tmp_path / "out", str(models["foreign"])
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    strange = tmp_path / "strange.txt"
    strange.write_text("고양이 시장")

    def fails(error, message, paths=(corpus,), model=source, output=output, settings=SETTINGS):
        with pytest.raises(error, match=message):
            extend_vocab(list(paths), model, output, settings, workers=1)

    fails(UsageError, "--tokens 0: at least 1", settings=ExtendSettings(tokens=0))
    fails(UsageError, "no such file", paths=[tmp_path / "none.txt"])
    fails(DataError, "no documents in the corpus", paths=[empty])
    fails(DataError, "no morpheme occurs 3 times", paths=[strange])
    fails(DataError, "no such folder", model=str(tmp_path / "none"))
    fails(DataError, r"no config\.json", model=str(tmp_path))
    fails(UsageError, "the model's own folder", output=Path(source))
    fails(UsageError, r"holds something else \(thesis\.txt", output=_thesis(tmp_path / "mine"))
    assert not output.exists() and [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    fails(UsageError, "holds something else", output=models["ours"])


def _thesis(folder: Path) -> Path:
    folder.mkdir()
    (folder / "thesis.txt").write_text("소중한 글")
    return folder


def test_the_command_reports(models, corpus: Path, tmp_path: Path):
    run = [sys.executable, "-m", "kobert_kit", "extend-vocab", str(corpus)]
    run += ["--model", str(models["foreign"]), "--output", str(tmp_path / "out"), "--workers", "1"]
    done = subprocess.run([*run, "--tokens", "0"], capture_output=True, text=True)
    assert done.returncode == 2 and "--tokens" in done.stderr
    done = subprocess.run(
        [*run, "--tokens", "10", "--held-out", "0.2"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "10 entries added: 4 in unused slots, 6 in new rows" in done.stdout
    assert "| tokens per eojeol" in done.stdout and "before" in done.stdout
