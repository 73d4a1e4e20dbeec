"""Alerts are counted as they come: a summary says what counting them one by one would say, whatever the span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import psycopg
import pytest

from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.retention.postgres_counts import PostgresCounts
from alert_api.service.acknowledgement import acknowledge
from alert_api.service.alert_counts import HOUR_MS, Span, Tally
from alert_api.service.alert_queries import AlertFilter
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.servers import PostgresServer
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, received

pytestmark = pytest.mark.integration

ALERTS = 200
SPREAD = 5 * HOUR_MS


@pytest.fixture
def counter(alerts_database: AlertsDatabase) -> Iterator[PostgresAlertEvents]:
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("TRUNCATE alerts.alert_counts, alerts.alert_count_changes")
    with open_pool(alerts_database.api, 1) as pool:
        yield PostgresAlertEvents(pool)


@pytest.fixture
def retention(postgres: PostgresServer, alerts_database: AlertsDatabase) -> PostgresCounts:
    return PostgresCounts(postgres.login(alerts_database.owner, "tripline_alert_retention"))


def test_changes_are_settled_once(
    intake: PostgresIntake, retention: PostgresCounts, alerts_database: AlertsDatabase
) -> None:
    intake.store([received(alert(number)) for number in range(9)], [])
    with psycopg.connect(alerts_database.owner) as connection:
        # somebody stores meanwhile: that is not waited for, and settled by the next round
        connection.execute(
            "INSERT INTO alerts.alert_count_changes VALUES (1, 1, %s, 1, 0)", [EPOCH // HOUR_MS]
        )
        assert retention.settle_counts() == 1
        assert retention.settle_counts() == 0
    assert retention.settle_counts() == 1
    with psycopg.connect(alerts_database.owner) as connection:
        assert connection.execute("SELECT open_count FROM alerts.alert_counts").fetchall() == [(10,)]


def tallied(pairs: Iterable[tuple[int, bool]]) -> dict[int, Tally]:
    """By the first, those that are acknowledged apart."""
    counts = Counter(pairs)
    return {key: Tally(counts[key, False], counts[key, True]) for key in {key for key, _ in counts}}


def test_a_summary_is_what_counting_gives(
    alerts: PostgresAlerts,
    intake: PostgresIntake,
    counter: PostgresAlertEvents,
    retention: PostgresCounts,
) -> None:
    rng = Random(7)
    made = [
        alert(
            number,
            ruleId=rng.randint(1, 3),
            ruleVersion=rng.randint(1, 2),
            eventTime=EPOCH + rng.randrange(SPREAD),
        )
        for number in range(ALERTS)
    ]
    heeded = set(rng.sample(range(ALERTS), ALERTS // 3))
    for begin in range(0, ALERTS, 40):
        # each batch with some of the one before: what comes again is counted once
        intake.store([received(one) for one in made[max(0, begin - 15) : begin + 40]], [])
        for number in sorted(heeded & set(range(begin, begin + 40))):
            acknowledge(alerts, alert_id(number), "ada", None, lambda: EPOCH)
        if begin in (40, 120):
            retention.settle_counts()
    hour = EPOCH // HOUR_MS * HOUR_MS
    spans = [
        Span(hour, hour + 6 * HOUR_MS - 1),
        Span(hour, hour + HOUR_MS),
        Span(hour + 1, hour + 2 * HOUR_MS - 2),
    ]
    spans += [
        Span(*sorted(EPOCH - HOUR_MS + rng.randrange(7 * HOUR_MS) for _ in range(2))) for _ in range(60)
    ]
    for span in spans:
        for rules, version in (([], None), ([2], None), ([3, 1], 1), ([], 2)):
            chosen = [
                (one["ruleId"], one["eventTime"] // HOUR_MS, number in heeded)
                for number, one in enumerate(made)
                if span.earliest <= one["eventTime"] <= span.latest
                and (not rules or one["ruleId"] in rules)
                and version in (None, one["ruleVersion"])
            ]
            counted = counter.count(
                AlertFilter(tuple(rules), version, earliest=span.earliest, latest=span.latest)
            )
            assert counted.by_rule == tallied((rule, known) for rule, _, known in chosen), span
            assert counted.by_hour == tallied((hour, known) for _, hour, known in chosen), span


def test_nobody_counts_by_hand(alerts_database: AlertsDatabase) -> None:
    for dsn in (alerts_database.projector, alerts_database.api):
        for statement in (
            "UPDATE alerts.alert_counts SET open_count = 0",
            "SELECT alerts.count_acknowledged()",
        ):
            with psycopg.connect(dsn) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())
