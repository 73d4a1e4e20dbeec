"""`python -m bench`: every figure beside its bar, one stage after the other, in some forty minutes.

Each stage is a program of its own (`python -m bench.throughput --help`) and runs alone. Prints a table, writes
var/bench.json; exit code 1 if a bar is missed, 2 if a stage could not be measured.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from tripline_demo import paths


@dataclass(frozen=True, slots=True)
class Stage:
    """A module of this package, what it is asked for, and which bars it has."""

    name: str
    arguments: tuple[str, ...]
    about: str


STAGES: Final = (
    Stage(
        "throughput",
        ("--payments", "2000000", "--many-payments", "900000", "--shards", "2"),
        "a backlog beside Spark's own operators, by population; a rule whose groups hold everything; a thousand rules",
    ),
    Stage(
        "steady",
        ("--rate", "5000", "--seconds", "90", "--warm-up", "75", "--preload-minutes", "3", "--follow"),
        "5,000 payments a second: alerts read, alerts told by the stream, rules applied",
    ),
    Stage(
        "evaluation",
        ("--micro-batches", "60"),
        "one evaluation with a thousand and with a million in the window",
    ),
    Stage(
        "beside",
        ("--micro-batches", "60"),
        "rules that compare with a measure, or look at the order or the spread, beside plainer ones",
    ),
    Stage(
        "backtest_speed",
        (),
        "50,000,000 payments of a file tried with one rule, ten, a hundred limits, beside Spark's own reading",
    ),
    Stage(
        "alert_lists",
        ("--alerts", "500000", "--seconds", "2"),
        "lists, counts and pages of alerts at 100 requests a second while 2,000 alerts a second are stored",
    ),
    Stage("retained", (), "what a payment weighs in memory and in the state log"),
    Stage(
        "restart",
        ("--linger", "20"),
        "killed with 5,000,000 payments held, and what is left when they have passed",
    ),
    Stage(
        "peer",
        ("--payments", "20000", "--ours", "600000", "--shards", "2"),
        "the same rules in Quix Streams and in BlazeRules",
    ),
)


@click.command()
@click.option(
    "--stage",
    "chosen",
    multiple=True,
    type=click.Choice([stage.name for stage in STAGES]),
    help="Only these.",
)
def main(*, chosen: tuple[str, ...]) -> None:
    """Measures everything, and prints it in one table."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()
    rows: list[Result] = []
    failed = []
    for stage in STAGES:
        if chosen and stage.name not in chosen:
            continue
        console.print(f"[bold]{time.monotonic() - begin:5.0f} s  {stage.name}[/]: {stage.about}")
        measured = _measured(stage, paths.var_folder() / f"{stage.name}.json")
        failed += [] if measured else [stage.name]
        rows += measured
    console.print(f"[bold]{time.monotonic() - begin:5.0f} s  all of it[/]")
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "bench.json")
    if failed:
        console.print(f"[red]not measured: {', '.join(failed)}[/]")
        sys.exit(2)
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _measured(stage: Stage, file: Path) -> list[Result]:
    """Runs it; nothing if it did not come to an end."""
    file.unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", f"bench.{stage.name}", *stage.arguments], check=False)
    if not file.exists():
        return []
    return [Result(**row) for row in json.loads(file.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    main()
