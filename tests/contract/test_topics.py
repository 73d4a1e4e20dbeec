"""Topic files: partitions, retention, schemas, and the errors of a wrong file."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.support.example_files import BY_NAME, EXAMPLES, PACKAGE
from tripline_contracts import (
    schemas,
    topics,
)
from tripline_contracts.errors import InvalidTopic, UnknownSchema, UnknownTopic
from tripline_contracts.topics import Topic

pytestmark = pytest.mark.contract


def test_the_topics_are_these() -> None:
    partitions = {topic.name: topic.partitions for topic in BY_NAME.values()}
    assert partitions == {
        "rules.v1": 1,
        "transactions.v1": 2,
        "alerts.v1": 2,
        "shadow-alerts.v1": 2,
        "cases.v1": 1,
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
        days = {"transactions.v1": 7, "rejected-transactions.v1": 30, "cases.v1": 30, "rule-traces.v1": 1}
        days["shadow-alerts.v1"] = 90
        kept = days[topic.name] * 86400 * 1000 if topic.name in days else -1
        assert int(config["retention.ms"]) == kept
        assert config["retention.bytes"] == "-1"

    def test_keeps_old_data_for_ever_where_retention_goes_by_producers_time(self, topic: Topic) -> None:
        by_producers_time = topic.name == "transactions.v1"
        changed = topic.creation_config("data") != topic.creation_config("wall")
        assert changed == by_producers_time
        if by_producers_time:
            assert topic.creation_config("data")["retention.ms"] == "-1"


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
