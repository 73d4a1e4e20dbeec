"""Alerts that are stored at a rate while others read, as the projector stores them."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Final

import psycopg

from alert_api.adapters.postgres_intake import PostgresIntake
from bench.stored_alerts.fresh_alerts import POLICY, fresh
from tripline_demo import logins
from tripline_demo.groups import login_of

_BATCH: Final = 200
_PROJECTOR: Final = "tripline_alert_projector"


@contextmanager
def storing(owner: str, rate: int) -> Iterator[Callable[[], int]]:
    """So many a second, in a process of its own, newer than those that are there; gives how many it were so far."""
    password, context = secrets.token_urlsafe(18), get_context("spawn")
    logins.ensure_logins(owner, {_PROJECTOR: password})
    dsn = logins.with_user(owner, login_of(_PROJECTOR), password)
    stop, stored = context.Event(), context.Value("q", 0)
    process = context.Process(target=_store, args=(dsn, rate, _newest(owner) + 1, stop, stored))
    if rate:
        process.start()
    try:
        yield lambda: int(stored.value)
    finally:
        stop.set()
        if rate:
            process.join(30)


def _newest(owner: str) -> int:
    with psycopg.connect(owner) as connection:
        [(newest,)] = connection.execute("SELECT max(event_time) FROM alerts.alerts").fetchall()
    return int(newest)


def _store(dsn: str, rate: int, first: int, stop: Event, stored: object) -> None:
    new, begin = fresh(first), time.monotonic()
    with PostgresIntake(dsn, POLICY) as intake:
        for number in itertools.count():
            time.sleep(max(0.0, begin + number * _BATCH / rate - time.monotonic()))
            if stop.is_set():
                return
            stored.value += intake.store(list(itertools.islice(new, _BATCH)), [])  # type: ignore[attr-defined]
