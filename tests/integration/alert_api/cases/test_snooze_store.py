"""Snoozes on a real Postgres: asked for, approved, ended, read, and alerts stored meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.snoozes.postgres_snooze_desk import PostgresSnoozeDesk
from alert_api.adapters.snoozes.postgres_snoozes import PostgresSnoozes
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze_commands import ApproveSnooze, EndSnooze, RequestSnooze, SnoozePolicy
from alert_api.domain.cases.snooze_scope import SnoozeScope
from alert_api.errors import KeyReused, SnoozeNotFound, SnoozeNotPossible, SnoozeStateConflict, StaleSnooze
from alert_api.service.alert_queries import AlertFilter
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import Origin
from alert_api.service.snoozes.snooze_queries import SnoozeCounts
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, received

pytestmark = pytest.mark.integration

HOUR = 3_600_000
GROUP = {"payeeId": "25"}
SCOPE = SnoozeScope(1, ("payeeId", "25"), GROUP)
REQUEST: dict[str, Any] = {
    "actor": "ada", "now": EPOCH, "scope": SCOPE, "until": "as asked", "expires_at": EPOCH + HOUR, "reason": "known",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything over one pool, and a projector."""

    alerts: PostgresAlerts
    cases: PostgresCases
    reader: PostgresSnoozes
    desk: PostgresSnoozeDesk
    at_once: PostgresSnoozeDesk
    intake: PostgresIntake

    def store(self, *numbers: int, **members: Any) -> None:
        made = [
            alert(
                number,
                **{
                    "ruleId": 1,
                    "ruleName": "Bursts",
                    "group": GROUP,
                    "detectedAt": EPOCH + number,
                    **members,
                },
            )
            for number in numbers
        ]
        assert self.intake.store([received(one) for one in made], []) == len(made)

    def ids(self, **members: Any) -> list[str]:
        return [shown.alert_id for shown in self.alerts.page(AlertFilter(**members), None, 100).alerts]


@pytest.fixture
def desk(alerts_database: AlertsDatabase) -> Iterator[Desk]:
    pool = open_pool(alerts_database.api, 4)
    with PostgresIntake(alerts_database.projector, CasePolicy(None, ("payeeId",))) as intake:
        intake.store([received(alert(99, ruleId=9, group={"payeeId": "99"}))], [])
        yield Desk(
            PostgresAlerts(pool),
            PostgresCases(pool),
            PostgresSnoozes(pool),
            PostgresSnoozeDesk(pool, SnoozePolicy()),
            PostgresSnoozeDesk(pool, SnoozePolicy(four_eyes=False)),
            intake,
        )
    pool.close()


def test_alerts_are_marked_counted_and_listed_and_are_in_no_case(desk: Desk) -> None:
    desk.store(1)
    snooze_id = desk.desk.request(RequestSnooze(**REQUEST), Origin("r1"))
    desk.store(2)
    request = desk.reader.get(snooze_id).snooze.request
    assert (request.scope, request.actor, request.until) == (SCOPE, "ada", "as asked")
    approve = ApproveSnooze(actor="bob", now=EPOCH + 5, reason="so", content_hash=request.content_hash)
    desk.desk.step(snooze_id, approve, lambda version: version == 1, Origin("r2"))
    desk.store(3, 4)
    desk.store(5, ruleId=2)
    desk.store(6, detectedAt=EPOCH + HOUR)
    assert desk.intake.store([received(alert(3))], []) == 0, "a replay changes nothing"
    assert set(desk.ids(snooze_id=snooze_id)) == set(desk.ids(snoozed=True)) == {alert_id(3), alert_id(4)}
    shown = {
        stored.alert_id: stored.snooze_id for stored in desk.alerts.page(AlertFilter(), None, 100).alerts
    }
    assert shown == {alert_id(n): snooze_id if n in (3, 4) else None for n in (1, 2, 3, 4, 5, 6, 99)}
    assert set(desk.ids(snoozed=False)) == {alert_id(n) for n in (1, 2, 5, 6, 99)}
    [case] = [
        stored.case
        for stored in desk.cases.page(CaseFilter(), None, 9).cases
        if "25" in stored.case.subject.text
    ]
    assert case.count == 4
    in_case = desk.cases.alerts(case.case_id, None, None, 99).alerts
    assert {stored.alert_id for stored in in_case} == {alert_id(n) for n in (1, 2, 5, 6)}
    stored = desk.reader.get(snooze_id)
    assert (stored.alerts, stored.first, stored.rule_name) == (2, alert(3)["eventTime"], "Bursts")
    assert desk.reader.covering([alert_id(3), alert_id(5)]) == {alert_id(3): snooze_id}
    assert desk.reader.counts(EPOCH + 9) == SnoozeCounts(0, 1, 2)
    desk.desk.step(snooze_id, EndSnooze(actor="ada", now=EPOCH + 9, reason="over"), lambda _: True, Origin())
    desk.store(7)
    assert desk.ids(snooze_id=snooze_id, rule_ids=(1,)) == desk.ids(snoozed=True)
    assert desk.alerts.get(alert_id(7)).snooze_id is None


def test_a_position_decides_and_not_the_clock(desk: Desk) -> None:
    """Detected before it was asked for, and stored after: covered; ended, and detected before: not."""
    snooze_id = desk.at_once.request(RequestSnooze(**REQUEST), Origin())
    desk.store(1, detectedAt=EPOCH - HOUR)
    end = EndSnooze(actor="eve", now=EPOCH + 1, reason="over")
    desk.desk.step(snooze_id, end, lambda _: True, Origin())
    desk.store(2, detectedAt=EPOCH - HOUR)
    assert desk.ids(snoozed=True) == [alert_id(1)]


def test_states_are_of_a_time(desk: Desk) -> None:
    waiting, working, rejected, over = (
        desk.desk.request(RequestSnooze(**REQUEST), Origin()),
        desk.at_once.request(RequestSnooze(**REQUEST), Origin()),
        desk.desk.request(RequestSnooze(**REQUEST), Origin()),
        desk.at_once.request(RequestSnooze(**{**REQUEST, "expires_at": EPOCH + 1}), Origin()),
    )
    end = EndSnooze(actor="ada", now=EPOCH, reason="not needed")
    desk.desk.step(rejected, end, lambda _: True, Origin())
    now = EPOCH + 1
    states = {"requested": [waiting], "in_force": [working], "ended": [rejected], "expired": [over]}
    for state, expected in states.items():
        page = desk.reader.page(state, now, None, 9)  # type: ignore[arg-type]
        assert [stored.snooze.snooze_id for stored in page.snoozes] == expected
        assert [stored.snooze.state(now) for stored in page.snoozes] == [state]
    assert desk.reader.counts(now) == SnoozeCounts(1, 1, 0)
    first = desk.reader.page(None, now, None, 3)
    rest = desk.reader.page(None, now, first.following, 3)
    shown = [stored.snooze.snooze_id for stored in (*first.snoozes, *rest.snoozes)]
    assert (shown, rest.following) == ([over, rejected, working, waiting], None)
    assert desk.reader.page("requested", EPOCH + HOUR, None, 9).snoozes == []


def test_a_key_is_for_one_request_and_a_version_for_one_step(
    desk: Desk, alerts_database: AlertsDatabase
) -> None:
    once = Origin("r1", "k", "hash")
    ids = {desk.desk.request(RequestSnooze(**REQUEST), once) for _ in range(2)}
    assert len(ids) == 1
    with pytest.raises(KeyReused):
        desk.desk.request(RequestSnooze(**REQUEST), Origin("r2", "k", "another"))
    [snooze_id] = ids
    end = EndSnooze(actor="ada", now=EPOCH, reason="over")
    with pytest.raises(StaleSnooze):
        desk.desk.step(snooze_id, end, lambda version: version == 2, once)
    for _ in range(2):
        desk.desk.step(snooze_id, end, lambda version: version == 1, once)
    with pytest.raises(KeyReused):
        desk.desk.step(snooze_id, end, lambda _: True, Origin("r2", "k", "another"))
    with pytest.raises(SnoozeStateConflict):
        desk.desk.step(snooze_id, end, lambda _: True, Origin())
    with pytest.raises(SnoozeNotFound):
        desk.desk.step(4_711, end, lambda _: True, Origin())
    with psycopg.connect(alerts_database.owner) as connection:
        steps = connection.execute("SELECT actor, request_id, version FROM alerts.snooze_steps").fetchall()
    assert steps == [("ada", "r1", 2)]


def test_what_no_case_is_about_cannot_be_snoozed(desk: Desk) -> None:
    scope = SnoozeScope(subject=("paymentType", "CSH"))
    with pytest.raises(SnoozeNotPossible, match=r"subject.field: .* cases are about: payeeId"):
        desk.desk.request(RequestSnooze(**{**REQUEST, "scope": scope}), Origin())


def test_a_burst_that_comes_beside_the_request_is_in_one_order_with_it(
    desk: Desk, alerts_database: AlertsDatabase
) -> None:
    """Whichever goes first: an alert is covered just where its position is behind the request's."""
    asked: list[int] = []
    worker = threading.Thread(
        target=lambda: asked.append(desk.at_once.request(RequestSnooze(**REQUEST), Origin()))
    )
    for number in range(1, 21):
        desk.store(number)
        if number == 7:
            worker.start()
    worker.join(30)
    [snooze_id] = asked
    with psycopg.connect(alerts_database.owner) as connection:
        behind = connection.execute(
            "SELECT alert_id::text FROM alerts.alert_events JOIN alerts.alerts USING (alert_id)"
            " WHERE position > %s AND type = 'AlertRaised' AND rule_id = 1",
            [snooze_id],
        ).fetchall()
    assert set(desk.ids(snoozed=True)) == {one for (one,) in behind}
