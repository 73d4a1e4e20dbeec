"""`python -m bench.cores`: payments a second out of a backlog by number of cores and shards, each beside the limit.

The engine's process with its JVM and workers, and Spark's own operators after it, each on the first so many cores of
this machine (`taskset`); the broker has them all. As many partitions as the most cores. Alerts are compared with the
independent count, and the first quarter of the payments is not timed. Writes var/cores.json; exit code 1 if alerts
differ. Numbers of cores that this machine does not have are said, and not measured.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import click
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.backlog import Backlog, Workplace, filled, limit, taken
from bench.harness.engine import Cores
from bench.throughput import RULES, versions, workload
from tripline_demo import paths

PER_CORE: Final = 50_000
"""Payments in a micro-batch for each core: with two it is the engine's own limit."""
_LIMIT_BATCHES: Final = 10


def measured(
    workplace: Workplace, count: int, shards: Sequence[int], payments: int, say: Callable[[Result], None]
) -> float:
    """Says what so many cores come to, with each number of shards, as it is measured; gives the best of them."""
    cores = Cores(count)
    most = limit(workplace, payments // _LIMIT_BATCHES, cores)
    say(results.told(f"{count} cores: Spark's own operators", most, "payments/s"))
    best = 0.0
    for number in shards:
        done = taken(workplace, number, PER_CORE * count, cores)
        say(results.told(f"{count} cores: the engine, shards: {number}", done.rate, "payments/s", most))
        for row in done.checked:
            say(row)
        best = max(best, done.rate)
    say(results.told(f"{count} cores: the best of these", best, "payments/s", most))
    return best


@click.command()
@click.option("--payments", type=click.IntRange(100_000), default=3_000_000, show_default=True)
@click.option("--payees", type=click.IntRange(10), default=100_000, show_default=True)
@click.option("--cores", multiple=True, type=click.IntRange(1), default=(2, 4, 8, 16), show_default=True)
@click.option(
    "--shards", multiple=True, type=click.IntRange(1), help="Default: half as many as cores, and as many."
)
@click.option("--secured", is_flag=True, help="Kafka's clients over SASL and TLS, the limit's too.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(
    *, payments: int, payees: int, cores: tuple[int, ...], shards: tuple[int, ...], secured: bool, seed: int
) -> None:
    """Measures how throughput grows with the cores."""
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()
    have = len(os.sched_getaffinity(0))
    counts = [count for count in cores if count <= have]
    for count in cores:
        if count > have:
            console.print(f"{count} cores: not measured, this machine has {have}")
    if not counts:
        sys.exit(2)
    partitions = max(counts)
    load = workload(payments, payees, seed, partitions)
    rows: list[Result] = []
    best: dict[int, float] = {}

    def say(row: Result) -> None:
        # a run of hours may be cut off: what was measured until then stands
        rows.append(row)
        results.write(rows, paths.var_folder() / "cores.json")
        value = f"{row.value:,.0f}" if row.value >= 100 else f"{row.value:g}"
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {row.name}: {value} {row.unit}")

    with filled(Backlog(load, versions(load, RULES)), secured=secured, partitions=partitions) as workplace:
        for count in counts:
            console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {count} cores")
            chosen = shards or sorted({max(1, count // 2), count})
            best[count] = measured(workplace, count, chosen, payments, say)
    first = counts[0]
    for count in counts[1:]:
        name = f"{count} cores, as a multiple of {first}"
        say(results.told(name, best[count] / best[first], "×"))
    results.show(rows, console)
    sys.exit(0 if all(result.ok for result in rows) else 1)


if __name__ == "__main__":
    main()
