"""The whole path with a tokenizer that analyses: the model sees morphemes from end to end."""

from __future__ import annotations

from pathlib import Path

from klue_sample import RECORDS, write_split

import kobert_kit
from kobert_kit.finetune.model import open_model_folder
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.pretrain.prepared import open_shards
from kobert_kit.pretrain.run import pretrain
from kobert_kit.pretrain.settings import Machine, PretrainSettings
from kobert_kit.tasks.catalogue import TASKS
from kobert_kit.tasks.data import load_data
from kobert_kit.tokenizer.build import BuildSettings, build_vocab


def test_from_text_to_a_score(tmp_path: Path) -> None:
    corpus, vocab, model = tmp_path / "text.txt", tmp_path / "vocab", tmp_path / "model"
    lines = [f"달빛마을에서 {n}번째 공연이 열렸습니다. 시민들은 노래를 불렀다." for n in range(60)]
    corpus.write_text("\n\n".join(lines), encoding="utf-8")
    build_vocab([corpus], vocab, BuildSettings(520, mode="always"), workers=1)
    settings = PretrainSettings("tiny", steps=2, batch_size=4, length=32, held_out_share=0.1)
    seen: list[list[int]] = []

    def watch(_line: str) -> None:
        if not seen:  # the text is encoded by now, and not yet cleaned away
            seen.extend(shard.ids.tolist() for shard in open_shards(model / "prepared"))

    pretrain([corpus], vocab, model, settings, Machine(threads=1, workers=1), watch)
    tokenizer = kobert_kit.load_tokenizer(vocab)
    text = corpus.read_text(encoding="utf-8")
    assert seen == [tokenizer(text, add_special_tokens=False)["input_ids"]]

    for name, make in RECORDS.items():
        write_split(tmp_path / "klue_benchmark", name, "train", make(40))
        write_split(tmp_path / "klue_benchmark", name, "dev", make(10, start=1000))
    task, folder = TASKS["nli"], open_model_folder(model)
    dev = load_data(task, tmp_path / "klue_benchmark").dev
    rows = task.encode(dev, folder.tokenizer, 64)
    first = tokenizer(dev[0].text_a, dev[0].text_b)["input_ids"]
    assert rows.ids[: rows.offsets[1]].tolist() == first
    summary = finetune(
        task,
        model,
        tmp_path / "klue_benchmark",
        tmp_path / "klue",
        FinetuneSettings(epochs=1, max_length=64),
        [0],
        print,
        threads=1,
    )
    assert 0 <= summary["metrics"]["klue_nli_acc"]["mean"] <= 100
    again = kobert_kit.load_tokenizer(tmp_path / "klue" / "seed-0")
    assert type(again).__name__ == "MorphemeTokenizer"
    assert again(text)["input_ids"] == tokenizer(text)["input_ids"]
