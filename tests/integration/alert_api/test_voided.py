"""Alerts that rest on voided transactions, on a real Postgres with the rights of each role: whichever came first."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import psycopg
import pytest

from alert_api.adapters.alert_schema import alert_validator
from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.events import AlertAcknowledged, AlertId, AlertRaised, AlertVoided, Voiding
from alert_api.domain.lifecycle import fold
from alert_api.service.acknowledgement import acknowledge
from alert_api.service.alert_queries import AlertFilter
from alert_api.service.records import ReceivedAlert, read_record
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import (
    eventually,
    everything,
)
from tests.integration.alert_api.support.voided import EXAMPLES, resting_on, store
from tests.unit.alert_api.support.samples import (
    EPOCH,
    alert,
    alert_id,
    commanded,
    record,
    void,
    voiding,
)
from tripline_contracts import event_type_loader

pytestmark = pytest.mark.integration


ALERTS = [resting_on(1), resting_on(2, 1), resting_on(3, 2), resting_on(4, 1, 3), alert(5)]
VOIDS = [void(1, 1), void(3, 2), void(99, 3), void(1, 4, eventTime=EPOCH)]
MARKED = {1: (1,), 2: (1,), 3: (2,), 4: (1, 2), 5: ()}
"""By alert the names of the commands: nothing of the third, which nobody lists, and of the fourth, at another time."""


TRANSACTION_OF = {1: 1, 2: 3}


def marks(alerts: PostgresAlerts) -> dict[int, tuple[Voiding, ...]]:
    return {number: alerts.get(alert_id(number)).voided for number in MARKED}


EXPECTED = {
    number: tuple(voiding(TRANSACTION_OF[name], name) for name in names) for number, names in MARKED.items()
}


@pytest.mark.parametrize("order", ["alerts first", "commands first", "together", "in turns"])
def test_the_same_alerts_are_marked_whichever_came_first(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts, intake: PostgresIntake, order: str
) -> None:
    batches: dict[str, list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]] = {
        "alerts first": [(ALERTS, []), ([], VOIDS)],
        "commands first": [([], VOIDS), (ALERTS, [])],
        "together": [(ALERTS, VOIDS)],
        "in turns": [
            ([one] if one else [], [other] if other else [])
            for one, other in itertools.zip_longest(ALERTS, reversed(VOIDS))
        ],
    }
    assert sum(store(intake, *batch) for batch in batches[order]) == len(ALERTS)
    assert marks(alerts) == EXPECTED
    before = everything(alerts_database.owner)
    again = [resting_on(number, 1) for number in (1, 2, 3, 4)]
    assert store(intake, [*again, alert(5, detectedAt=5)], VOIDS) == 0
    assert everything(alerts_database.owner) == before


def test_each_mark_is_an_event_and_leaves_the_state_as_it_is(
    alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    store(intake, [resting_on(4, 1, 3)], [void(1, 1)])
    acknowledge(alerts, alert_id(4), "ada", "seen", lambda: EPOCH + 6_000)
    store(intake, [], [void(3, 2)])
    events = alerts.events_of(alert_id(4))
    assert events == [
        AlertRaised(alert_id(4), alert(4)["detectedAt"]),
        AlertVoided(alert_id(4), EPOCH + 5_001, "ops", voiding(1, 1)),
        AlertAcknowledged(alert_id(4), EPOCH + 6_000, "ada", "seen"),
        AlertVoided(alert_id(4), EPOCH + 5_002, "ops", voiding(3, 2)),
    ]
    lifecycle, stored = fold(events), alerts.get(alert_id(4))
    assert lifecycle is not None
    assert (lifecycle.version, lifecycle.state, stored.state) == (4, "acknowledged", "acknowledged")
    assert stored.voided == (voiding(1, 1), voiding(3, 2))
    assert stored.content == resting_on(4, 1, 3)


def test_a_second_command_for_the_same_transaction_marks_as_well(
    alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    store(intake, [alert(1)], [void(1, 1)])
    store(intake, [], [void(1, 2)])
    assert alerts.get(alert_id(1)).voided == (voiding(1, 1), voiding(1, 2))


@pytest.mark.parametrize("name", ["chained", "chained-bucketed", "bucketed", "relative"])
@pytest.mark.parametrize("first", ["alert", "command"])
def test_contributors_of_any_condition_count(
    alerts: PostgresAlerts, intake: PostgresIntake, name: str, first: str
) -> None:
    made = json.loads((EXAMPLES / f"{name}.json").read_bytes())
    judged = made["conditions"][-2 if name == "chained" else -1] if "conditions" in made else made
    listed = judged.get("limitMeasure", judged)["contributors"]["transactions"][1]
    command = void(0, 1, transactionId=listed["transactionId"], eventTime=listed["eventTime"])
    if first == "alert":
        store(intake, [made], [])
        store(intake, [], [command])
    else:
        store(intake, [], [command])
        store(intake, [made], [])
    (mark,) = alerts.get(AlertId(made["alertId"])).voided
    assert (mark.transaction_id, mark.event_time) == (listed["transactionId"], listed["eventTime"])


@pytest.mark.parametrize("first", ["alert", "command"])
def test_what_triggered_an_alert_of_another_event_type_is_found(
    alerts: PostgresAlerts, intake: PostgresIntake, first: str
) -> None:
    """Such as a card authorisation: it has another name for its id, and stands in no list of this alert's."""
    (example,) = (EXAMPLES.parent / "card-authorisation" / "alerts.v1").glob("*.json")
    made = json.loads(example.read_bytes())
    made["contributors"]["transactions"].pop(0)
    declared = event_type_loader.load("card-authorisation")
    read = read_record(record(made), alert_validator(declared), declared.id_field.name)
    assert isinstance(read, ReceivedAlert)
    command = commanded(void(1, 1, transactionId="a-3", eventTime=made["eventTime"]))
    for alert_now, command_now in ([1, 0], [0, 1]) if first == "alert" else ([0, 1], [1, 0]):
        intake.store([read] * alert_now, [], [command] * command_now)
    (mark,) = alerts.get(read.alert_id).voided
    assert mark.transaction_id == "a-3"


def test_a_late_one_that_is_not_listed_is_nothing_to_rest_on(
    alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    late = {"transactionId": "t7", "eventTime": EPOCH}
    made = alert(1, partial=True, ingestedAt=None, late=late)
    made["transaction"] = {name: made["transaction"][name] for name in ("transactionId", "eventTime")}
    store(intake, [made], [void(7, 1, eventTime=EPOCH)])
    assert alerts.get(alert_id(1)).voided == ()


def test_an_id_of_any_text_is_found(alerts: PostgresAlerts, intake: PostgresIntake) -> None:
    for number, text in enumerate(["{a,b}", '"', "\\", "É ☃ \U0001f600", "null", " "], start=1):
        made = alert(number)
        made["transaction"]["transactionId"] = text
        store(intake, [made], [])
        store(intake, [], [void(number, number, transactionId=text)])
        assert [void.transaction_id for void in alerts.get(alert_id(number)).voided] == [text]


def test_the_list_is_filtered_by_it(alerts: PostgresAlerts, intake: PostgresIntake) -> None:
    store(intake, ALERTS, VOIDS)
    acknowledge(alerts, alert_id(2), "ada", None, lambda: EPOCH)

    def listed(**wanted: Any) -> list[AlertId]:
        return [alert.alert_id for alert in alerts.page(AlertFilter(**wanted), None, 10).alerts]

    assert listed(voided=True) == [alert_id(number) for number in (4, 3, 2, 1)]
    assert listed(voided=False) == [alert_id(5)]
    assert listed(voided=True, state="acknowledged") == [alert_id(2)]
    assert len(listed()) == len(ALERTS)


def test_the_stream_tells_it(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    with open_pool(alerts_database.api, 1) as pool:
        alert_events = PostgresAlertEvents(pool)
        position = alert_events.present()
        store(intake, [alert(1)], [])
        store(intake, [], [void(1, 1)])
        told: list[tuple[str, tuple[Voiding, ...]]] = []

        def both() -> bool:
            nonlocal position
            more = alert_events.after(position, 10)
            position = more.reached
            told.extend((event.kind, event.alert.voided) for event in more.happened)
            return len(told) >= 2

        eventually(both, "both events are told")
    # each with the alert as it is now
    assert [kind for kind, _ in told] == ["AlertRaised", "AlertVoided"]
    assert told[1][1] == (voiding(1, 1),)


def test_the_alerts_of_a_voided_transaction_are_found_by_their_index(alerts_database: AlertsDatabase) -> None:
    """A column has a collation of its own, and an index of another one is never used."""
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("SET enable_seqscan = off")
        (body,) = connection.execute(
            "SELECT prosrc FROM pg_proc WHERE oid = 'alerts.mark_alerts_of_voided'::regproc"
        ).fetchone() or ("",)
        match = re.search(r"SELECT alert_id FROM alerts\.alerts.*?ORDER BY alert_id", body, re.DOTALL)
        assert match is not None
        query = match[0].replace("NEW.", "made.")
        plan = connection.execute(
            f"EXPLAIN SELECT (SELECT count(*) FROM ({query}) a) FROM alerts.voided_transactions made"
        ).fetchall()
    assert "alerts_named_transactions" in str(plan), plan
