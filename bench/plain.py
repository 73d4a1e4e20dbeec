"""`python -m bench.plain --before FOLDER`: what five plain rules cost in this checkout, beside an earlier one.

What a language can say more, rules that do not say it must not pay for. FOLDER is a checkout of before, as `git
worktree add FOLDER COMMIT` makes one; its code runs under this checkout's interpreter and libraries. Processes take
turns, one of each checkout: a shard with the five rules of `bench.throughput`, payments of one payer to many, one each
millisecond, through packing and a shard, without Kafka or Spark. Told is the processor time of whole micro-batches; a
checkout's is that of its fastest turn.

Writes var/plain.json; exit code 1 if the bar is missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from bench.evaluation import Shard, payments, prepared
from bench.figures import results
from bench.retained import published
from bench.workload.rules import FIVE, UNREACHABLE
from tripline_contracts.event_type_loader import load
from tripline_demo import paths
from tripline_engine.domain.shard.engine_config import EngineConfig

MOST: Final = 1.05
"""How many times what it was a payment may cost."""
_FILLED: Final = 300_000
_HERE: Final = Path(__file__).parent.parent
_SOURCES: Final = (
    "",
    "contracts/src",
    "engine/src",
    "demo/src",
    "services/http/src",
    "services/rules-registry/src",
)


@click.command()
@click.option(
    "--before", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A checkout of before."
)
@click.option("--turns", type=click.IntRange(1), default=3, show_default=True, help="Of each checkout.")
@click.option(
    "--micro-batches", type=click.IntRange(10), default=150, show_default=True, help="That are timed."
)
@click.option(
    "--size", type=click.IntRange(10), default=1_000, show_default=True, help="Payments in each of them."
)
@click.option("--once", is_flag=True, hidden=True)
def main(*, before: Path | None, turns: int, micro_batches: int, size: int, once: bool) -> None:
    """Measures what five plain rules cost."""
    if once:
        click.echo(f"{measured(micro_batches, size)}")
        return
    console = Console(width=150 if not sys.stdout.isatty() else None)
    folders = [_HERE, *([] if before is None else [before.resolve()])]
    costs: dict[Path, list[float]] = {folder: [] for folder in folders}
    for turn in range(turns + 1):
        for folder in folders:
            cost = _measured_in(folder, micro_batches, size)
            # the first turn compiles what is not in the cache
            if turn:
                costs[folder].append(cost)
                console.print(f"[dim]{folder}: {cost:.3f} µs[/]")
    now = min(costs[_HERE])
    if before is None:
        rows = [results.told("five plain rules, a payment", now, "µs")]
    else:
        was = min(costs[folders[1]])
        rows = [
            results.at_most(
                "five plain rules, a payment, beside before", now, "µs", MOST * was, reference=was
            )
        ]
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "plain.json")
    sys.exit(0 if all(row.ok for row in rows) else 1)


def measured(micro_batches: int, size: int) -> float:
    """The µs of processor time of one payment, by the median micro-batch."""
    event_type = load("transaction")
    config = EngineConfig("bench", event_type, event_type.anchors, 1, (1, 2), "data")
    stream = prepared(config, payments(_FILLED, micro_batches * size, 1), size)
    with tempfile.TemporaryDirectory(prefix="tripline-plain-") as folder:
        shard = Shard(config, Path(folder), None)
        shard.take([published(rule.rule_id, rule.body(UNREACHABLE, 0)) for rule in FIVE])
        for batch in stream.filling:
            shard.take(batch)
        shard.ms.clear()
        for batch in stream.timed:
            shard.take(batch)
        return statistics.median(shard.ms) * 1_000 / size


def _measured_in(folder: Path, micro_batches: int, size: int) -> float:
    """The same by a process that has that checkout's code."""
    words = ["--once", "--micro-batches", str(micro_batches), "--size", str(size)]
    sources = os.pathsep.join(str(folder / source) for source in _SOURCES)
    done = subprocess.run(
        [sys.executable, "-P", __file__, *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": sources}, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
