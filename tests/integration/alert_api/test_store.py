"""Storing, listing and acknowledging on a real Postgres, each with the rights of its own role."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.events import AlertAcknowledged, AlertId, AlertRaised
from alert_api.errors import AlertNotFound, AlreadyAcknowledged, RecordNotStorable, StoreUnavailable
from alert_api.service.acknowledgement import acknowledge
from alert_api.service.alert_queries import AlertFilter, Place
from alert_api.service.records import unreadable
from alert_api.service.verifications import KeptVerification
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import everything, rows
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, received, record

pytestmark = pytest.mark.integration


def test_a_replay_changes_nothing_not_even_the_detection_time(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    broken = unreadable(record(b"\x00garbage", offset=9), "not_json", "no JSON")
    assert intake.store([received(alert(1)), received(alert(2))], [broken]) == 2
    acknowledge(alerts, alert_id(1), "ada", "seen", lambda: EPOCH)
    before = everything(alerts_database.owner)
    again = [received(alert(1, detectedAt=EPOCH + 999_999)), received(alert(2, warm=False))]
    assert intake.store(again, [broken]) == 0
    assert everything(alerts_database.owner) == before


def test_of_two_in_one_batch_the_first_is_stored(alerts: PostgresAlerts, intake: PostgresIntake) -> None:
    assert intake.store([received(alert(1)), received(alert(1, detectedAt=EPOCH + 7))], []) == 1
    assert alerts.get(alert_id(1)).content == alert(1)


def test_the_text_is_kept_as_it_came(alerts_database: AlertsDatabase, intake: PostgresIntake) -> None:
    raw = json.dumps(alert(1, ruleName="é ☃ \U0001f600"), indent=2, ensure_ascii=False)
    read = received(json.loads(raw))
    intake.store([type(read)(**{**_members(read), "content": raw})], [])
    assert rows(alerts_database.owner, "SELECT content::text FROM alerts.alerts") == [(raw,)]


def _members(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def test_an_unreadable_record_is_kept_with_its_bytes(
    alerts_database: AlertsDatabase, intake: PostgresIntake
) -> None:
    long = b"\xff\x00" * 400_000
    kept = [
        unreadable(record(value, offset), "not_json", "\x00\ud800")
        for offset, value in enumerate([None, long])
    ]
    intake.store([], kept)
    query = "SELECT kafka_offset, record_value, value_length FROM alerts.unreadable_records ORDER BY 1"
    assert rows(alerts_database.owner, query) == [(0, None, 0), (1, long[: 512 * 1024], len(long))]


def test_what_the_database_refuses_is_told_from_an_outage(intake: PostgresIntake) -> None:
    read = received(alert(1))
    with pytest.raises(RecordNotStorable):
        intake.store([type(read)(**{**_members(read), "content": "no json"})], [])
    with pytest.raises(RecordNotStorable):
        intake.store([type(read)(**{**_members(read), "rule_id": 2**70})], [])
    assert intake.store([read], []) == 1
    with pytest.raises(StoreUnavailable):
        PostgresIntake("host=127.0.0.1 port=1 connect_timeout=2").store([read], [])


def test_the_events_tell_what_happened(alerts: PostgresAlerts, intake: PostgresIntake) -> None:
    intake.store([received(alert(1))], [])
    acknowledge(alerts, alert_id(1), "ada", "seen", lambda: EPOCH + 500)
    acknowledge(alerts, alert_id(1), "ada", "again", lambda: EPOCH + 600)
    assert alerts.events_of(alert_id(1)) == [
        AlertRaised(alert_id(1), alert(1)["detectedAt"]),
        AlertAcknowledged(alert_id(1), EPOCH + 500, "ada", "seen"),
    ]
    stored = alerts.get(alert_id(1))
    assert (stored.state, stored.acknowledged_by, stored.acknowledgement_comment) == (
        "acknowledged",
        "ada",
        "seen",
    )


def test_of_many_at_once_one_is_first_and_all_others_learn_who(
    alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    intake.store([received(alert(1))], [])

    def attempt(actor: str) -> str:
        try:
            acknowledge(alerts, alert_id(1), actor, None, lambda: EPOCH)
        except AlreadyAcknowledged as refusal:
            return refusal.first_by
        return actor

    with ThreadPoolExecutor(8) as pool:
        winners = set(pool.map(attempt, [f"actor{number % 8}" for number in range(24)]))
    assert winners == {alerts.get(alert_id(1)).acknowledged_by}
    assert len(alerts.events_of(alert_id(1))) == 2


def test_a_second_acknowledgement_is_no_error_whichever_index_finds_it(
    alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    """In a race it is either the index on versions or the one on acknowledgements: the second alone finds this one."""
    intake.store([received(alert(1))], [])
    assert alerts.append(AlertAcknowledged(alert_id(1), EPOCH, "ada", None), version=2)
    assert not alerts.append(AlertAcknowledged(alert_id(1), EPOCH, "bob", None), version=3)
    assert len(alerts.events_of(alert_id(1))) == 2


def test_an_unknown_alert_is_not_found(alerts: PostgresAlerts) -> None:
    assert alerts.events_of(alert_id(5)) == []
    with pytest.raises(AlertNotFound):
        alerts.get(alert_id(5))


STATE_SEVERITY = """
INSERT INTO registry.rule_purposes (rule_id, version, severity, tags) VALUES (%s, 1, %s, '{}')
ON CONFLICT (rule_id) DO UPDATE SET severity = excluded.severity
"""
AMOUNTS = ("9", "100", "100.000001", "123456789012345678.000001", "0")
SEVERE = {"high": (2,), "low": (1, 3)}
VARIED = [
    alert(
        number,
        ruleId=1 + number % 3,
        ruleVersion=1 + number % 2,
        group={"payeeId": str(number % 4), "beneficiaryId": str(number % 5)} if number % 7 else {},
        eventTime=EPOCH + number // 3,
        detectedAt=EPOCH + 1_000 + number,
        transaction=alert(number)["transaction"] | {"paymentAmount": AMOUNTS[number % 5]},
    )
    for number in range(60)
]

FILTERS: dict[str, tuple[AlertFilter, Any]] = {
    "everything": (AlertFilter(), lambda _: True),
    "rule": (AlertFilter(rule_ids=(2,)), lambda a: a["ruleId"] == 2),
    "rules": (AlertFilter(rule_ids=(1, 3, 99)), lambda a: a["ruleId"] in (1, 3)),
    "version": (AlertFilter(rule_version=2), lambda a: a["ruleVersion"] == 2),
    "transaction": (
        AlertFilter(transaction_id="t5"),
        lambda a: a["transaction"]["transactionId"] == "t5",
    ),
    "group field": (AlertFilter(group=(("payeeId", "1"),)), lambda a: a["group"].get("payeeId") == "1"),
    "two group fields": (
        AlertFilter(group=(("payeeId", "1"), ("beneficiaryId", "3"))),
        lambda a: a["group"] == {"payeeId": "1", "beneficiaryId": "3"},
    ),
    "one field, two values": (AlertFilter(group=(("payeeId", "1"), ("payeeId", "2"))), lambda _: False),
    "one field, one value twice": (
        AlertFilter(group=(("payeeId", "1"), ("payeeId", "1"))),
        lambda a: a["group"].get("payeeId") == "1",
    ),
    "from and to, both included": (
        AlertFilter(earliest=EPOCH + 5, latest=EPOCH + 9),
        lambda a: EPOCH + 5 <= a["eventTime"] <= EPOCH + 9,
    ),
    "open": (AlertFilter(state="open"), lambda a: int(a["transaction"]["transactionId"][1:]) % 4 != 0),
    "acknowledged": (
        AlertFilter(state="acknowledged"),
        lambda a: int(a["transaction"]["transactionId"][1:]) % 4 == 0,
    ),
    "an amount or more": (
        AlertFilter(min_amount=Decimal("100.000001")),
        lambda a: a["transaction"]["paymentAmount"] in AMOUNTS[2:4],
    ),
    "amounts, both included": (
        AlertFilter(min_amount=Decimal(100), max_amount=Decimal("100.00")),
        lambda a: a["transaction"]["paymentAmount"] == "100",
    ),
    "when detected, both included": (
        AlertFilter(detected_from=EPOCH + 1_005, detected_to=EPOCH + 1_009),
        lambda a: EPOCH + 1_005 <= a["detectedAt"] <= EPOCH + 1_009,
    ),
    "severity": (AlertFilter(severity="low"), lambda a: a["ruleId"] in (1, 3)),
    "severity of a rule": (AlertFilter((2, 3), severity="low"), lambda a: a["ruleId"] == 3),
    "severity of no rule": (AlertFilter(severity="critical"), lambda _: False),
    "rules and a group": (
        AlertFilter(rule_ids=(1, 3), group=(("payeeId", "1"),)),
        lambda a: a["ruleId"] in (1, 3) and a["group"].get("payeeId") == "1",
    ),
    "all together": (
        AlertFilter((1,), 1, (("beneficiaryId", "1"),), "open", EPOCH, EPOCH + 15),
        lambda a: (
            (a["ruleId"], a["ruleVersion"], a["group"].get("beneficiaryId")) == (1, 1, "1")
            and int(a["transaction"]["transactionId"][1:]) % 4 != 0
            and a["eventTime"] <= EPOCH + 15
        ),
    ),
}


def walk(alerts: PostgresAlerts, wanted: AlertFilter, limit: int) -> list[AlertId]:
    """All pages, one after the other."""
    listed: list[AlertId] = []
    after: Place | None = None
    while True:
        page = alerts.page(wanted, after, limit)
        assert len(page.alerts) <= limit
        listed.extend(alert.alert_id for alert in page.alerts)
        if page.following is None:
            return listed
        after = page.following


def test_pages_give_each_matching_alert_once_newest_first(
    alerts_database: AlertsDatabase, alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    with psycopg.connect(alerts_database.owner) as connection:
        # Purposes of rules that are in the log alone.
        connection.execute("SET session_replication_role = replica")
        for severity, rule_ids in SEVERE.items():
            for rule_id in rule_ids:
                connection.execute(STATE_SEVERITY, (rule_id, severity))
    intake.store([received(content) for content in VARIED], [])
    for number in range(0, 60, 4):
        acknowledge(alerts, alert_id(number), "ada", None, lambda: EPOCH)
    newest_first = sorted(VARIED, key=lambda content: (-content["eventTime"], content["alertId"]))
    for (name, (wanted, matches)), limit in itertools.product(FILTERS.items(), (1, 4, 100)):
        expected = [content["alertId"] for content in newest_first if matches(content)]
        assert walk(alerts, wanted, limit) == expected, (name, limit)
        assert bool(expected) == (name not in ("one field, two values", "severity of no rule")), (
            f"{name} matches nothing: it proves nothing"
        )


def test_an_alert_that_arrives_between_pages_neither_repeats_nor_hides_another(
    alerts: PostgresAlerts, intake: PostgresIntake
) -> None:
    intake.store([received(content) for content in VARIED[:30]], [])
    first = alerts.page(AlertFilter(), None, 10)
    intake.store([received(alert(1000))], [])
    rest = alerts.page(AlertFilter(), first.following, 100)
    both = [alert.alert_id for alert in (*first.alerts, *rest.alerts)]
    assert sorted(both) == sorted(content["alertId"] for content in VARIED[:30])


def test_verifications_are_kept_the_newest_first(alerts: PostgresAlerts, intake: PostgresIntake) -> None:
    assert intake.store([received(alert(1)), received(alert(2))], []) == 2
    differing = [{"kind": "member", "member": "value", "stored": "1\x00", "derived": None}]
    first = KeptVerification("mismatch", differing, "engine", None, EPOCH, "ada")
    second = KeptVerification("match", [], "engine", "0.2.0", EPOCH + 1, "bob")
    for kept in (first, second):
        alerts.keep_verification(alert_id(1), kept)
    assert alerts.verifications_of(alert_id(1), 100) == [second, first]
    assert alerts.verifications_of(alert_id(1), 1) == [second]
    assert alerts.verifications_of(alert_id(2), 100) == []
