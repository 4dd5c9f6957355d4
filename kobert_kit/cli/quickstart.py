"""``kobert-kit quickstart``: the whole path, on the sample."""

from __future__ import annotations

import time
from pathlib import Path

import click

# Sizes at which two CPU cores need a few minutes and the sample's small world is learnt.
VOCAB_SIZE = 6_000
STEPS = 3_000
EPOCHS = {"nli": 8, "ynat": 10}


@click.command("quickstart")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("quickstart"),
    show_default=True,
    help="Folder for the tokenizer, the model and the fine-tuned models.",
)
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads; default: PyTorch's.")
def quickstart(output: Path, threads: int | None) -> None:
    """Run the whole path on the sample that comes with the project.

    Builds a vocabulary, pretrains the `tiny` BERT, and fine-tunes it on natural language
    inference and topic classification, once with the pretrained weights and once from scratch.
    Takes three to ten minutes on two CPU cores, needs no network, and ends with a table of what
    pretraining gave. The sample is an invented world: the scores show that the path works, and
    are not KLUE scores.

    A run that was stopped is continued by the same command.

    \b
    Example:
      kobert-kit quickstart --output quickstart
    """
    from kobert_kit.corpus.sample import sample_folder
    from kobert_kit.finetune.baseline import majority
    from kobert_kit.finetune.run import FinetuneSettings, finetune
    from kobert_kit.pretrain.run import pretrain
    from kobert_kit.pretrain.settings import Machine, PretrainSettings
    from kobert_kit.report.klue import Row, compare, headline, write_confusion_tables
    from kobert_kit.tasks.catalogue import get_task
    from kobert_kit.tokenizer.build import BuildSettings, build_vocab

    started = time.monotonic()
    sample = sample_folder()
    corpus, benchmark = [sample / "documents.jsonl.xz"], sample / "klue_benchmark"

    _headline(1, "vocabulary")
    build_vocab(corpus, output / "vocab", BuildSettings(VOCAB_SIZE), say=click.echo)
    _headline(2, "pretraining")
    pretrain(
        corpus,
        output / "vocab",
        output / "model",
        PretrainSettings("tiny", steps=STEPS),
        Machine(threads),
        click.echo,
    )
    _headline(3, "fine-tuning")
    rows = []
    for name, epochs in EPOCHS.items():
        task = get_task(name)
        runs = {True: output / "klue" / f"{name}-scratch", False: output / "klue" / name}
        for from_scratch, run in runs.items():
            settings = FinetuneSettings(epochs=epochs, from_scratch=from_scratch)
            finetune(
                task, output / "model", benchmark, run, settings, [0], click.echo, threads=threads
            )
            write_confusion_tables(run)
        most_frequent = majority(task, benchmark)[task.headline]
        rows.append(
            Row(name, task.headline, headline(runs[False]), headline(runs[True]), most_frequent)
        )
    click.echo(f"\n{compare(rows)}\n")
    click.echo(f"{time.monotonic() - started:.0f} s in all; everything is in {output}. Try:\n")
    ask = f"pipeline('fill-mask', '{output / 'model'}')('교육청은 도서관[MASK] 강연을 열었다.')"
    click.echo(f'  python -c "from transformers import pipeline; print({ask})"')


def _headline(number: int, text: str) -> None:
    click.echo(f"\n{number}. {text}")
