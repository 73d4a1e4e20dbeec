"""Folding on a real Postgres: in whatever batches alerts come and whatever people do in between, the log folded anew is
what is there, byte by byte."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import psycopg
import pytest

from alert_api.adapters.cases import case_fold
from alert_api.adapters.cases.case_log import entries_after
from alert_api.adapters.cases.case_rebuild import rebuild
from alert_api.adapters.cases.case_rows import (
    CASE_COLUMNS,
    EPISODE_COLUMNS,
    stored_case,
    stored_episode,
)
from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.snoozes.postgres_snooze_desk import PostgresSnoozeDesk
from alert_api.adapters.snoozes.postgres_snoozes import PostgresSnoozes
from alert_api.domain.cases.folding import CaseBook
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze_commands import RequestSnooze, SnoozePolicy
from alert_api.domain.cases.work import Resolve
from alert_api.errors import AlertApiError, StaleCase
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import Origin
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import rows
from tests.unit.alert_api.support.case_log import COMMANDS, GROUPS, SCOPES, snooze_command
from tests.unit.alert_api.support.samples import EPOCH, alert, received

pytestmark = pytest.mark.integration

POLICY = CasePolicy(None, ("payeeId", "beneficiaryId"), 1_000)


@pytest.fixture
def desk(alerts_database: AlertsDatabase) -> Iterator[PostgresCaseDesk]:
    pool = open_pool(alerts_database.api, 2)
    yield PostgresCaseDesk(pool)
    pool.close()


@pytest.fixture
def snoozes(alerts_database: AlertsDatabase) -> Iterator[Snoozing]:
    pool = open_pool(alerts_database.api, 2)
    desk, at_once = (PostgresSnoozeDesk(pool, SnoozePolicy(four_eyes=eyes)) for eyes in (True, False))
    yield Snoozing(PostgresSnoozes(pool), desk, at_once)
    pool.close()


@pytest.fixture
def cases(alerts_database: AlertsDatabase) -> Iterator[PostgresCases]:
    pool = open_pool(alerts_database.api, 2)
    yield PostgresCases(pool)
    pool.close()


@dataclass(frozen=True, slots=True)
class Snoozing:
    """Reader and desk; `act` asks for a snooze of bob, approves one of ada, or ends one, as chance has it."""

    reader: PostgresSnoozes
    desk: PostgresSnoozeDesk
    at_once: PostgresSnoozeDesk

    def act(self, chance: random.Random, now: int) -> None:
        snoozes = [stored.snooze for stored in self.reader.page(None, now, None, 100).snoozes]
        what = chance.choice(["request", "approve", "reject", "end"])
        with suppress(AlertApiError):
            if what == "request":
                scope, expires_at = chance.choice(SCOPES), now + chance.randint(100, 2_000)
                request = RequestSnooze(
                    actor="ada", now=now, scope=scope, until="u", expires_at=expires_at, reason="known"
                )
                chance.choice([self.desk, self.at_once]).request(request, Origin())
            elif snoozes:
                snooze = chance.choice(snoozes)
                command = snooze_command(what, snooze, now)
                self.desk.step(snooze.snooze_id, command, lambda _: True, Origin())


def drawn(chance: random.Random, number: int) -> dict[str, Any]:
    """An alert of a few rules and groups, near the others in time."""
    event_time = EPOCH + chance.randrange(0, 400)
    return alert(
        number,
        ruleId=chance.randint(1, 3),
        group=chance.choice(GROUPS),
        eventTime=event_time,
        windowStart=event_time - chance.randint(1, 8),
        windowEnd=event_time,
        detectedAt=EPOCH + 37 * number,
        value=chance.choice(["1000.01", "4000", "12345678901234567890123456789.5"]),
    )


def folded_purely(database: AlertsDatabase) -> CaseBook:
    with psycopg.connect(database.owner) as connection, connection.cursor() as cursor:
        book = CaseBook(CasePolicy())
        book.fold(entries_after(cursor, -1, 1_000_000))
    return book


def compare_with_the_log(database: AlertsDatabase) -> None:
    """The tables are what one pass over the log gives, and what folding it anew into them gives."""
    book = folded_purely(database)
    with psycopg.connect(database.owner) as connection:
        select = f"SELECT {CASE_COLUMNS} FROM alerts.cases c"
        stored_cases = {row[0]: stored_case(row) for row in connection.execute(select)}
        select = f"SELECT {EPISODE_COLUMNS} FROM alerts.episodes e"
        stored_episodes = {row[0]: stored_episode(row) for row in connection.execute(select)}
        links = connection.execute("SELECT episode_id, case_id FROM alerts.case_episodes").fetchall()
        openings = connection.execute(
            "SELECT case_id, version, position, occurred_at FROM alerts.case_openings ORDER BY position"
        ).fetchall()
        marks = connection.execute("SELECT alert_id::text, snooze_id FROM alerts.snoozed_alerts").fetchall()
        counted = connection.execute("SELECT snooze_id, alerts FROM alerts.snooze_counts").fetchall()
    assert stored_cases == book.cases
    assert stored_episodes == {
        episode_id: episode for series in book.episodes.values() for episode_id, episode in series.items()
    }
    assert sorted(links) == sorted((episode, case) for episode, cases in book.links.items() for case in cases)
    assert openings == [
        (opening.case_id, opening.version, opening.position, opening.occurred_at) for opening in book.openings
    ]
    assert dict(marks) == {entry.alert.alert_id: entry.snooze_id for entry in book.suppressed}
    assert len(marks) == len(book.suppressed)
    assert dict(counted) == Counter(entry.snooze_id for entry in book.suppressed)
    before, after = rebuild(database.projector, keep=False, progress=lambda _: None)
    assert before == after


@pytest.mark.parametrize("seed", range(4))
def test_the_log_folded_anew_is_what_is_there(
    alerts_database: AlertsDatabase,
    desk: PostgresCaseDesk,
    cases: PostgresCases,
    snoozes: Snoozing,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(case_fold, "CHUNK", 7)
    chance = random.Random(seed)
    numbers, done = list(range(1, 150)), 0
    policies = [POLICY, replace(POLICY, gap_ms=5), replace(POLICY, reopen_ms=0, subject_fields=())]
    for policy in policies:
        with PostgresIntake(alerts_database.projector, policy) as intake:
            for _ in range(8):
                batch = [numbers.pop(0) for _ in range(chance.randint(1, 6))]
                batch += [chance.randint(1, batch[-1])]  # a repetition changes nothing
                intake.store([received(drawn(random.Random(number), number)) for number in batch], [])
                for stored in cases.page(CaseFilter(), None, 100).cases:
                    if chance.random() < 0.3:
                        command = chance.choice(COMMANDS)(
                            chance.choice(["ada", "bob"]), EPOCH + 37 * batch[-1]
                        )
                        with suppress(AlertApiError):
                            desk.work(stored.case.case_id, command, lambda _: True, Origin())
                            done += 1
                for _ in range(chance.randint(0, 3)):
                    snoozes.act(chance, EPOCH + 37 * batch[-1])
    assert done > 10
    assert rows(alerts_database.owner, "SELECT FROM alerts.snoozed_alerts")
    compare_with_the_log(alerts_database)


def test_rebuilding_mends_what_is_not_what_the_log_adds_up_to(
    alerts_database: AlertsDatabase, intake: PostgresIntake
) -> None:
    intake.store([received(alert(number)) for number in range(1, 20)], [])
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("UPDATE alerts.cases SET count = 1")
        connection.execute("INSERT INTO alerts.case_episodes VALUES (4711, 4711)")
    before, after = rebuild(alerts_database.projector, keep=False, progress=lambda _: None)
    assert {table for table in before if before[table] != after[table]} == {"cases", "case_episodes"}
    told: list[int] = []
    assert rebuild(alerts_database.projector, keep=True, progress=told.append) == (before, after)
    assert told
    compare_with_the_log(alerts_database)


def test_alerts_of_before_are_folded_at_the_start(alerts_database: AlertsDatabase) -> None:
    """As a projector of before stores them: without folding."""
    with psycopg.connect(alerts_database.owner) as connection:
        for number in range(1, 30):
            connection.execute(
                "INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at,"
                ' content) SELECT %(alertId)s, 1, 1, \'{"payeeId": "25"}\', %(eventTime)s, 1, %(content)s::json',
                {**alert(number), "content": received(alert(number)).content},
            )
            connection.execute(
                "INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at)"
                " VALUES (%s, 1, 'AlertRaised', 1)",
                [alert(number)["alertId"]],
            )
    with PostgresIntake(alerts_database.projector, POLICY) as intake:
        assert intake.store([received(alert(30))], []) == 1
    book = folded_purely(alerts_database)
    assert [case.count for case in book.cases.values()] == [30]
    assert next(iter(book.cases.values())).subject.text == '{"field":"payeeId","value":"25"}'
    compare_with_the_log(alerts_database)


def test_a_replay_of_alerts_never_reverts_work(
    intake: PostgresIntake, desk: PostgresCaseDesk, cases: PostgresCases
) -> None:
    alerts = [received(alert(number)) for number in range(1, 5)]
    intake.store(alerts, [])
    [stored] = cases.page(CaseFilter(), None, 10).cases
    resolve = Resolve(actor="ada", now=EPOCH, outcome="false_positive")
    desk.work(stored.case.case_id, resolve, lambda version: version == 1, Origin())
    assert intake.store(alerts, []) == 0
    [after] = cases.page(CaseFilter(), None, 10).cases
    assert (after.case.state, after.case.outcome, after.case.count) == ("resolved", "false_positive", 4)
    with pytest.raises(StaleCase):
        desk.work(stored.case.case_id, resolve, lambda version: version == 1, Origin())
    assert intake.store([received(alert(5))], []) == 1
    [reopened] = cases.page(CaseFilter(), None, 10).cases
    assert (reopened.case.state, reopened.case.version, reopened.case.count) == ("reopened", 3, 5)
    kinds = [
        (event.version, event.kind, event.actor)
        for event in cases.events(reopened.case.case_id, None, 9).events
    ]
    assert kinds == [(3, "CaseReopened", None), (2, "CaseResolved", "ada"), (1, "CaseOpened", None)]
