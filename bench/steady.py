"""`python -m bench.steady`: the running line at a steady rate.

Prints a table, writes var/steady.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console

from bench.figures import results
from bench.figures.assessment import judge, timed_latencies_ms
from bench.figures.histogram import drawn
from bench.figures.results import Result
from bench.harness.command_options import traffic_options
from bench.harness.engine import compiled_late
from bench.harness.line import Measured, Observe, Options, Run, prepared
from bench.harness.stack import BenchFailed, stack
from tripline_demo import paths


@click.command()
@click.option("--seconds", type=click.IntRange(10), default=300, show_default=True, help="Timed traffic.")
@traffic_options(rate=2_000, rule_change=10, least_change=2)
@click.option("--follow", is_flag=True, help="Follow the alert API's stream, and time what it tells.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Default: var/steady.json.")
@click.option("--keep", is_flag=True, help="Keep the folder with Kafka's data and the logs.")
def main(
    *, seconds: int, rate: int, preload_minutes: int, warm_up: int, rule_change: int, follow: bool, seed: int,
    out: Path | None, keep: bool,
) -> None:  # fmt: skip
    """Measures the running line: payments sent to alerts read, with full windows and rules that change."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    options = Options(seconds, rate, rule_change, preload_minutes, warm_up, seed, follow)
    measured, judged = run(options, console, keep=keep)
    told(measured, judged, console, out or paths.var_folder() / "steady.json")


def told(measured: Measured, judged: list[Result], console: Console, out: Path) -> NoReturn:
    """Prints and writes all of it, and ends the program."""
    results.show(judged, console)
    console.print(
        "producer send to record read from alerts.v1:",
        *drawn(timed_latencies_ms(measured).tolist()),
        sep="\n",
    )
    results.write(judged, out)
    sys.exit(0 if all(result.ok for result in judged) else 1)


def run(
    options: Options, console: Console, *, keep: bool = False, observe: Observe | None = None
) -> tuple[Measured, list[Result]]:
    """A line of its own, measured and judged; ends the program if it cannot be."""
    # to be told to stop is no reason to leave a stack behind
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:6.0f} s[/]  {text}")

    folder = Path(tempfile.mkdtemp(prefix="tripline-bench-"))
    try:
        say("making the payments")
        load = prepared(options)
        say("starting the line")
        with stack(folder) as running:
            measured = Run(options, running, load, say, observe).measure()
            late = compiled_late(running.places.log_of("engine"))
        say("comparing with the independent count")
        return measured, [*judge(measured), late]
    except BenchFailed as failure:
        console.print(f"[red]{failure}[/]")
        sys.exit(2)
    finally:
        if keep:
            say(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
