"""`python -m bench.alert_lists`: the alert API's reading calls over many alerts, while more are stored.

Every filter by itself and pairs of them, each at a rate; then all of them in turn at that rate, which is what the bars
are for; then the console's first pages in a browser. Prints a table, writes var/alert_lists.json; exit code 1 if a bar
is missed. The API may use one core; its database, who stores and who asks share the others. The reference of each
figure is a health check's time in the same mixture: where that is long, the machine was busy.
"""

from __future__ import annotations

import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click
import httpx
import numpy as np
import psycopg
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.api_process import running_api
from bench.stored_alerts import cluster, sizes
from bench.stored_alerts.calls import Call, Calls
from bench.stored_alerts.costs import Meter
from bench.stored_alerts.first_page import first_pages
from bench.stored_alerts.storing import storing
from tripline_demo import paths

_LIST_BAR_MS: Final = 100.0
_SINGLE_BAR_MS: Final = 30.0
_PAGE_BAR_MS: Final = 1000.0
_RATE: Final = 100
_WARM_UP: Final = 20
_COSTED: Final = 40
_TURNS: Final = 10
"""All calls in turn are measured for so many times as long as one of them."""


@click.command()
@click.option("--alerts", "total", type=click.IntRange(1000), default=1_000_000, show_default=True)
@click.option(
    "--seconds", type=click.IntRange(1), default=10, show_default=True, help="Of each call, at 100 a second."
)
@click.option(
    "--stored", type=click.IntRange(0), default=2000, show_default=True, help="Alerts a second meanwhile."
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Of the database, which is kept; filled if it is not there. Without it: one for this run.",
)
@click.option("--only", default="", help="Calls with this in their names.")
@click.option("--fill", is_flag=True, help="Fill the folder and measure nothing: the next run on it does.")
@click.option(
    "--costs", is_flag=True, help="Of each call by itself: processor time of API and database, and pages."
)
def main(
    *, total: int, seconds: int, stored: int, folder: Path | None, only: str, fill: bool, costs: bool
) -> None:
    """Measures lists, summaries and single alerts at 100 requests a second."""
    if fill and folder is None:
        raise click.UsageError("--fill needs --folder: without one all is gone when the run ends")
    console = Console(width=150 if not sys.stdout.isatty() else None)
    begin = time.monotonic()
    with cluster.filled(total, folder) as owner:
        console.print(f"{_there(owner)} after {time.monotonic() - begin:.0f} s")
        if fill:
            return
        if costs:
            _show_sizes(owner, total, console)
            _show_costs(owner, total, only, console)
            return
        measured = []
        with running_api("alert-api", "TRIPLINE_ALERTS_DSN", "tripline_alert_api", owner) as client:
            calls = list(_calls(client, total, only))
            with storing(owner, stored) as so_many:
                for name, call, bar in calls:
                    measured += _measured(name, call, bar, (seconds, stored), (client, so_many))
                    console.print(
                        f"{name}: {measured[-2].value} ms beside {measured[-1].value}/s", highlight=False
                    )
                if not only:
                    measured += _in_turn(calls, (_TURNS * seconds, stored), (client, so_many))
                measured += _pages(client, only, f", beside {stored:,} stored a second", None)
            measured += _pages(client, only, "", _PAGE_BAR_MS)
    results.show(measured, console)
    results.write(measured, paths.var_folder() / "alert_lists.json")
    sys.exit(0 if all(result.ok for result in measured) else 1)


def _there(owner: str) -> str:
    with psycopg.connect(owner) as connection:
        [(count, months)] = connection.execute(
            "SELECT sum(open_count + acknowledged_count), (SELECT count(*) FROM alerts.alert_partitions)"
            " FROM alerts.alert_counts"
        ).fetchall()
    return f"{count:,} alerts in {months} partitions"


def _show_sizes(owner: str, total: int, console: Console) -> None:
    relations = sizes.of_relations(owner)
    whole = sum(size for _, _, size in relations)
    console.print(f"bytes an alert: {whole / total:.0f}, and {sizes.of_log(owner) / total:.0f} of log")
    for table, part, size in relations:
        if size >= total:
            console.print(f"  {size / total:7.1f}  {table}: {part}", highlight=False)


def _show_costs(owner: str, total: int, only: str, console: Console) -> None:
    """Nothing is stored meanwhile."""
    with running_api("alert-api", "TRIPLINE_ALERTS_DSN", "tripline_alert_api", owner) as client:
        meter = Meter(owner, client.base_url.port or 0)
        for name, call, _ in _calls(client, total, only):
            cost = meter.cost(call, _COSTED)
            console.print(
                f"{name}: {cost.wall_ms:.1f} ms (slowest {cost.slowest_ms:.1f}); processor: API {cost.api_ms:.1f},"
                f" database {cost.database_ms:.1f} ms; pages {cost.pages:.0f}, of these read {cost.read:.0f};"
                f" {cost.kilobytes:.0f} KB",
                highlight=False,
            )
        meter.close()


def _calls(client: httpx.Client, total: int, only: str) -> Iterator[tuple[str, Call, float]]:
    calls = Calls(client, total)
    for kind, bar, named in (
        ("list", _LIST_BAR_MS, calls.lists()),
        ("summary", _LIST_BAR_MS, calls.summaries()),
        ("single", _SINGLE_BAR_MS, calls.singles()),
    ):
        for name, call in named.items():
            if only in f"{kind}: {name}":
                yield f"{kind}: {name}", call, bar


def _pages(client: httpx.Client, only: str, beside: str, bar: float | None) -> Iterator[Result]:
    for name, took in first_pages(client).items() if only in "page" else ():
        told = f"page: {name}{beside}, the slowest of {len(took)} (median {np.median(took):.0f})"
        yield (
            results.told(told, max(took), "ms")
            if bar is None
            else results.at_most(told, max(took), "ms", bar)
        )


class _Answers(NamedTuple):
    """How long calls took, in ms from when they were due, by name, and health checks among them; what was stored a
    second meanwhile."""

    times: dict[str, list[float]]
    health: list[float]
    stored: float
    seconds: float

    def p99(self, name: str, of: str, bar: float) -> Result:
        """Of the calls whose names begin so."""
        times = [one for called, some in self.times.items() if called.startswith(of) for one in some]
        p50, p99 = np.percentile(times, [50, 99])
        rate = f"p99 of {len(times) / self.seconds:.1f} a second"
        told = f"{name}, {rate} (p50 {p50:.1f}; reference: p99 of /livez)"
        return results.at_most(told, float(p99), "ms", bar, reference=float(np.percentile(self.health, 99)))


def _in_turn(
    calls: list[tuple[str, Call, float]],
    rates: tuple[int, int],
    beside: tuple[httpx.Client, Callable[[], int]],
) -> list[Result]:
    """All calls, each as often as the others and in an order by chance; and what was stored."""
    seconds, stored = rates
    order = [calls[number % len(calls)][:2] for number in range(_RATE * seconds)]
    random.Random(1).shuffle(order)
    answers = _asked(order, *beside)
    bars = {name.partition(":")[0]: bar for name, _, bar in calls}
    of_kinds = [answers.p99(f"all in turn: {kind}", f"{kind}: ", bar) for kind, bar in bars.items()]
    return [
        *of_kinds,
        results.at_least("all in turn: stored meanwhile", answers.stored, "/s", 0.95 * stored),
    ]


def _measured(
    name: str,
    call: Call,
    bar: float,
    rates: tuple[int, int],
    beside: tuple[httpx.Client, Callable[[], int]],
) -> list[Result]:
    """A call at a rate, and what was stored."""
    seconds, stored = rates
    answers = _asked([(name, call)] * (_RATE * seconds), *beside)
    return [
        answers.p99(name, name, bar),
        results.at_least(f"{name}: stored meanwhile", answers.stored, "/s", 0.95 * stored),
    ]


def _asked(calls: list[tuple[str, Call]], client: httpx.Client, so_many: Callable[[], int]) -> _Answers:
    """The calls at a rate, one in ten of them a health check."""
    for call in dict(calls).values():
        for _ in range(_WARM_UP):
            call().raise_for_status()
    begin, before = time.monotonic() + 0.2, so_many()

    def timed(number: int) -> tuple[str, float]:
        due = begin + number / _RATE
        time.sleep(max(0.0, due - time.monotonic()))
        name, call = ("", partial(client.get, "/livez")) if number % 10 == 0 else calls[number]
        answer = call()
        elapsed = (time.monotonic() - due) * 1000
        answer.raise_for_status()
        return name, elapsed

    times: dict[str, list[float]] = defaultdict(list)
    with ThreadPoolExecutor(16) as threads:
        for name, took in threads.map(timed, range(len(calls))):
            times[name].append(took)
    seconds = time.monotonic() - begin
    return _Answers(times, times.pop(""), (so_many() - before) / seconds, seconds)


if __name__ == "__main__":
    main()
