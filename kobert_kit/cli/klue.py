"""``kobert-kit klue``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kobert_kit.cli.task_names import task_names

TASK_NAMES = ("nli", "sts", "ynat", "ner", "mrc", "re", "re-plain", "dp", "dp-gold-pos", "wos")


@click.command("klue")
@click.option(
    "--task",
    "tasks",
    required=True,
    multiple=True,
    metavar="NAME|FILE.toml",
    callback=task_names(TASK_NAMES),
    help="nli: inference on sentence pairs; sts: similarity of sentence pairs; ynat: topics of "
    "headlines; ner: entities; mrc: answers in a context; re: relations of "
    "entities, with markers that say their types; re-plain: without; dp: dependencies of eojeols, "
    "scored with each one's best head as KLUE's baseline does, and with the best tree (_mst); "
    "dp-gold-pos: the same with gold parts of speech given to the model, as that baseline does; "
    "wos: states of dialogues. "
    "NAME: nsmc, kornli, korsts, korquad, naver-ner, naver-ner-tsv, kobest-boolq, kobest-copa, "
    "kobest-hellaswag, kobest-sentineg or kobest-wic. FILE.toml: a task of your own. May be given "
    "several times.",
)
@click.option(
    "--model",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder that `kobert-kit pretrain` wrote, or any encoder saved by transformers.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="The official release: the folder klue_benchmark, or one that holds it; for mrc also one "
    "with KorQuAD_v1.0_{train,dev}.json or {train,dev}-v2.0.json; for NAME and FILE.toml the "
    "folder of their files, or up to two folders above. Default: the data set `klue` of the "
    "Hugging Face hub; for kobest-* `skt/kobest_v1`.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Results go to OUTPUT/TASK (OUTPUT/TASK-scratch). Default: MODEL/klue.",
)
@click.option(
    "--from-scratch",
    is_flag=True,
    help="The same model with random weights, to see what pretraining gave.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs, with the seeds 0, 1, ...; mean and standard deviation are reported.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="One run with this seed instead.")
@click.option("--epochs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--batch-size", type=click.IntRange(min=1), default=32, show_default=True)
@click.option(
    "--learning-rate",
    type=click.FloatRange(min=0, min_open=True),
    help="Peak, after a warm-up of 10 %. Default by width: 3e-4 up to 256, 1e-4 up to 512, 5e-5 "
    "up to 768, else 2e-5.",
)
@click.option(
    "--max-length",
    type=click.IntRange(min=8),
    help="Tokens at which a text or pair is cut; for ner and mrc longer texts become windows, for "
    "wos the end of the dialogue is kept. Default: 128, for wos 512, or fewer where the model has "
    "not the positions.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=2),
    help="Read only the first examples of each file, for a quick look; for mrc these are "
    "questions, for wos whole dialogues.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Stop at the first bad record. Default: each is named, skipped and counted.",
)
@click.option(
    "--mixed-precision",
    type=click.Choice(["no", "bf16"]),
    default="no",
    show_default=True,
    help="bf16 pays on GPUs, and on CPUs with AVX512-BF16 or AMX; elsewhere it is slow.",
)
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads; default: PyTorch's.")
def klue(
    tasks: tuple[str, ...],
    model: Path,
    data_dir: Path | None,
    output: Path | None,
    seeds: int,
    seed: int | None,
    threads: int | None,
    strict: bool,
    **options: Any,
) -> None:
    """Fine-tune MODEL on KLUE tasks and score it on dev as KLUE does.

    Each run writes the fine-tuned model, its predictions, metrics.json and, for classification,
    the confusion table. The score is that of the last epoch; that of the best epoch is shown
    beside it, but it was picked on dev and flatters.

    The same command again continues a run that was stopped, and keeps finished seeds.

    \b
    Examples:
      kobert-kit klue --task nli --model model
      kobert-kit klue --task nli --task sts --task ynat --model model \\
          --data-dir klue_benchmark --seeds 3
      kobert-kit klue --task nli --model model --data-dir klue_benchmark --from-scratch
      kobert-kit klue --task my_task.toml --model model --data-dir my_data
    """
    from kobert_kit.report.klue import describe, write_confusion_tables
    from kobert_kit.tasks.catalogue import get_task
    from kobert_kit.tasks.finetune import FinetuneSettings, finetune

    if seed is not None and seeds > 1:
        raise click.UsageError("name --seed or --seeds, not both")
    settings = FinetuneSettings(**options)
    chosen = range(seeds) if seed is None else [seed]
    for task in {task.name: task for task in map(get_task, tasks)}.values():
        name = f"{task.name}-scratch" if settings.from_scratch else task.name
        run = (output or model / "klue") / name
        finetune(task, model, data_dir, run, settings, chosen, click.echo, threads, strict)
        write_confusion_tables(run)
        click.echo(f"\n{describe(run)}\n\nresults: {run}")
