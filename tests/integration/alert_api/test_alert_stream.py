"""Following and counting alerts on a real Postgres, with writers that commit in another order than they began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.errors import StoreUnavailable
from alert_api.service.acknowledgement import acknowledge
from alert_api.service.alert_counts import HOUR_MS, Span, Tally
from alert_api.service.alert_queries import AlertFilter
from alert_api.service.alert_stream import StreamBatch, StreamPlace
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import eventually
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, received

pytestmark = pytest.mark.integration


@pytest.fixture
def alert_events(alerts_database: AlertsDatabase) -> Iterator[PostgresAlertEvents]:
    with open_pool(alerts_database.api, 2) as pool:
        yield PostgresAlertEvents(pool)


def seen(told: StreamBatch) -> list[tuple[str, str]]:
    return [(event.kind, event.alert.alert_id) for event in told.happened]


def follow_until(
    alert_events: PostgresAlertEvents, start: StreamPlace, number: int, limit: int = 100
) -> list[StreamBatch]:
    """Looks again and again until `number` events were told: other tests' transactions may hold the horizon."""
    batches: list[StreamBatch] = []

    def enough() -> bool:
        batches.append(alert_events.after(batches[-1].reached if batches else start, limit))
        return sum(len(told.happened) for told in batches) >= number

    eventually(enough, f"{number} events are told")
    return batches


def test_events_come_once_each_in_batches_with_the_alert_as_it_is(
    alert_events: PostgresAlertEvents, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    start = alert_events.present()
    intake.store([received(alert(number)) for number in range(1, 8)], [])
    acknowledge(alerts, alert_id(3), "ada", "mine", lambda: EPOCH)
    batches = follow_until(alert_events, start, 8, limit=3)
    events = [event for told in batches for event in seen(told)]
    assert sorted(events[:7]) == sorted(("AlertRaised", alert_id(number)) for number in range(1, 8))
    assert events[7:] == [("AlertAcknowledged", alert_id(3))]
    assert all(len(told.happened) <= 3 for told in batches)
    # The alert is told as it is now: acknowledged already when its raising is told.
    states = {event.alert.alert_id: event.alert.state for told in batches for event in told.happened}
    assert states[alert_id(3)] == "acknowledged"
    assert alert_events.after(batches[-1].reached, 100).happened == ()


def test_what_commits_late_is_told_in_its_place_and_not_passed_by(
    alerts_database: AlertsDatabase, alert_events: PostgresAlertEvents, intake: PostgresIntake
) -> None:
    intake.store([received(alert(1)), received(alert(2))], [])
    with psycopg.connect(alerts_database.api) as slow, psycopg.connect(alerts_database.api) as quick:
        append = (
            "INSERT INTO alerts.alert_events (alert_id, version, type, occurred_at, actor)"
            " VALUES (%s, 2, 'AlertAcknowledged', 5, 'ada')"
        )
        slow.execute(append, (alert_id(1),))  # has its number, and is not over
        start = alert_events.present()
        quick.execute(append, (alert_id(2),))
        quick.commit()
        # Were it told now, a reader would stand behind the slow one's event when that commits.
        told = alert_events.after(start, 100)
        assert told.happened == ()
        slow.commit()
        batches = follow_until(alert_events, told.reached, 2)
    events = [event for stream_batch in batches for event in seen(stream_batch)]
    assert events == [("AlertAcknowledged", alert_id(1)), ("AlertAcknowledged", alert_id(2))]


def test_a_place_of_another_database_leads_to_the_present(
    alert_events: PostgresAlertEvents, intake: PostgresIntake
) -> None:
    intake.store([received(alert(1))], [])
    told = alert_events.after(StreamPlace(2**63, 5), 100)
    assert told.happened == ()
    assert told.reached < StreamPlace(2**63, 0)


def of(span: Span, *rules: int) -> AlertFilter:
    return AlertFilter(rules, earliest=span.earliest, latest=span.latest)


def test_counts_are_those_of_the_list(
    alert_events: PostgresAlertEvents, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    made = [
        alert(
            number, ruleId=1 + number % 3, ruleName=f"name {number}", eventTime=EPOCH + number * HOUR_MS // 4
        )
        for number in range(40)
    ]
    intake.store([received(content) for content in made], [])
    for number in range(0, 40, 5):
        acknowledge(alerts, alert_id(number), "ada", None, lambda: EPOCH)
    span = Span(made[4]["eventTime"], made[33]["eventTime"])
    counted = alert_events.count(of(span))
    chosen = [(number, content) for number, content in enumerate(made) if 4 <= number <= 33]
    by_rule = Counter((content["ruleId"], number % 5 == 0) for number, content in chosen)
    by_hour = Counter((content["eventTime"] // HOUR_MS, number % 5 == 0) for number, content in chosen)
    for tallies, wanted in ((counted.by_rule, by_rule), (counted.by_hour, by_hour)):
        assert tallies == {
            key: Tally(wanted[key, False], wanted[key, True]) for key in sorted({k for k, _ in wanted})
        }
        assert list(tallies) == sorted(tallies)
    # A rule is named as in its newest alert, whether or not that one is counted.
    assert counted.names == {1: "name 39", 2: "name 37", 3: "name 38"}
    assert alert_events.count(of(span, 2)).by_rule == {2: counted.by_rule[2]}
    assert alert_events.count(of(span, 2, 3)).by_rule == {rule: counted.by_rule[rule] for rule in (2, 3)}
    versions = {content["ruleVersion"] for content in made}
    assert alert_events.count(replace(of(span, 2), rule_version=min(versions))).total == counted.by_rule[2]
    for asked in (replace(of(span, 2), rule_version=max(versions) + 1), of(Span(0, 1))):
        nothing = alert_events.count(asked)
        assert (nothing.by_rule, nothing.by_hour, nothing.total) == ({}, {}, Tally(0, 0))


def test_a_database_that_is_away_is_said_so() -> None:
    pool = open_pool("host=127.0.0.1 port=1 connect_timeout=2", 1)
    try:
        with pytest.raises(StoreUnavailable):
            PostgresAlertEvents(pool).present()
    finally:
        pool.close()
