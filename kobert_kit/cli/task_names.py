"""The values of ``--task``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click


def task_names(
    klue: Sequence[str],
) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], tuple[str, ...]]:
    """A check that every value is one of ``klue``, a ready-made task, or a .toml file."""

    def check(
        ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
    ) -> tuple[str, ...]:
        from kobert_kit.tasks.own.ready import ready_tasks
        from kobert_kit.tasks.own.toml_table import near

        known = [*klue, *ready_tasks()]
        for value in values:
            if value not in known and not value.endswith(".toml"):
                raise click.BadParameter(
                    f"{value} is none of {', '.join(known)}, nor a file that ends in .toml"
                    f"{near(value, known)}"
                )
        return values

    return check
