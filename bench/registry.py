"""`python -m bench.registry`: the registry's HTTP calls with many rules of many versions.

Prints a table, writes var/registry.json; exit code 1 if a bar is missed. The service may use one core, its database and
the clients the others. After each call `SELECT 1` is asked of the same database, past the service: where that is slow
too, the machine was busy with something else, and a bar that was missed says nothing.
"""

from __future__ import annotations

import itertools
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
import httpx
import numpy as np
import psycopg
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.registry_history import fill
from bench.harness.registry_process import DEFINITION, running_registry
from tripline_demo import logins, migrations, paths
from tripline_demo.embedded import postgres

_CALL_BAR_MS: Final = 50.0
_PAGE_BAR_MS: Final = 100.0
_PAGE_RATE: Final = 100
_ANY: Final = {"If-Match": "*"}
_WIDER: Final = 2400
_NARROWER: Final = 600
_BETWEEN_SECONDS: Final = 0.01
_MEANWHILE: Final = "    SELECT 1 meanwhile, p99"


@click.command()
@click.option("--rules", type=click.IntRange(10), default=10_000, show_default=True)
@click.option("--versions", type=click.IntRange(2), default=100, show_default=True, help="Of each rule.")
@click.option("--calls", type=click.IntRange(100), default=300, show_default=True, help="Of each kind.")
@click.option("--seconds", type=click.IntRange(1), default=10, show_default=True, help="Of pages at a rate.")
def main(*, rules: int, versions: int, calls: int, seconds: int) -> None:
    """Measures single calls, and pages at 100 requests a second."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    with _database() as owner:
        started = time.monotonic()
        fill(owner, rules, versions)
        console.print(f"{rules * versions:,} events in {time.monotonic() - started:.0f} s")
        with running_registry(owner) as client, psycopg.connect(owner, autocommit=True) as database:
            singles = _singles(_kinds(client, rules, versions), database, calls)
            measured = [*singles, *_pages(client, database, rules, seconds)]
    results.show(measured, console)
    results.write(measured, paths.var_folder() / "registry.json")
    sys.exit(0 if all(result.ok for result in measured) else 1)


@contextmanager
def _database() -> Iterator[str]:
    """The superuser's DSN of a migrated database in a folder that goes with it."""
    with (
        tempfile.TemporaryDirectory(prefix="tripline-bench-") as folder,
        postgres.running(Path(folder) / "postgres") as cluster,
    ):
        name = f"bench_{secrets.token_hex(4)}"
        logins.ensure_database(cluster.dsn(), name)
        owner = cluster.dsn(name)
        migrations.upgrade(owner)
        yield owner


def _kinds(client: httpx.Client, rules: int, versions: int) -> dict[str, Callable[[], httpx.Response]]:
    """Each kind of call, by what it does."""
    numbers = itertools.cycle(np.random.default_rng(1).permutation(rules).tolist())

    def rule() -> str:
        return f"/v1/rules/{1 + next(numbers)}"

    fresh, published = itertools.count(), list[int]()
    windows = itertools.cycle((_WIDER, _NARROWER))

    def publish() -> httpx.Response:
        answer = client.post("/v1/rules", json={**DEFINITION, "name": f"new {next(fresh)} of the bench"})
        published.append(answer.json()["ruleId"])
        return answer

    return {
        "ready: one statement": lambda: client.get("/readyz"),
        "read a rule": lambda: client.get(rule()),
        "list its versions": lambda: client.get(f"{rule()}/versions"),
        "read an old version": lambda: client.get(f"{rule()}/versions/{versions // 2}"),
        "compare two": lambda: client.get(f"{rule()}/diff", params={"from": 1, "to": versions}),
        "list rules": lambda: client.get("/v1/rules"),
        "list rules by name": lambda: client.get("/v1/rules", params={"name": f"rule {next(numbers)}"}),
        "list rules by state and field": lambda: client.get(
            "/v1/rules", params={"state": "PAUSED", "groupingKey": "payeeId"}
        ),
        "status of rules": lambda: client.get("/v1/rule-status"),
        "events of a rule": lambda: client.get("/v1/rule-events", params={"ruleId": 1 + next(numbers)}),
        "widest windows": lambda: client.get("/v1/widest-windows"),
        "audit of a rule": lambda: client.get(
            "/v1/audit", params={"kind": "rule", "subject": str(1 + next(numbers))}
        ),
        "audit of a person": lambda: client.get("/v1/audit", params={"actor": "nobody-known"}),
        "audit by time": lambda: client.get("/v1/audit", params={"since": int(time.time() * 1000) - 1000}),
        "changes": lambda: client.get("/v1/changes"),
        "look at a rule": lambda: client.post("/v1/rule-checks", json=dict(DEFINITION)),
        "publish a rule": publish,
        "change a rule": lambda: client.put(
            rule(), json={**DEFINITION, "limit": str(next(fresh))}, headers=_ANY
        ),
        # half of them take the widest window away: which one is it then?
        "widen and narrow a rule": lambda: client.put(
            "/v1/rules/1", json={**DEFINITION, "windowSeconds": next(windows)}, headers=_ANY
        ),
        "pause a rule": lambda: client.post(f"{rule()}/pause", headers=_ANY),
        "retire a rule": lambda: client.delete(f"/v1/rules/{published.pop()}", headers=_ANY),
        "change a parameter": lambda: client.put("/v1/parameters/limit", json={"value": str(next(fresh))}),
    }


def _singles(
    kinds: Mapping[str, Callable[[], httpx.Response]], database: psycopg.Connection[Any], calls: int
) -> Iterator[Result]:
    """Each kind of call, one after the other, and what the machine was like meanwhile."""
    for name, call in kinds.items():
        for _ in range(5):
            _accepted(call())
        pairs = [(_timed(call), _trivial(database)) for _ in range(calls)]
        (p50, trivial50), (p99, trivial99) = np.percentile(pairs, [50, 99], axis=0)
        yield results.at_most(
            f"{name}, p99 (reference: p50)", float(p99), "ms", _CALL_BAR_MS, reference=float(p50)
        )
        yield results.told(f"{_MEANWHILE} (reference: p50)", float(trivial99), "ms", float(trivial50))


def _pages(
    client: httpx.Client, database: psycopg.Connection[Any], rules: int, seconds: int
) -> Iterator[Result]:
    """Pages of rules from all over the list, at a rate, timed from when each was due; and what the machine was like."""
    cursors = _cursors(client, rules)
    count = _PAGE_RATE * seconds
    begin = time.monotonic() + 0.2

    def call(number: int) -> float:
        due = begin + number / _PAGE_RATE
        time.sleep(max(0.0, due - time.monotonic()))
        _accepted(client.get("/v1/rules", params={"limit": "50", "cursor": cursors[number % len(cursors)]}))
        return (time.monotonic() - due) * 1000

    with ThreadPoolExecutor(16) as threads:
        answers = [threads.submit(call, number) for number in range(count)]
        trivial = []
        while not answers[-1].done():
            trivial.append(_trivial(database))
            time.sleep(_BETWEEN_SECONDS)
        times = [answer.result() for answer in answers]
    p50, p99 = np.percentile(times, [50, 99])
    trivial50, trivial99 = np.percentile(trivial, [50, 99])
    name = f"page of rules at {_PAGE_RATE} requests a second, p99 (reference: p50)"
    yield results.at_most(name, float(p99), "ms", _PAGE_BAR_MS, reference=float(p50))
    yield results.told(f"{_MEANWHILE} (reference: p50)", float(trivial99), "ms", float(trivial50))


def _cursors(client: httpx.Client, rules: int) -> list[str]:
    cursors: list[str] = []
    page = client.get("/v1/rules", params={"limit": "100"}).raise_for_status()
    while (link := page.links.get("next")) and len(cursors) * 100 < rules:
        cursors.append(httpx.URL(link["url"]).params["cursor"])
        page = client.get("/v1/rules", params={"limit": "100", "cursor": cursors[-1]})
    return cursors or [""]


def _timed(call: Callable[[], httpx.Response]) -> float:
    begin = time.perf_counter()
    response = call()
    elapsed = (time.perf_counter() - begin) * 1000
    _accepted(response)
    return elapsed


def _trivial(database: psycopg.Connection[Any]) -> float:
    begin = time.perf_counter()
    database.execute("SELECT 1").fetchone()
    return (time.perf_counter() - begin) * 1000


def _accepted(response: httpx.Response) -> None:
    """Refusals that are part of it: what is paused cannot be paused again."""
    if response.status_code not in (200, 201, 409):
        raise click.ClickException(f"{response.request.url}: {response.status_code} {response.text[:300]}")


if __name__ == "__main__":
    main()
