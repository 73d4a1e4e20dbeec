"""`python -m bench.peer`: the five rules of `bench.throughput` in what PyPI has besides, and in the engine.

From the same topics: Quix Streams (`bench.peers.quix_peer`) over a backlog of its own, because it would take too long
over the other one; BlazeRules (`bench.peers.blaze_peer`) and the engine over one and the same. What each of them lacks
is told there. Writes var/peer.json; exit code 1 if the engine's alerts are not those of the independent count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import click
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.backlog import Backlog, Workplace, filled, taken
from bench.peers import blaze_peer, quix_peer
from bench.throughput import RULES, versions, workload
from tripline_demo import paths


@click.command()
@click.option(
    "--payments",
    type=click.IntRange(10_000),
    default=200_000,
    show_default=True,
    help="Those of Quix Streams.",
)
@click.option(
    "--ours",
    type=click.IntRange(100_000),
    default=1_500_000,
    show_default=True,
    help="Those of BlazeRules and of the engine.",
)
@click.option("--shards", multiple=True, type=click.IntRange(1), default=(1, 2), show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, payments: int, ours: int, shards: tuple[int, ...], seed: int) -> None:
    """Measures how fast peers take a backlog under five rules, and the engine beside them."""
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {text}")

    of_quix, rows = quix_peer.measured(payments, seed, say)
    # more payments, because theirs would be over before a JVM is warm
    load = workload(ours, quix_peer.PAYEES, seed)
    with filled(Backlog(load, versions(load, RULES))) as workplace:
        of_blaze, of_peer = blaze_peer.measured(workplace, say)
        best, of_engine = _of_engine(workplace, shards, say)
    rows += [*of_peer, *of_engine]
    for name, theirs in ((quix_peer.NAME, of_quix), (blaze_peer.NAME, of_blaze)):
        rows.append(results.told(f"the engine (reference: {name}, its best)", best, "payments/s", theirs))
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "peer.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _of_engine(
    workplace: Workplace, shards: Sequence[int], say: Callable[[str], None]
) -> tuple[float, list[Result]]:
    rows: list[Result] = []
    best = 0.0
    for count in shards:
        say(f"the engine, shards: {count}; the best so far {best:,.0f}/s")
        done = taken(workplace, count)
        rows += [results.told(f"the engine, shards: {count}", done.rate, "payments/s"), *done.checked]
        best = max(best, done.rate)
    return best, rows


if __name__ == "__main__":
    main()
