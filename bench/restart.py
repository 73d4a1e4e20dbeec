"""`python -m bench.restart`: the engine is killed and started again with a long history, and then history passes.

Kafka and the engine alone, as separate processes, six rules. Twice: with a short history, which is what a start costs
anyway, and with a long one. Its alerts are compared with the independent count. Then the record clock jumps over all
windows, and what is held of memory and state is compared with what it was in the beginning. Writes var/restart.json;
exit code 1 if a bar is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

import click
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness import engine
from bench.harness.restart_run import Options, Restarted, Run, Scenario
from bench.workload.restart_load import retaining
from bench.workload.sender import now_ms
from tripline_demo import paths

MAX_SECONDS, MAX_OWN_SECONDS = 25.0, 5.0
_AGO_MS: Final = 4 * 3_600_000
"""The first payment is so old: all that comes later, the jump included, is past too."""


@click.command()
@click.option("--payments", type=click.IntRange(10_000), default=5_000_000, show_default=True)
@click.option(
    "--few", type=click.IntRange(4_000), default=5_000, show_default=True, help="The short history."
)
@click.option("--shards", type=click.IntRange(1), default=1, show_default=True)
@click.option("--per-batch", type=click.IntRange(100), default=5_000, show_default=True)
@click.option(
    "--linger", type=click.IntRange(0), default=150, show_default=True, help="Micro-batches at the end."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, payments: int, few: int, shards: int, per_batch: int, linger: int, seed: int) -> None:
    """Measures a restart, and what is left when history has passed."""
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {text}")

    short = _run(few, Options(shards, per_batch, linger=0, seed=seed), say)
    long = _run(payments, Options(shards, per_batch, linger=linger, seed=seed), say)
    rows = [*_restart_rows(short, long), *long.cleaned.rows()]
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "restart.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _run(payments: int, options: Options, say: Callable[[str], None]) -> Run:
    say(f"{payments:,} payments are made up")
    history = retaining(payments, options.linger, now_ms() - _AGO_MS, options.seed)
    with engine.broker("restart") as workplace:
        return Scenario(workplace, history, options, say).run()


def own_seconds(short: Restarted, long: Restarted) -> float:
    """What of a restart is for the history, and not what a start costs anyway.

    The difference between the two starts has Spark's loading of the state in it, but starts differ by seconds where
    others use the machine, and then it may even be negative; what the shard has timed itself cannot be less.
    """
    return max(long.seconds - short.seconds, long.building)


def _restart_rows(short: Run, long: Run) -> list[Result]:
    a, b = short.restarted, long.restarted
    return [
        results.told(f"restart with {short.payments:,} payments: process start to first new alert", a.seconds, "s"),
        results.at_most(
            f"restart with {long.payments:,} payments: process start to first new alert",
            b.seconds, "s", MAX_SECONDS, reference=a.seconds,
        ),
        results.told("of that more than with the short history", b.seconds - a.seconds, "s"),
        results.told("of that in the shard: state log read, arrays built again", b.building, "s", a.building),
        results.at_most("ours: the greater of these two", own_seconds(a, b), "s", MAX_OWN_SECONDS),
        results.at_least("shards whose arrays were built again", b.rebuilds, "shards", long.options.shards),
        results.told("transactions held, over all anchors", b.rows, "rows", a.rows),
        results.at_least("value of the alert that needs the whole history", b.witnessed, "payments", long.needed),
        *short.checked,
        *long.checked,
    ]  # fmt: skip


if __name__ == "__main__":
    main()
