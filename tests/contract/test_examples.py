"""Example records: they keep their schemas, the invalid ones break them, and their numbers add up."""

from __future__ import annotations

import base64
import hashlib
import math
import statistics
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from alert_api.adapters.rejected.transaction_sender import CORRECTS
from tests.contract.support.example_files import (
    BY_NAME,
    EXAMPLE_TYPES,
    EXAMPLES,
    TRANSACTION,
    example_files,
    example_id,
    examples_of,
    folder_of,
    read_example,
    type_of,
)
from tripline_contracts import (
    backfill,
    canonical,
    schemas,
)
from tripline_contracts.errors import SchemaViolation
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.widest_windows import widest_windows

pytestmark = pytest.mark.contract


@pytest.mark.parametrize("path", example_files("*.json"), ids=example_id)
def test_examples_keep_their_schema(path: Path) -> None:
    schemas.validator(BY_NAME[path.parent.name].schema, type_of(path))(read_example(path))


@pytest.mark.parametrize("path", example_files("invalid/*.json"), ids=example_id)
def test_invalid_examples_break_it(path: Path) -> None:
    with pytest.raises(SchemaViolation):
        schemas.validator(BY_NAME[path.parent.parent.name].schema, type_of(path))(read_example(path))


@pytest.mark.parametrize("declared", EXAMPLE_TYPES, ids=lambda declared: str(declared.name))
def test_what_follows_the_type_has_examples_of_each(declared: EventType) -> None:
    for topic in ("transactions.v1", "rules.v1", "alerts.v1", "rule-traces.v1"):
        assert list((folder_of(declared) / topic).glob("*.json"))
        assert list((folder_of(declared) / topic / "invalid").glob("*.json"))


@pytest.mark.parametrize("path", examples_of("rules.v1"), ids=example_id)
def test_definitions_in_rule_events_are_normalised_and_hashed(path: Path) -> None:
    event = read_example(path)
    if "definition" not in event:
        return
    definition = rule_definition.parse(event["definition"], type_of(path))
    assert definition.to_json() == event["definition"]
    assert definition.hash == event["definitionHash"]
    if event["type"] in ("RulePublished", "RuleShadowStarted"):
        assert event["definitionVersion"] == event["version"]
    for window in widest_windows([(event["ruleId"], event["definitionVersion"], definition)]):
        beside = event["type"] in ("RuleShadowStarted", "RuleShadowRolledOut")
        needed = event["state"] != "DELETED" and not beside
        assert (window in event["widestWindows"]) == needed


def test_a_shadow_s_alert_is_of_the_version_that_was_started_and_then_promoted() -> None:
    alert = read_example(EXAMPLES / "shadow-alerts.v1" / "worked-example-3.json")
    for name in ("rule-shadow-started.json", "rule-shadow-rolled-out.json", "rule-shadow-promoted.json"):
        event = read_example(EXAMPLES / "rules.v1" / name)
        assert alert["definitionHash"] == event["definitionHash"]
        assert alert["ruleVersion"] == event["definitionVersion"]


@pytest.mark.parametrize(
    "path", [*examples_of("alerts.v1"), *examples_of("shadow-alerts.v1")], ids=example_id
)
def test_alerts_add_up(path: Path) -> None:
    alert, declared = read_example(path), type_of(path)
    trigger = alert["transaction"]
    identity, time = trigger[declared.id_field.name], trigger[declared.time_field.name]
    assert alert["alertId"] == canonical.alert_id(
        alert["ruleId"], alert["ruleVersion"], alert["group"], identity, time, alert.get("side")
    )
    fields = {side.name: side.field for party in declared.parties for side in party.sides}
    assert alert["windowEnd"] == alert["eventTime"] == time
    for name, value in alert["group"].items():
        if path.stem == "in-steps" and name == "paymentAmount":
            assert math.floor(Decimal(trigger[name]) / 100) * 100 == Decimal(value)
        else:
            assert trigger[fields[alert["side"]] if declared.party(name) else name] == value
    assert alert["partial"] == (set(trigger) < {field.name for field in declared.fields})
    conditions = alert.get("conditions", [alert])
    behind = [condition["limitMeasure"] for condition in conditions if "limitMeasure" in condition]
    for counted in [*conditions, *behind]:
        contributors = counted["contributors"]
        assert contributors["truncated"] == (contributors["count"] > len(contributors["transactions"]))
        times = [transaction["eventTime"] for transaction in contributors["transactions"]]
        assert times == sorted(times, reverse=True)
        assert all(counted["windowStart"] <= time <= counted["windowEnd"] for time in times)
        if "precision" in counted:
            _bounds_add_up(counted)
    late = alert["late"] or {}
    if "transactionId" in late:
        assert alert["windowStart"] <= late["eventTime"] < alert["windowEnd"]
        assert late["transactionId"] in {
            transaction["transactionId"] for transaction in alert["contributors"]["transactions"]
        }


def _bounds_add_up(counted: dict[str, Any]) -> None:
    precision, value = counted["precision"], counted["value"]
    at_least, at_most = precision["atLeast"], precision["atMost"]
    assert counted["windowStart"] % (precision["bucketSeconds"] * 1000) == 0
    assert at_least is None or Decimal(at_least) <= Decimal(value)
    assert at_most is None or Decimal(value) <= Decimal(at_most)


def _bucket_start(time: int, bucket_seconds: int | None) -> int:
    return time if bucket_seconds is None else time // (bucket_seconds * 1000) * (bucket_seconds * 1000)


def test_a_bucketed_alert_is_of_its_rule() -> None:
    alert, rule = (
        read_example(EXAMPLES / topic / name)
        for topic, name in (("alerts.v1", "bucketed.json"), ("rules.v1", "rule-published-bucketed.json"))
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    definition = rule_definition.parse(rule["definition"], TRANSACTION)
    assert alert["precision"]["bucketSeconds"] == definition.bucket_seconds
    begin = alert["windowEnd"] - definition.window_seconds * 1000
    assert alert["windowStart"] == _bucket_start(begin, definition.bucket_seconds) < begin


def test_an_alert_tells_what_its_limit_was_made_of() -> None:
    alert, rule = (
        read_example(EXAMPLES / topic / name)
        for topic, name in (("alerts.v1", "relative.json"), ("rules.v1", "rule-published-relative.json"))
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    (condition,) = rule_definition.parse(rule["definition"], TRANSACTION).measured
    (told,) = alert["conditions"]
    said, behind = condition.to_json()["limit"], told["limitMeasure"]
    assert isinstance(said, dict)
    assert {name: behind[name] for name in said["measure"]} == said["measure"]
    assert [behind[name] for name in ("times", "plus")] == [said["times"], said["plus"]]
    amounts = [Fraction(contributor["value"]) for contributor in behind["contributors"]["transactions"]]
    average = sum(amounts) / len(amounts)
    limit = Fraction(behind["times"]) * average + Fraction(behind["plus"])
    assert [round(average * 10**6), round(limit * 10**6)] == [
        Fraction(told_as) * 10**6 for told_as in (behind["value"], told["limit"])
    ]
    assert Fraction(told["value"]) > limit
    end = alert["windowEnd"] - 1000 * said["measure"]["offsetSeconds"]
    assert [behind["windowStart"], behind["windowEnd"]] == [
        end - 1000 * said["measure"]["windowSeconds"],
        end,
    ]
    assert alert["windowStart"] == behind["windowStart"]


def test_an_alert_of_a_speed_is_within_half_a_percent_of_haversines() -> None:
    alert = read_example(EXAMPLES / "account-transfer" / "alerts.v1" / "faster-than-anybody-travels.json")
    rule = read_example(EXAMPLES / "account-transfer" / "rules.v1" / "rule-published-speed.json")
    assert alert["definitionHash"] == rule["definitionHash"]
    newest, before = alert["contributors"]["transactions"]
    (north, east), (north_before, east_before) = (
        [math.radians(float(degrees)) for degrees in one["value"].split(",")] for one in (newest, before)
    )
    half_chord = math.sin((north - north_before) / 2) ** 2
    half_chord += math.cos(north) * math.cos(north_before) * math.sin((east - east_before) / 2) ** 2
    hours = (newest["eventTime"] - before["eventTime"]) / 3_600_000
    speed = 2 * 6371.0088 * math.asin(math.sqrt(half_chord)) / hours
    assert float(alert["value"]) == pytest.approx(speed, rel=0.005)


def test_an_alert_tells_the_deviation_that_its_limit_has_besides() -> None:
    alert, rule = (
        read_example(EXAMPLES / topic / name)
        for topic, name in (
            ("alerts.v1", "in-deviations.json"),
            ("rules.v1", "rule-published-in-deviations.json"),
        )
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    (told,) = alert["conditions"]
    said, behind = rule["definition"]["conditions"]["limit"], told["limitMeasure"]
    assert {name: behind[name] for name in said["measure"]} == said["measure"]
    assert {name: behind[name] for name in said if name != "measure"}.items() <= said.items()
    amounts = [Decimal(contributor["value"]) for contributor in behind["contributors"]["transactions"]]
    usual, deviation = statistics.mean(amounts), statistics.stdev(amounts)
    limit = Decimal(behind["times"]) * usual + Decimal(behind["plus"])
    limit += Decimal(behind["plusDeviations"]) * deviation
    assert [round(number, 6) for number in (usual, deviation, limit)] == [
        Decimal(text) for text in (behind["value"], behind["deviation"], told["limit"])
    ]
    assert Decimal(told["value"]) > limit


@pytest.mark.parametrize("kind", ["chained", "chained-bucketed", "weighted"])
def test_a_chained_alert_lists_the_conditions_of_its_rule(kind: str) -> None:
    alert, rule = (
        read_example(EXAMPLES / topic / name)
        for topic, name in (("alerts.v1", f"{kind}.json"), ("rules.v1", f"rule-published-{kind}.json"))
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    definition = rule_definition.parse(rule["definition"], TRANSACTION)
    for listed, condition in zip(alert["conditions"], definition.measured, strict=True):
        said = condition.to_json()
        said["operator"] = said.pop("limitOperatorType")
        said.pop("filter", None)
        assert {name: listed[name] for name in said} == said
        begin = alert["windowEnd"] - condition.window_seconds * 1000
        assert listed["windowStart"] == _bucket_start(begin, definition.bucket_seconds)
        assert listed.get("precision", {}).get("bucketSeconds") == definition.bucket_seconds
        assert listed["windowEnd"] == alert["windowEnd"]
        assert listed["group"] == {name: alert["group"][name] for name in condition.grouping_key_names}
    assert alert["windowStart"] == min(listed["windowStart"] for listed in alert["conditions"])


def test_a_count_of_different_values_counts_the_values_that_its_alert_shows() -> None:
    alert, rule = (
        read_example(EXAMPLES / topic / name)
        for topic, name in (
            ("alerts.v1", "count-distinct.json"),
            ("rules.v1", "rule-published-count-distinct.json"),
        )
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    listed = alert["contributors"]["transactions"]
    assert alert["value"] == str(len({contributor["value"] for contributor in listed}))
    assert listed[0]["value"] == alert["transaction"][rule["definition"]["aggregateFieldName"]]


@pytest.mark.parametrize("path", examples_of("rule-traces.v1"), ids=example_id)
def test_traces_add_up(path: Path) -> None:
    trace = read_example(path)
    assert trace["windowStart"] < trace["windowEnd"] == trace["eventTime"]
    # different values of nothing are none at all, which is a number
    for counted in trace.get("conditions", [trace]):
        assert counted["value"] is not None or counted["contributingCount"] == 0
        assert counted["contributingCount"] > 0 or counted["value"] in (None, "0")
    assert trace["holds"] or not trace["alerted"]
    for weighing in trace.get("weighted", ()):
        held = sum(Decimal(one["weight"]) for one in weighing["weights"] if one["holds"])
        assert (Decimal(weighing["sum"]), weighing["holds"]) == (held, held >= Decimal(weighing["atLeast"]))


@pytest.mark.parametrize(
    "path", sorted((EXAMPLES / "rejected-transactions.v1").glob("*.json")), ids=example_id
)
def test_rejects_name_their_own_bytes(path: Path) -> None:
    example = read_example(path)
    value = base64.b64decode(example["valueBase64"] or "")
    assert example["headers"]["length"] == str(len(value))
    assert example["headers"]["sha256"] == hashlib.sha256(value).hexdigest()
    assert set(example["headers"]) == set(BY_NAME["rejected-transactions.v1"].headers)


def test_the_headers_of_a_transaction_are_described() -> None:
    assert list(schemas.load("transactions.v1.headers")["properties"]) == [backfill.HEADER, CORRECTS]
    assert BY_NAME["transactions.v1"].headers == (backfill.HEADER, CORRECTS)
    check = schemas.validator("transactions.v1.headers")
    check({"backfill": "7f0c52a2-3a86-4c8e-8d9a-5d1e7c1b2a04", "ce_id": "anything", "corrects": "0-42"})
    with pytest.raises(SchemaViolation, match="corrects"):
        check({"corrects": "the second one"})
    with pytest.raises(SchemaViolation, match="backfill"):
        check({"backfill": "the one of May"})


def test_each_command_has_an_example() -> None:
    commands = {read_example(path).get("command") for path in (EXAMPLES / "rules.v1").glob("*.json")} - {None}
    known = set(schemas.load("rules.v1")["$defs"]["controlCommand"]["properties"]["command"]["enum"])
    assert commands == known - {"CLEAR_STATE_ALL_STOP"}  # which differs from CLEAR_STATE_ALL by its name


def test_a_backfill_is_ended_by_the_command_that_started_it() -> None:
    start, *ends = (
        read_example(EXAMPLES / "rules.v1" / f"{name}.json")
        for name in ("start-backfill", "end-backfill", "end-backfill-complete")
    )
    assert {end["backfillId"] for end in ends} == {start["commandId"]}
