"""``kobert-kit klue``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kobert_kit.cli.klue_options import recipe_options, seed_options
from kobert_kit.cli.task_names import task_names
from kobert_kit.errors import DataError

KLUE_TASKS = ("ynat", "sts", "nli", "ner", "re", "dp", "mrc", "wos")
TASK_NAMES = (*KLUE_TASKS, "re-plain", "dp-gold-pos")
WITH_PREDICT = {"predict", "tasks", "model", "output", "strict", "threads"}
GRID_SETS = {"epochs", "batch_size", "learning_rate"}


@click.command("klue")
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="NAME|FILE.toml",
    callback=task_names([*TASK_NAMES, "all"]),
    help="nli: inference on sentence pairs; sts: similarity of sentence pairs; ynat: topics of "
    "headlines; ner: entities; mrc: answers in a context; re: relations of "
    "entities, with markers that say their types; re-plain: without; dp: dependencies of eojeols, "
    "scored with each one's best head as KLUE's baseline does, and with the best tree (_mst); "
    "dp-gold-pos: the same with gold parts of speech given to the model, as that baseline does; "
    "wos: states of dialogues. "
    "NAME: nsmc, kornli, korsts, korquad, naver-ner, naver-ner-tsv, kobest-boolq, kobest-copa, "
    "kobest-hellaswag, kobest-sentineg or kobest-wic. FILE.toml: a task of your own. May be given "
    "several times. all: the eight of KLUE. With --predict only for a task of your own.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="Folder that `kobert-kit pretrain` wrote, or any encoder saved by transformers. With "
    "--predict: a run of this command, or one of its seeds.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="The official release: the folder klue_benchmark, or one that holds it; for mrc also one "
    "with KorQuAD_v1.0_{train,dev}.json or {train,dev}-v2.0.json; for NAME and FILE.toml the "
    "folder of their files, or up to two folders above. Default: the data set `klue/klue` of the "
    "Hugging Face hub; for kobest-* `skt/kobest_v1`.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Results go to OUTPUT/TASK (OUTPUT/TASK-scratch, OUTPUT/TASK-grid). Default: MODEL/klue. "
    "With --predict: the file to write, a JSON line for each example.",
)
@click.option(
    "--predict",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Instead: what a fine-tuned model says of a file laid out as those of its task; labels "
    "may be missing.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Instead: one table over RUNS (OUTPUT/TASK, or OUTPUT with all its tasks), and what "
    "KLUE's authors published.",
)
@click.argument("runs", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@seed_options
@recipe_options
@click.option(
    "--strict",
    is_flag=True,
    help="Stop at the first bad record. Default: each is named, skipped and counted.",
)
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads; default: PyTorch's.")
def klue(predict: Path | None, compare: bool, runs: tuple[Path, ...], **options: Any) -> None:
    """Fine-tune MODEL on KLUE tasks and score it on dev as KLUE does.

    Each run writes the fine-tuned model, its predictions, metrics.json and, for classification,
    the confusion table. The score is that of the last epoch; that of the best epoch is shown
    beside it, but it was picked on dev and flatters. Where the two differ, the model of the best
    epoch is kept in seed-N/best.

    The same command again continues a run that was stopped, and keeps finished seeds.

    \b
    Examples:
      kobert-kit klue --task nli --model model
      kobert-kit klue --task nli --task sts --task ynat --model model \\
          --data-dir klue_benchmark --seeds 3
      kobert-kit klue --task nli --model model --data-dir klue_benchmark --from-scratch
      kobert-kit klue --task my_task.toml --model model --data-dir my_data
      kobert-kit klue --task nli --model model --data-dir klue_benchmark --grid --seeds 3
      kobert-kit klue --predict news.json --model model/klue/ynat --output news.jsonl
      kobert-kit klue --compare model/klue other/klue
    """
    if bool(runs) != compare:
        raise click.UsageError("--compare takes the runs to compare, and nothing else does")
    if predict is not None:
        _refuse("--predict", _names() - WITH_PREDICT)
        _need(options, "model", "output")
        _predict(predict, **{name: options[name] for name in WITH_PREDICT - {"predict"}})
    elif compare:
        _refuse("--compare", _names() - {"compare", "runs"})
        _compare(runs)
    else:
        _need(options, "tasks", "model")
        _finetune(**options)


def _names() -> set[str]:
    """Of all parameters."""
    return {parameter.name or "" for parameter in click.get_current_context().command.params}


def _refuse(option: str, useless: set[str]) -> None:
    """Raises UsageError where one of ``useless`` was given with ``option``."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in useless and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} has no use for {parameter.opts[0]}")


def _need(options: dict[str, Any], *names: str) -> None:
    for name in names:
        if not options[name]:
            raise click.UsageError(f"name --{name.removesuffix('s')}")


def _finetune(
    tasks: tuple[str, ...],
    model: Path,
    data_dir: Path | None,
    output: Path | None,
    seeds: int,
    seed: int | None,
    threads: int | None,
    strict: bool,
    grid: bool,
    **options: Any,
) -> None:
    from kobert_kit.finetune.run import FinetuneSettings, check_settings
    from kobert_kit.tasks.catalogue import get_task

    if seed is not None and seeds > 1:
        raise click.UsageError("name --seed or --seeds, not both")
    if grid:
        _refuse("--grid", GRID_SETS)
    settings = FinetuneSettings(**options)
    chosen = range(seeds) if seed is None else [seed]
    given = [name for each in tasks for name in (KLUE_TASKS if each == "all" else [each])]
    chosen_tasks: dict[str, Any] = {}
    for each in dict.fromkeys(given):
        task = get_task(each)
        if task.name in chosen_tasks:
            raise click.UsageError(f"--task {each}: another has the name {task.name}, too")
        chosen_tasks[task.name] = task
    for task in chosen_tasks.values():
        check_settings(task, settings)
    failed = []
    for name, task in chosen_tasks.items():
        run = (output or model / "klue") / (f"{name}-scratch" if settings.from_scratch else name)
        try:
            _run(grid, task, model, data_dir, run, settings, chosen, click.echo, threads, strict)
        except DataError as error:
            if len(chosen_tasks) == 1:
                raise
            click.echo(f"error: {error}", err=True)
            failed.append(name)
    if failed:
        raise DataError(f"not done: {', '.join(failed)}, for the reasons above; the others are")


def _run(grid: bool, task: Any, model: Path, data_dir: Path | None, run: Path, *how: Any) -> None:
    """One task, and what came out."""
    from kobert_kit.finetune.grid import search
    from kobert_kit.finetune.run import finetune
    from kobert_kit.report.grid import describe_grid
    from kobert_kit.report.klue import describe, write_confusion_tables

    if grid:
        run = run.with_name(f"{run.name}-grid")
        search(task, model, data_dir, run, *how)
        click.echo(f"\n{describe_grid(run)}\n\nresults: {run}")
    else:
        finetune(task, model, data_dir, run, *how)
        write_confusion_tables(run)
        click.echo(f"\n{describe(run)}\n\nresults: {run}")


def _compare(runs: tuple[Path, ...]) -> None:
    from kobert_kit.report.compare import compare_runs

    click.echo(compare_runs(runs))


def _predict(
    file: Path,
    tasks: tuple[str, ...],
    model: Path,
    output: Path,
    threads: int | None,
    strict: bool,
) -> None:
    from kobert_kit.console import counted
    from kobert_kit.finetune.predict import predict
    from kobert_kit.report.tables import score

    if len(tasks) > 1:
        raise click.UsageError("--predict is for one task")
    done = predict(file, model, output, click.echo, threads, strict, *tasks)
    for message in done.skipped:
        click.echo(message)
    skipped = f", {counted(len(done.skipped), 'record')} skipped" if done.skipped else ""
    click.echo(f"{output}: {counted(done.lines, 'prediction')}{skipped}")
    for name, value in done.scores.items():
        click.echo(f"{name}: {score(value)}")
