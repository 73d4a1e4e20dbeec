"""Alerts of shadows in a real Postgres: kept apart from all others, and compared with the rule's own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.shadows.postgres_past_shadows import DAYS, PostgresPastShadows
from alert_api.adapters.shadows.postgres_shadows import PostgresShadows
from alert_api.errors import RecordNotStorable
from alert_api.service.alert_counts import HOUR_MS, Span
from alert_api.service.shadows.shadow_comparison import Alerted, HourOfBoth
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import count, eventually, new_topic, produce, projector
from tests.integration.alert_api.support.shadow_intake import store
from tests.registry_log import VERSIONS
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import EPOCH, alert
from tripline_contracts import topics

pytestmark = pytest.mark.integration

EVENTS = """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
VALUES (%s, gen_random_uuid(), %s, %s, %s, 0, 'test', %s)
"""
RULE, NOON = 1, EPOCH - EPOCH % HOUR_MS
DAY_MS = 24 * HOUR_MS
_NUMBERS = itertools.count(VERSIONS + 1, 2)


@dataclass(frozen=True, slots=True)
class Started:
    """Rule 1 with a shadow, of a version that no other test has: the log only grows."""

    database: AlertsDatabase
    version: int

    def given(self, number: int, time: int, *, shadow: bool = False, version: int = 1) -> dict[str, Any]:
        """An alert about transaction t<number> at that event time."""
        made = alert(number + 1000 * shadow, ruleId=RULE, ruleVersion=self.version if shadow else version)
        made |= {"eventTime": time, "mode": "shadow" if shadow else "live"}
        made["transaction"] |= {"transactionId": f"t{number}", "eventTime": time}
        return made

    def count(self, table: str) -> int:
        return count(self.database.owner, table)


@pytest.fixture
def started(alerts_database: AlertsDatabase) -> Started:
    version = next(_NUMBERS)
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("TRUNCATE alerts.shadow_alerts")
        connection.execute(EVENTS, (9_000_000 + version, "RuleShadowStarted", RULE, version, "{}"))
    return Started(alerts_database, version)


def test_they_are_deleted_when_their_topic_has_forgotten_them(
    started: Started, intake: PostgresIntake, postgres: PostgresServer
) -> None:
    days = [0, 1, 2, 5]
    alerts = [started.given(day, NOON, shadow=True) | {"detectedAt": NOON + day * DAY_MS} for day in days]
    assert store(intake, *alerts) == len(days)
    retention = postgres.login(started.database.owner, "tripline_alert_retention")
    PostgresPastShadows(retention, lambda: NOON + (DAYS + 2) * DAY_MS).round()
    with psycopg.connect(started.database.owner) as connection:
        left = connection.execute("SELECT transaction_id FROM alerts.shadow_alerts ORDER BY detected_at")
        assert left.fetchall() == [("t2",), ("t5",)]


def test_the_api_keeps_them_as_long_as_their_topic() -> None:
    assert topics.load("shadow-alerts.v1").config["retention.ms"] == str(DAYS * DAY_MS)


def test_they_are_compared_with_the_rule_s_alerts_by_transaction(
    started: Started, intake: PostgresIntake
) -> None:
    times = {number: NOON + number * 20 * 60_000 for number in range(6)}
    by_rule = [started.given(number, times[number]) for number in (0, 1, 2, 4)]
    by_shadow = [started.given(number, times[number], shadow=True) for number in (1, 2, 3, 5)]
    assert store(intake, *by_rule, *by_shadow) == 8
    assert store(intake, *by_rule, *by_shadow) == 0, "what comes again is known"
    pool = open_pool(started.database.api, 1)
    try:
        compared = PostgresShadows(pool).compare(RULE, started.version, Span(NOON, NOON + 3 * HOUR_MS))
        later = PostgresShadows(pool).compare(RULE, started.version, Span(times[4], times[5]))
        other = PostgresShadows(pool).compare(RULE, started.version + 1, Span(NOON, NOON + 3 * HOUR_MS))
    finally:
        pool.close()
    hour = NOON // HOUR_MS
    assert compared.hours == [HourOfBoth(hour, 2, 1, 0), HourOfBoth(hour + 1, 0, 1, 2)]
    assert compared.newest_only_active == [Alerted("t4", times[4]), Alerted("t0", times[0])]
    assert compared.newest_only_shadow == [Alerted("t5", times[5]), Alerted("t3", times[3])]
    assert later.hours == [HourOfBoth(hour + 1, 0, 1, 1)]
    assert other.hours == [HourOfBoth(hour, 0, 3, 0), HourOfBoth(hour + 1, 0, 1, 0)]


def test_nothing_comes_of_them_elsewhere(started: Started, intake: PostgresIntake) -> None:
    assert store(intake, started.given(1, EPOCH, shadow=True)) == 1
    for table in ("alerts", "alert_events", "episodes", "cases"):
        assert started.count(table) == 0, table


def test_a_version_that_nobody_started_is_refused(started: Started, intake: PostgresIntake) -> None:
    with pytest.raises(RecordNotStorable, match="was never started as a shadow"):
        store(intake, started.given(1, EPOCH, shadow=True) | {"ruleVersion": 1})
    with pytest.raises(RecordNotStorable, match="was never published"):
        store(intake, started.given(1, EPOCH, version=started.version))
    assert started.count("shadow_alerts") == 0


def test_once_it_is_promoted_its_alerts_are_the_rule_s(started: Started, intake: PostgresIntake) -> None:
    number, body = started.version + 1, f'{{"definitionVersion": {started.version}}}'
    with psycopg.connect(started.database.owner) as connection:
        connection.execute(EVENTS, (9_000_000 + number, "RuleShadowPromoted", RULE, number, body))
    assert (
        store(intake, started.given(1, EPOCH, shadow=True), started.given(2, EPOCH, version=started.version))
        == 2
    )
    assert (started.count("alerts"), started.count("shadow_alerts")) == (1, 1)


def test_the_projector_brings_them_from_their_topic(kafka: str, started: Started) -> None:
    topic, shadows = new_topic(kafka), new_topic(kafka, "shadow-alerts.v1")
    produce(kafka, topic, [started.given(1, EPOCH)])
    produce(
        kafka,
        shadows,
        [started.given(1, EPOCH, shadow=True), started.given(2, EPOCH, shadow=True) | {"mode": "live"}],
    )
    with projector(kafka, topic, started.database.projector, f"--shadows={shadows}"):
        eventually(lambda: started.count("alerts") == 1, "the rule's alert is there")
        eventually(lambda: started.count("shadow_alerts") == 1, "the shadow's is there")
        eventually(lambda: started.count("unreadable_records") == 1, "what is neither is aside")
