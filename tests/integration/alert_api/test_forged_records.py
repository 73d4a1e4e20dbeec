"""Alerts of rules that never were and void commands that nobody issued: kept aside, and their neighbours stored."""

from __future__ import annotations

from typing import Any

import pytest

from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.errors import RecordNotStorable
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import (
    committed,
    count,
    eventually,
    new_topic,
    produce,
    projector,
    rows,
)
from tests.integration.alert_api.support.voided import produce_events, store
from tests.registry_log import RULES, VERSIONS
from tests.unit.alert_api.support.samples import alert, void

pytestmark = pytest.mark.integration

FORGED = {
    "a rule that never was": {"ruleId": 424_242},
    "the rule behind the last": {"ruleId": RULES + 1},
    "a version that never was": {"ruleVersion": VERSIONS + 1},
}
GHOSTS: dict[str, dict[str, Any]] = {
    "an id that nobody issued": {"commandId": "00000000-0000-4000-8000-000000000000"},
    "another's position": {"position": 102},
    "a position that is no command's": {"position": 9_007_199_254_740_991},
}


@pytest.mark.parametrize("changes", FORGED.values(), ids=FORGED.keys())
def test_an_alert_of_a_version_that_was_never_published(
    alerts_database: AlertsDatabase, intake: PostgresIntake, changes: dict[str, Any]
) -> None:
    assert store(intake, [alert(1)], []) == 1, "versions that are known are asked once"
    with pytest.raises(RecordNotStorable, match="was never published"):
        store(intake, [alert(2), alert(3, **changes)], [])
    assert rows(alerts_database.owner, "SELECT count(*) FROM alerts.alerts") == [(1,)]


@pytest.mark.parametrize("changes", GHOSTS.values(), ids=GHOSTS.keys())
def test_a_void_that_was_never_issued(
    alerts_database: AlertsDatabase, intake: PostgresIntake, changes: dict[str, Any]
) -> None:
    store(intake, [alert(1)], [])
    with pytest.raises(RecordNotStorable, match="was never issued"):
        store(intake, [], [void(1, 1, actor="ghost", **changes)])
    assert rows(alerts_database.owner, "SELECT count(*) FROM alerts.voided_transactions") == [(0,)]


def test_they_are_kept_aside_and_their_neighbours_arrive(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic, rules = new_topic(kafka), new_topic(kafka, "rules.v1")
    produce(kafka, topic, [alert(1), alert(2, ruleId=424_242), alert(3)])
    ghost = void(3, 2, actor="ghost", commandId="00000000-0000-4000-8000-000000000000")
    produce_events(kafka, rules, [void(1, 1), ghost])
    with projector(kafka, topic, alerts_database.projector, f"--rules={rules}"):
        eventually(lambda: committed(kafka, topic, topic) == 3, "all alerts are committed")
        eventually(lambda: count(alerts_database.owner, "voided_transactions") == 1, "the void is there")
        eventually(
            lambda: count(alerts_database.owner, "unreadable_records") == 2, "both forged ones are aside"
        )
    assert count(alerts_database.owner, "alerts") == 2
    said = rows(alerts_database.owner, "SELECT reason, detail FROM alerts.unreadable_records ORDER BY detail")
    assert said == [
        ("not_storable", "command 00000000-0000-4000-8000-000000000000 at position 102 was never issued"),
        ("not_storable", "version 1 of rule 424242 was never published"),
    ]
