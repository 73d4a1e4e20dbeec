"""`python -m bench.alert_lists`: the alert API's reading calls over many alerts, while more are stored.

Prints a table, writes var/alert-lists.json; exit code 1 if a bar is missed. The API may use one core; its database, who
stores and who asks share the others. The reference of each figure is a health check's time in the same mixture: where
that is long, the machine was busy.
"""

from __future__ import annotations

import itertools
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Final

import click
import httpx
import numpy as np
from rich.console import Console

from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.service.alert_counts import HOUR_MS
from bench.figures import results
from bench.figures.results import Result
from bench.harness import alert_history
from bench.harness.alert_history import END, MONTH_MS, PAYEES, RULES
from bench.harness.api_process import running_api
from tripline_demo import logins, migrations, paths
from tripline_demo.embedded import postgres
from tripline_demo.groups import login_of

_LIST_BAR_MS: Final = 100.0
_SINGLE_BAR_MS: Final = 30.0
_RATE: Final = 100
_BATCH: Final = 200
_PROJECTOR: Final = "tripline_alert_projector"


@click.command()
@click.option("--alerts", "total", type=click.IntRange(1000), default=1_000_000, show_default=True)
@click.option(
    "--seconds", type=click.IntRange(1), default=20, show_default=True, help="Of calls at 100 a second."
)
@click.option(
    "--stored", type=click.IntRange(0), default=2000, show_default=True, help="Alerts a second meanwhile."
)
def main(*, total: int, seconds: int, stored: int) -> None:
    """Measures lists, summaries and single alerts at 100 requests a second."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    with _database() as owner:
        begin = time.monotonic()
        partitions = alert_history.partition(owner)
        alert_history.fill(owner, total)
        alert_history.publish(owner)
        console.print(f"{total:,} alerts in {time.monotonic() - begin:.0f} s, {partitions} partitions")
        with (
            running_api("alert-api", "TRIPLINE_ALERTS_DSN", "tripline_alert_api", owner) as client,
            _storing(owner, stored) as so_many,
        ):
            measured = list(_calls(client, total, seconds))
            measured.append(results.at_least("alerts stored a second", so_many(), "/s", 0.95 * stored))
    results.show(measured, console)
    results.write(measured, paths.var_folder() / "alert-lists.json")
    sys.exit(0 if all(result.ok for result in measured) else 1)


@contextmanager
def _database() -> Iterator[str]:
    """The superuser's DSN of a migrated database in a folder that goes with it."""
    with (
        tempfile.TemporaryDirectory(prefix="tripline-bench-", dir=paths.var_folder()) as folder,
        postgres.running(Path(folder) / "postgres") as cluster,
    ):
        name = f"bench_{secrets.token_hex(4)}"
        logins.ensure_database(cluster.dsn(), name)
        owner = cluster.dsn(name)
        migrations.upgrade(owner)
        yield owner


@contextmanager
def _storing(owner: str, rate: int) -> Iterator[Callable[[], float]]:
    """Stores alerts at that rate as the projector does, in a process of its own; gives how many a second it were."""
    password, context = secrets.token_urlsafe(18), get_context("spawn")
    logins.ensure_logins(owner, {_PROJECTOR: password})
    dsn = logins.with_user(owner, login_of(_PROJECTOR), password)
    stop, stored, begin = context.Event(), context.Value("q", 0), time.monotonic()
    process = context.Process(target=_store, args=(dsn, rate, stop, stored))
    if rate:
        process.start()
    try:
        yield lambda: stored.value / (time.monotonic() - begin)
    finally:
        stop.set()
        if rate:
            process.join(30)


def _store(dsn: str, rate: int, stop: Event, stored: object) -> None:
    fresh, begin = alert_history.fresh(), time.monotonic()
    with PostgresIntake(dsn, alert_history.POLICY) as intake:
        for number in itertools.count():
            time.sleep(max(0.0, begin + number * _BATCH / rate - time.monotonic()))
            if stop.is_set():
                return
            intake.store(list(itertools.islice(fresh, _BATCH)), [])
            stored.value += _BATCH  # type: ignore[attr-defined]


def _calls(client: httpx.Client, total: int, seconds: int) -> Iterator[Result]:
    """Each kind at a rate, timed from when each call was due; a health check beside each as the reference."""
    numbers = itertools.cycle(np.random.default_rng(1).integers(1, total, 5000).tolist())
    cursors = itertools.cycle(_cursors(client))
    whole_hours = END // HOUR_MS * HOUR_MS

    def alerts(**query: str | int) -> httpx.Response:
        return client.get("/v1/alerts", params={"limit": 50, **query})

    def summary(begin: int, end: int, **query: int) -> httpx.Response:
        return client.get("/v1/alerts/summary", params={"from": begin, "to": end, **query})

    kinds: dict[str, Callable[[], httpx.Response]] = {
        "list: newest": alerts,
        "list: open": lambda: alerts(state="open"),
        "list: of a rule": lambda: alerts(ruleId=1 + next(numbers) % RULES),
        "list: of a rule, open, of a day": lambda: alerts(
            ruleId=1 + next(numbers) % RULES, state="open", to=END - MONTH_MS // 2
        ),
        "list: of a group": lambda: alerts(group=f"payeeId:{next(numbers) % PAYEES}"),
        "list: by transaction": lambda: alerts(transactionId=f"b-{next(numbers)}"),
        "list: from all over it": lambda: client.get("/v1/alerts", params=httpx.QueryParams(next(cursors))),
        "summary: a day": lambda: summary(whole_hours - 24 * HOUR_MS, whole_hours - 1),
        "summary: a week": lambda: summary(whole_hours - 7 * 24 * HOUR_MS, whole_hours - 1),
        "summary: of a rule, any minutes": lambda: summary(
            END - 100 * HOUR_MS, END, ruleId=1 + next(numbers) % RULES
        ),
    }
    ids = itertools.cycle([alert_id for cursor in range(20) for alert_id in _ids(client, next(cursors))])
    singles: dict[str, Callable[[], httpx.Response]] = {
        "single: an alert": lambda: client.get(f"/v1/alerts/{next(ids)}"),
        "single: its events": lambda: client.get(f"/v1/alerts/{next(ids)}/events"),
    }
    for bar, calls in ((_LIST_BAR_MS, kinds), (_SINGLE_BAR_MS, singles)):
        for name, call in calls.items():
            yield _measured(client, name, call, bar, seconds)


def _measured(
    client: httpx.Client, name: str, call: Callable[[], httpx.Response], bar: float, seconds: int
) -> Result:
    begin = time.monotonic() + 0.2
    health: list[float] = []
    lock = threading.Lock()

    def timed(number: int) -> float:
        due = begin + number / _RATE
        time.sleep(max(0.0, due - time.monotonic()))
        answer = client.get("/livez") if number % 10 == 0 else call()
        elapsed = (time.monotonic() - due) * 1000
        answer.raise_for_status()
        if number % 10 == 0:
            with lock:
                health.append(elapsed)
            return float("nan")
        return elapsed

    with ThreadPoolExecutor(16) as threads:
        times = [one for one in threads.map(timed, range(_RATE * seconds)) if one == one]  # noqa: PLR0124 - no NaN
    p50, p99 = np.percentile(times, [50, 99])
    told = f"{name}, p99 of {_RATE} a second (p50 {p50:.1f}; reference: p99 of /livez)"
    return results.at_most(told, float(p99), "ms", bar, reference=float(np.percentile(health, 99)))


def _cursors(client: httpx.Client) -> list[str]:
    """From a dozen places of the list, an hour or days apart."""
    cursors = []
    for part in range(12):
        query = {"limit": 50, "to": END - part * MONTH_MS // 12}
        page = client.get("/v1/alerts", params=query).raise_for_status()
        cursors.append(httpx.URL(page.links["next"]["url"]).params)
    return [str(params) for params in cursors]


def _ids(client: httpx.Client, cursor: str) -> list[str]:
    page = client.get("/v1/alerts", params=httpx.QueryParams(cursor)).raise_for_status()
    return [item["alertId"] for item in page.json()["items"]]


if __name__ == "__main__":
    main()
