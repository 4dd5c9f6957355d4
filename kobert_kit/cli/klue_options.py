"""The options of ``kobert-kit klue`` that say how a model is fine-tuned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def seed_options(command: Command) -> Command:
    """Which seeds are run."""
    return _with(
        command,
        click.option(
            "--seeds",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            help="Runs, with the seeds 0, 1, ...; mean and standard deviation are reported.",
        ),
        click.option(
            "--seed", type=click.IntRange(0, 2**32 - 1), help="One run with this seed instead."
        ),
    )


def recipe_options(command: Command) -> Command:
    """The fields of `FinetuneSettings`, and the grid of some."""
    return _with(
        command,
        click.option(
            "--from-scratch",
            is_flag=True,
            help="The same model with random weights, to see what pretraining gave.",
        ),
        click.option(
            "--grid",
            is_flag=True,
            help="A run at each point of the grid of KLUE's paper: learning rate 2e-5, 3e-5, 5e-5; "
            "batch size 16, 32; 2 to 5 epochs. 24 runs for each seed, and each keeps its model.",
        ),
        click.option("--epochs", type=click.IntRange(min=1), default=3, show_default=True),
        click.option("--batch-size", type=click.IntRange(min=1), default=32, show_default=True),
        click.option(
            "--learning-rate",
            type=click.FloatRange(min=0, min_open=True),
            help="Peak, after the warm-up. Default by width: 3e-4 up to 256, 1e-4 up to 512, "
            "5e-5 up to 768, else 2e-5.",
        ),
        click.option(
            "--warmup-share",
            type=click.FloatRange(0, 1, max_open=True),
            default=0.1,
            show_default=True,
            help="Of all steps, in which the learning rate rises from 0; then it falls to 0.",
        ),
        click.option(
            "--weight-decay", type=click.FloatRange(min=0), default=0.01, show_default=True
        ),
        click.option(
            "--early-stop",
            type=click.IntRange(min=1),
            metavar="N",
            help="End a run after N epochs that did not do better on dev. The learning rate falls "
            "as if it went on.",
        ),
        click.option(
            "--class-balanced",
            is_flag=True,
            help="For nli, ynat and re: rare labels weigh as much in the loss as frequent ones.",
        ),
        click.option(
            "--max-length",
            type=click.IntRange(min=8),
            help="Tokens at which a text or pair is cut; for ner and mrc longer texts become "
            "windows, for wos the end of the dialogue is kept. Default: 128, for wos 512, or fewer "
            "where the model has not the positions.",
        ),
        click.option(
            "--limit",
            type=click.IntRange(min=2),
            help="Read only the first examples of each file, for a quick look; for mrc these are "
            "questions, for wos whole dialogues.",
        ),
        click.option(
            "--mixed-precision",
            type=click.Choice(["no", "bf16"]),
            default="no",
            show_default=True,
            help="bf16 pays on GPUs, and on CPUs with AVX512-BF16 or AMX; elsewhere it is slow.",
        ),
    )


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
