"""`python -m bench.soak`: half an hour at a steady rate under a rule change a second, and whether anything grows.

The running line of `bench.steady`, its windows full before. Writes var/soak.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import sys

import click
from rich.console import Console

from bench import steady
from bench.harness.command_options import traffic_options
from bench.harness.footprint import Footprints
from bench.harness.line import Options
from tripline_demo import paths


@click.command()
@click.option("--minutes", type=click.IntRange(1), default=30, show_default=True, help="Timed traffic.")
@traffic_options(rate=5_000, rule_change=1, least_change=1)
def main(*, minutes: int, rate: int, preload_minutes: int, warm_up: int, rule_change: int, seed: int) -> None:
    """Looks at the engine every ten seconds while payments flow and rules change."""
    console, footprints = Console(width=150 if not sys.stdout.isatty() else None), Footprints()
    options = Options(60 * minutes, rate, rule_change, preload_minutes, warm_up, seed)
    measured, judged = steady.run(options, console, observe=footprints.observe)
    steady.told(measured, [*footprints.rows(), *judged], console, paths.var_folder() / "soak.json")


if __name__ == "__main__":
    main()
