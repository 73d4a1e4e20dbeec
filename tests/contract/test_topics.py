"""Topics, schemas, examples and the AsyncAPI document say the same."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from tripline_contracts import (
    asyncapi,
    backfill,
    canonical,
    event_type_loader,
    exact_json,
    schemas,
    topics,
    type_schemas,
)
from tripline_contracts.errors import InvalidTopic, SchemaViolation, UnknownSchema, UnknownTopic
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.widest_windows import widest_windows
from tripline_contracts.topics import Topic

pytestmark = pytest.mark.contract

PACKAGE = Path(str(resources.files("tripline_contracts")))
EXAMPLES = PACKAGE / "examples"
ASYNCAPI = Path(__file__).parents[2] / "contracts" / "asyncapi.yaml"
TRANSACTION = event_type_loader.load()
BY_NAME = {topic.name: topic for topic in topics.all_topics()}


TYPES = [event_type_loader.load(name) for name in event_type_loader.shipped()]


def _folder(declared: EventType) -> Path:
    """Of its examples, a folder for each topic: the default's are the first ones."""
    return EXAMPLES if declared == TRANSACTION else EXAMPLES / declared.name


def _examples(kind: str) -> list[Path]:
    folders = [_folder(declared) / topic for declared in TYPES for topic in BY_NAME]
    return sorted(path for folder in folders for path in folder.glob(kind))


def _type(path: Path) -> EventType:
    """Of the example in that file."""
    first = path.relative_to(EXAMPLES).parts[0]
    return event_type_loader.load(first) if first in event_type_loader.shipped() else TRANSACTION


def _of(topic: str) -> list[Path]:
    return [path for path in _examples("*.json") if path.parent.name == topic]


def _id(path: Path) -> str:
    return f"{path.relative_to(EXAMPLES)}"


def _read(path: Path) -> Any:
    return exact_json.loads(path.read_bytes())


def test_the_topics_are_these() -> None:
    partitions = {topic.name: topic.partitions for topic in BY_NAME.values()}
    assert partitions == {
        "rules.v1": 1,
        "transactions.v1": 2,
        "alerts.v1": 2,
        "rule-status.v1": 1,
        "rule-traces.v1": 2,
        "rejected-transactions.v1": 1,
        "engine-order.v1": 1,
        "engine-ticks.v1": 1,
    }


@pytest.mark.parametrize("topic", BY_NAME.values(), ids=BY_NAME)
class TestEachTopic:
    def test_is_in_the_file_of_its_name(self, topic: Topic) -> None:
        assert (PACKAGE / "topics" / f"{topic.name}.yaml").is_file()
        assert topics.load(topic.name) == topic

    def test_has_a_schema_and_examples_that_keep_and_that_break_it(self, topic: Topic) -> None:
        assert topic.schema in schemas.names()
        assert list((EXAMPLES / topic.name).glob("*.json"))
        assert list((EXAMPLES / topic.name / "invalid").glob("*.json"))

    def test_says_how_long_it_is_kept(self, topic: Topic) -> None:
        config = topic.creation_config()
        assert config["cleanup.policy"] == "delete"
        days = {"transactions.v1": 7, "rejected-transactions.v1": 30, "rule-traces.v1": 1}
        kept = days[topic.name] * 86400 * 1000 if topic.name in days else -1
        assert int(config["retention.ms"]) == kept
        assert config["retention.bytes"] == "-1"

    def test_keeps_old_data_for_ever_where_retention_goes_by_producers_time(self, topic: Topic) -> None:
        by_producers_time = topic.name == "transactions.v1"
        changed = topic.creation_config("data") != topic.creation_config("wall")
        assert changed == by_producers_time
        if by_producers_time:
            assert topic.creation_config("data")["retention.ms"] == "-1"


@pytest.mark.parametrize("path", _examples("*.json"), ids=_id)
def test_examples_keep_their_schema(path: Path) -> None:
    schemas.validator(BY_NAME[path.parent.name].schema, _type(path))(_read(path))


@pytest.mark.parametrize("path", _examples("invalid/*.json"), ids=_id)
def test_invalid_examples_break_it(path: Path) -> None:
    with pytest.raises(SchemaViolation):
        schemas.validator(BY_NAME[path.parent.parent.name].schema, _type(path))(_read(path))


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_what_follows_the_type_has_examples_of_each(declared: EventType) -> None:
    for topic in ("transactions.v1", "rules.v1", "alerts.v1", "rule-traces.v1"):
        assert list((_folder(declared) / topic).glob("*.json"))
        assert list((_folder(declared) / topic / "invalid").glob("*.json"))


@pytest.mark.parametrize("path", _of("rules.v1"), ids=_id)
def test_definitions_in_rule_events_are_normalised_and_hashed(path: Path) -> None:
    event = _read(path)
    if "definition" not in event:
        return
    definition = rule_definition.parse(event["definition"], _type(path))
    assert definition.to_json() == event["definition"]
    assert definition.hash == event["definitionHash"]
    if event["type"] == "RulePublished":
        assert event["definitionVersion"] == event["version"]
    for own in widest_windows([(event["ruleId"], event["definitionVersion"], definition)]):
        assert (own in event["widestWindows"]) == (event["state"] != "DELETED")


@pytest.mark.parametrize("path", _of("alerts.v1"), ids=_id)
def test_alerts_add_up(path: Path) -> None:
    alert, declared = _read(path), _type(path)
    trigger = alert["transaction"]
    identity, time = trigger[declared.id_field.name], trigger[declared.time_field.name]
    assert alert["alertId"] == canonical.alert_id(
        alert["ruleId"], alert["ruleVersion"], alert["group"], identity, time
    )
    assert alert["windowEnd"] == alert["eventTime"] == time
    assert {name: trigger[name] for name in alert["group"]} == alert["group"]
    assert alert["partial"] == (set(trigger) < {field.name for field in declared.fields})
    for counted in alert.get("conditions", [alert]):
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
            each["transactionId"] for each in alert["contributors"]["transactions"]
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
        _read(EXAMPLES / topic / name)
        for topic, name in (("alerts.v1", "bucketed.json"), ("rules.v1", "rule-published-bucketed.json"))
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    definition = rule_definition.parse(rule["definition"], TRANSACTION)
    assert alert["precision"]["bucketSeconds"] == definition.bucket_seconds
    begin = alert["windowEnd"] - definition.window_seconds * 1000
    assert alert["windowStart"] == _bucket_start(begin, definition.bucket_seconds) < begin


@pytest.mark.parametrize("kind", ["chained", "chained-bucketed"])
def test_a_chained_alert_lists_the_conditions_of_its_rule(kind: str) -> None:
    alert, rule = (
        _read(EXAMPLES / topic / name)
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
        _read(EXAMPLES / topic / name)
        for topic, name in (
            ("alerts.v1", "count-distinct.json"),
            ("rules.v1", "rule-published-count-distinct.json"),
        )
    )
    assert alert["definitionHash"] == rule["definitionHash"]
    listed = alert["contributors"]["transactions"]
    assert alert["value"] == str(len({each["value"] for each in listed}))
    assert listed[0]["value"] == alert["transaction"][rule["definition"]["aggregateFieldName"]]


@pytest.mark.parametrize("path", _of("rule-traces.v1"), ids=_id)
def test_traces_add_up(path: Path) -> None:
    trace = _read(path)
    assert trace["windowStart"] < trace["windowEnd"] == trace["eventTime"]
    # different values of nothing are none at all, which is a number
    for counted in trace.get("conditions", [trace]):
        assert counted["value"] is not None or counted["contributingCount"] == 0
        assert counted["contributingCount"] > 0 or counted["value"] in (None, "0")
    assert trace["holds"] or not trace["alerted"]


@pytest.mark.parametrize("path", sorted((EXAMPLES / "rejected-transactions.v1").glob("*.json")), ids=_id)
def test_rejects_name_their_own_bytes(path: Path) -> None:
    example = _read(path)
    value = base64.b64decode(example["valueBase64"] or "")
    assert example["headers"]["length"] == str(len(value))
    assert example["headers"]["sha256"] == hashlib.sha256(value).hexdigest()
    assert set(example["headers"]) == set(BY_NAME["rejected-transactions.v1"].headers)


def test_the_headers_of_a_transaction_are_described() -> None:
    assert list(schemas.load("transactions.v1.headers")["properties"]) == [backfill.HEADER]
    assert BY_NAME["transactions.v1"].headers == (backfill.HEADER,)
    check = schemas.validator("transactions.v1.headers")
    check({"backfill": "7f0c52a2-3a86-4c8e-8d9a-5d1e7c1b2a04", "ce_id": "anything"})
    with pytest.raises(SchemaViolation, match="backfill"):
        check({"backfill": "the one of May"})


def test_each_command_has_an_example() -> None:
    commands = {_read(path).get("command") for path in (EXAMPLES / "rules.v1").glob("*.json")} - {None}
    known = set(schemas.load("rules.v1")["$defs"]["controlCommand"]["properties"]["command"]["enum"])
    assert commands == known - {"CLEAR_STATE_ALL_STOP"}  # which differs from CLEAR_STATE_ALL by its name


def test_a_backfill_is_ended_by_the_command_that_started_it() -> None:
    start, *ends = (
        _read(EXAMPLES / "rules.v1" / f"{name}.json")
        for name in ("start-backfill", "end-backfill", "end-backfill-complete")
    )
    assert {end["backfillId"] for end in ends} == {start["commandId"]}


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_the_schemas_know_the_event_type(declared: EventType) -> None:
    names = {field.name for field in declared.fields}
    aliases = {alias for field in declared.fields for alias in field.aliases}
    sent = schemas.load("transactions.v1", declared)
    assert set(sent["properties"]) == names | aliases
    assert set(sent["required"]) == {field.name for field in declared.fields if field.required}
    said = schemas.load("event-type", declared)["$defs"]
    assert set(said["transaction"]["properties"]) == set(said["wholeTransaction"]["required"]) == names
    assert set(said["transaction"]["required"]) == {declared.id_field.name, declared.time_field.name}
    assert set(said["groupable"]["enum"]) == set(declared.groupable)
    assert set(said["group"]["propertyNames"]["enum"]) == set(declared.groupable)
    assert said["aggregated"]["enum"] == [*declared.groupable, None]
    assert said["measure"]["enum"] == list(declared.measures)
    compared = [part["properties"]["field"]["enum"] for part in said["comparison"]["anyOf"]]
    assert {name for enum in compared for name in enum} == names - {declared.id_field.name}


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: str(declared.name))
def test_the_other_schemas_leave_fields_to_the_type(declared: EventType) -> None:
    members = {"transactionId", "eventTime"}  # of alerts, whatever the type calls its own
    own = {name for field in declared.fields for name in field.names} - members
    for path in (PACKAGE / "schemas").glob("*.json"):
        if path.stem not in type_schemas.documents(declared):
            assert not own & set(_words(_read(path))), path


def _words(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str):
        yield value


def test_the_committed_schemas_of_the_types_are_what_the_types_say() -> None:
    committed = type_schemas.committed()
    for file, text in committed.items():
        assert (PACKAGE / "schemas" / file).read_text(encoding="utf-8") == text, (
            "drifted; run: python -m tripline_contracts.type_schemas"
        )
    folders = {path.parent for path in (PACKAGE / "schemas").rglob("*.json")}
    assert folders == {PACKAGE / "schemas" / file.parent for file in committed}


def _objects(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from _objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _objects(inner)


@pytest.mark.parametrize("name", sorted(set(schemas.names()) - {"transactions.v1"}))
def test_what_tripline_writes_has_no_other_fields(name: str) -> None:
    # the envelopes of rules.v1 and of a reject's headers hand on to objects that are closed or name a type
    for found in _objects(schemas.load(name)):
        assert "additionalProperties" in found or found.get("required") == ["type"], found


def test_transactions_may_have_other_fields() -> None:
    assert "additionalProperties" not in schemas.load("transactions.v1")


class TestAsyncApi:
    def test_is_what_the_topics_say(self) -> None:
        assert ASYNCAPI.read_text(encoding="utf-8") == asyncapi.text(), (
            "drifted; run: python -m tripline_contracts.asyncapi contracts/asyncapi.yaml"
        )

    def test_lists_exactly_the_topics(self) -> None:
        document = yaml.safe_load(ASYNCAPI.read_text(encoding="utf-8"))
        assert document["asyncapi"] == "3.0.0"
        assert {channel["address"] for channel in document["channels"].values()} == set(BY_NAME)
        for operation in document["operations"].values():
            assert operation["channel"]["$ref"].removeprefix("#/channels/") in BY_NAME
        actions = sorted(operation["action"] for operation in document["operations"].values())
        assert actions == ["receive"] * len(BY_NAME) + ["send"] * len(BY_NAME)

    def test_every_reference_leads_somewhere(self) -> None:
        document = yaml.safe_load(ASYNCAPI.read_text(encoding="utf-8"))
        references = list(_references(document))
        assert len(references) > 4 * len(BY_NAME)
        for reference in references:
            file, _, pointer = reference.partition("#")
            target = document if not file else _read(ASYNCAPI.parent / file)
            for step in pointer.strip("/").split("/") if pointer else ():
                target = target[step]
            assert target


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from _references(inner)


def test_unknown_names_are_said() -> None:
    with pytest.raises(UnknownTopic, match=r"alerts\.v1"):
        topics.load("alerts.v2")
    with pytest.raises(UnknownSchema, match=r"alerts\.v1"):
        schemas.load("alerts.v2")


TOPIC: dict[str, Any] = {
    "name": "t.v1",
    "purpose": "p",
    "producers": ["a"],
    "consumers": ["b"],
    "partitions": 1,
    "key": "absent",
    "value": "json",
    "schema": "t.v1",
    "events": ["Happened"],
    "config": {"cleanup.policy": "delete"},
}

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"owner": "me"}, "unknown owner", "an unknown word"),
    ({"purpose": " "}, "purpose is missing", "nothing said"),
    ({"schema": None}, "schema is missing", "no schema"),
    ({"value": "avro"}, "json or bytes", "another format"),
    ({"partitions": 0}, "at least 1", "no partition"),
    ({"consumers": []}, "consumers is a list", "nobody reads it"),
    ({"config": {"retention.ms": -1}}, "to text", "a number where Kafka wants text"),
]


@pytest.mark.parametrize(("changes", "said", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_a_topic_file_that_is_wrong(changes: dict[str, Any], said: str, reason: str) -> None:
    assert topics.from_mapping(TOPIC).name == "t.v1"
    with pytest.raises(InvalidTopic) as refused:
        topics.from_mapping({**TOPIC, **changes})
    assert said in str(refused.value), reason
