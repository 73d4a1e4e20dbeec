"""A killed database, a killed projector and a killed alert API lose nothing that they had said, and double nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from alert_api.adapters.cases.case_rebuild import rebuild
from tests.integration.alert_api.support.api_process import is_ready, live_api, seed
from tests.integration.alert_api.support.servers import (
    alerts_numbered,
    committed,
    count,
    eventually,
    new_topic,
    produce,
    projector,
    rows,
)
from tests.registry_log import publish_everything
from tests.unit.alert_api.support.samples import alert, alert_id
from tripline_demo import logins, migrations
from tripline_demo.embedded import postgres as embedded
from tripline_demo.groups import login_of
from tripline_demo.processes import leash, ports

pytestmark = pytest.mark.faults

ALERTS = 300
KILLED_AFTER = 5
"""Answers."""
PASSWORD = "of-tests"


@dataclass
class KillableDatabase:
    """A durable one (its writes are synced), which keeps its port."""

    cluster: embedded.Cluster
    server: leash.Leashed | None = None

    def start(self) -> None:
        self.cluster.prepare()
        self.server = leash.start(
            self.cluster.command(),
            log=self.cluster.home / "log",
            stop_signal=signal.SIGINT,
            user=self.cluster.user(),
        )
        eventually(lambda: embedded.is_ready(self.cluster.dsn()), "the database is there")

    def kill(self) -> None:
        """Postmaster and all: the leash ends with it."""
        assert self.server is not None
        postmaster = psutil.Process(int((self.cluster.data / "postmaster.pid").read_text().splitlines()[0]))
        everybody = [postmaster, *postmaster.children()]
        for process in everybody:
            process.send_signal(signal.SIGKILL)
        self.server.process.wait(30)
        psutil.wait_procs(everybody, 30)
        self.server.stop()

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop()

    def dsn(self, group: str) -> str:
        return logins.with_user(self.owner, login_of(group), PASSWORD)

    @property
    def owner(self) -> str:
        return self.cluster.dsn("killable")


@pytest.fixture(scope="module")
def database(servers_folder: Path) -> Iterator[KillableDatabase]:
    with embedded.running(servers_folder / "postgres-killable") as first:
        logins.ensure_database(first.dsn(), "killable")
        migrations.upgrade(first.dsn("killable"))
        logins.ensure_logins(
            first.dsn("killable"), dict.fromkeys(("tripline_alert_projector", "tripline_alert_api"), PASSWORD)
        )
        publish_everything(first.dsn("killable"))
    made = KillableDatabase(replace(first, port=ports.free_ports(1)[0], settings=()))
    made.start()
    yield made
    made.stop()


def test_a_killed_database_keeps_what_was_committed_and_gets_the_rest(
    kafka: str, database: KillableDatabase
) -> None:
    """Killed twice while alerts arrive; the projector is killed too, once, while the database is away."""
    topic = new_topic(kafka)
    dsn = database.dsn("tripline_alert_projector")
    for first in (0, ALERTS):
        with projector(kafka, topic, dsn) as running:
            produce(kafka, topic, alerts_numbered(first + 1, first + ALERTS))
            eventually(partial(more_than, database.owner, first), "some are stored")
            database.kill()
            if first:
                running.kill()
            database.start()
    with projector(kafka, topic, dsn):
        eventually(lambda: committed(kafka, topic, topic) == 2 * ALERTS, "all offsets are committed", 120)
    assert (count(database.owner, "alerts"), count(database.owner, "alert_events")) == (
        2 * ALERTS,
        2 * ALERTS,
    )
    before, after = rebuild(dsn, keep=False, progress=lambda _: None)
    assert before == after, "cases are what the log adds up to"
    assert rows(database.owner, "SELECT sum(count)::text FROM alerts.cases") == [(str(2 * ALERTS),)]


def test_a_killed_api_keeps_what_it_answered(database: KillableDatabase, tmp_path: Path) -> None:
    """Killed in the midst of acknowledgements; and then the database is. What was answered is there, once."""
    numbers = range(50_001, 50_061)
    seed(database.dsn("tripline_alert_projector"), [alert(number) for number in numbers])
    answered: list[int] = []

    def acknowledge(url: str, number: int, victim: psutil.Process | None = None) -> None:
        headers = {"Authorization": "Bearer ada-key-for-tests", "If-Match": '"1"'}
        try:
            answer = httpx.post(
                f"{url}/v1/alerts/{alert_id(number)}/acknowledge",
                json={"comment": "seen"}, headers=headers, timeout=15, verify=False,
            )  # fmt: skip
        except httpx.TransportError:
            return
        if answer.is_success:
            answered.append(number)
        if victim is not None and len(answered) >= KILLED_AFTER:
            # at once: the rest would be answered while somebody looks how far they are
            with suppress(psutil.NoSuchProcess):
                victim.kill()

    with live_api(database.dsn("tripline_alert_api"), tmp_path) as api, ThreadPoolExecutor(4) as threads:
        port = httpx.URL(api.url).port or 0
        listener = listening(port)
        list(threads.map(lambda number: acknowledge(api.url, number, listener), numbers))
        listener.wait(30)
    assert KILLED_AFTER <= len(answered) < len(numbers), "killed in the midst"
    assert not is_ready(port)
    database.kill()
    database.start()
    events = (
        "SELECT count(*) FROM alerts.alert_events WHERE type = 'AlertAcknowledged' AND alert_id = ANY ({})"
    )
    ids = "ARRAY[" + ", ".join(f"'{alert_id(number)}'::uuid" for number in answered) + "]"
    assert rows(database.owner, events.format(ids)) == [(len(answered),)]
    shown = "SELECT count(*) FROM alerts.alerts WHERE acknowledged_at IS NOT NULL"
    logged = "SELECT count(*) FROM alerts.alert_events WHERE type = 'AlertAcknowledged'"
    assert rows(database.owner, shown) == rows(database.owner, logged), "no alert is half acknowledged"
    with live_api(database.dsn("tripline_alert_api"), tmp_path) as api, ThreadPoolExecutor(4) as threads:
        list(threads.map(partial(acknowledge, api.url), numbers))
    assert rows(database.owner, logged) == [(len(numbers),)]


def more_than(owner: str, number: int) -> bool:
    """Whether so many alerts are there, and more."""
    return count(owner, "alerts") > number


def listening(port: int) -> psutil.Process:
    """Of this test's children the one that has that port."""
    for process in psutil.Process(os.getpid()).children(recursive=True):
        if any(held.laddr.port == port for held in process.net_connections("tcp") if held.status == "LISTEN"):
            return process
    raise AssertionError(f"nobody listens on {port}")
