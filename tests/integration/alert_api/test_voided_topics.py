"""Void commands from rules.v1 through a projector that runs as a process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import (
    committed,
    count,
    eventually,
    everything,
    new_topic,
    produce,
    projector,
    rows,
)
from tests.integration.alert_api.support.voided import EXAMPLES, produce_events, resting_on
from tests.unit.alert_api.support.samples import (
    alert,
    alert_id,
    void,
)

pytestmark = pytest.mark.integration


def test_the_projector_reads_commands_from_their_topic(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic, rules = new_topic(kafka), new_topic(kafka, "rules.v1")
    others: list[dict[str, Any]] = [
        json.loads(path.read_bytes())
        for path in sorted((EXAMPLES.parent / "rules.v1").glob("*.json"))
        if path.stem != "void-transaction"
    ]
    produce_events(kafka, rules, [*others, void(1, 1), b"garbage", void(2, 2)])
    produce(kafka, topic, [resting_on(1), resting_on(2, 1), alert(3)])
    with projector(kafka, topic, alerts_database.projector, f"--rules={rules}"):
        eventually(lambda: committed(kafka, rules, topic) == len(others) + 3, "all commands are done")
        eventually(lambda: committed(kafka, topic, topic) == 3, "all alerts are done")
        query = (
            "SELECT alert_id::text, count(*) FROM alerts.alert_events WHERE type = 'AlertVoided' GROUP BY 1"
        )
        assert dict(rows(alerts_database.owner, query)) == {alert_id(1): 1, alert_id(2): 2}
    assert count(alerts_database.owner, "voided_transactions") == 2
    kept = rows(alerts_database.owner, "SELECT kafka_topic, reason FROM alerts.unreadable_records")
    assert kept == [(rules, "not_json")]


def test_commands_written_anew_change_nothing(kafka: str, alerts_database: AlertsDatabase) -> None:
    topic, rules = new_topic(kafka), new_topic(kafka, "rules.v1")
    produce_events(kafka, rules, [void(1, 1), void(1, 1), void(2, 2)])
    produce(kafka, topic, [resting_on(1), resting_on(2, 1)])
    with projector(kafka, topic, alerts_database.projector, f"--rules={rules}"):
        eventually(
            lambda: committed(kafka, rules, topic) + committed(kafka, topic, topic) == 5, "all is done"
        )
        before = everything(alerts_database.owner)
        produce_events(kafka, rules, [void(1, 1), void(2, 2)])
        produce(kafka, topic, [alert(1), alert(3)])
        eventually(lambda: committed(kafka, rules, topic) + committed(kafka, topic, topic) == 9, "again")
    after = everything(alerts_database.owner)
    assert [row for row in after[0] if alert_id(3) not in row[0]] == before[0]
    assert [row for row in after[1] if alert_id(3) not in row[0]] == before[1]
