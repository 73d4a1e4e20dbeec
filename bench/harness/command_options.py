"""Options that commands over the running line share: rate, preload, warm-up, changes of rules, seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def traffic_options(*, rate: int, rule_change: int, least_change: int) -> Callable[[Command], Command]:
    """The options that describe the traffic, with these defaults; ``least_change`` bounds ``--rule-change`` (s)."""
    options = (
        click.option(
            "--rate",
            type=click.IntRange(100, 20_000),
            default=rate,
            show_default=True,
            help="Payments a second.",
        ),
        click.option(
            "--preload-minutes",
            type=click.IntRange(0, 60),
            default=60,
            show_default=True,
            help="How much of the windows is filled before, at the same rate.",
        ),
        click.option(
            "--warm-up",
            type=click.IntRange(0),
            default=120,
            show_default=True,
            help="Seconds before the timed ones.",
        ),
        click.option(
            "--rule-change",
            type=click.IntRange(least_change),
            default=rule_change,
            show_default=True,
            help="Seconds between changes.",
        ),
        click.option("--seed", type=click.IntRange(0), default=1, show_default=True),
    )

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated
