"""The newest traces of a rule, on a real Kafka with whatever else the topic holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from alert_api.adapters import newest_traces
from alert_api.adapters.newest_traces import PER_PARTITION, NewestTraces
from alert_api.errors import UpstreamUnavailable
from tests.integration.alert_api.support.servers import eventually, new_topic, produce_traces
from tests.unit.alert_api.support.samples import trace
from tripline_contracts import event_type_loader, topics
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.topics import create

pytestmark = pytest.mark.integration
TOPIC = "rule-traces.v1"


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newest_traces, "KEPT_SECONDS", 0.0)


@contextmanager
def reading(kafka: str, topic: str) -> Iterator[NewestTraces]:
    traces = NewestTraces(KafkaCluster(kafka), topic, event_type_loader.load())
    try:
        yield traces
    finally:
        traces.close()


def test_the_newest_of_one_rule_newest_first(kafka: str) -> None:
    topic = new_topic(kafka, TOPIC)
    with reading(kafka, topic) as traces:
        assert traces.newest(7, 50) == []
        produce_traces(kafka, topic, [trace(number) for number in range(10)])
        produce_traces(kafka, topic, [trace(number, ruleId=8) for number in range(5)])
        assert traces.newest(7, 3) == [trace(9), trace(8), trace(7)]
        assert traces.newest(8, 50) == [trace(number, ruleId=8) for number in (4, 3, 2, 1, 0)]
        assert traces.newest(9, 50) == []
        produce_traces(kafka, topic, [trace(10)])
        assert [trace["transactionId"] for trace in traces.newest(7, 2)] == ["t10", "t9"]


def test_what_the_engine_says_again_is_shown_once(kafka: str) -> None:
    topic = new_topic(kafka, TOPIC)
    again = trace(1, judgedAt=trace(2)["judgedAt"] + 5)
    produce_traces(kafka, topic, [trace(1), trace(2), again, trace(1, version=3)])
    with reading(kafka, topic) as traces:
        assert traces.newest(7, 50) == [again, trace(2), trace(1, version=3)]


def test_what_is_no_trace_is_left_out(kafka: str) -> None:
    topic = new_topic(kafka, TOPIC)
    garbage = [b"", b"\xff", b"[" * 60_000, b"[1]", b"null", b'{"ruleId":7}']
    wrong = [trace(2, value=5), {**trace(3), "more": 1}]
    produce_traces(kafka, topic, [*garbage, *wrong, trace(1)])
    produce_traces(kafka, topic, [b"{}"], key="nine")
    with reading(kafka, topic) as traces:
        assert traces.newest(7, 50) == [trace(1)]


def test_of_a_full_topic_only_the_newest_are_read(kafka: str) -> None:
    topic = new_topic(kafka, TOPIC)
    produce_traces(kafka, topic, [trace(number) for number in range(PER_PARTITION + 10)])
    with reading(kafka, topic) as traces:
        newest = traces.newest(7, 9_999)
        assert [trace["offset"] for trace in newest] == list(range(PER_PARTITION + 9, 9, -1))
        # and of what comes between two looks, too
        more = range(PER_PARTITION + 10, 3 * PER_PARTITION)
        produce_traces(kafka, topic, [trace(number) for number in more])
        newest = traces.newest(7, 9_999)
        assert [trace["offset"] for trace in newest] == list(
            range(3 * PER_PARTITION - 1, 2 * PER_PARTITION - 1, -1)
        )


def test_a_topic_that_was_made_anew_is_read_from_its_beginning(kafka: str) -> None:
    topic = new_topic(kafka, TOPIC)
    with reading(kafka, topic) as traces:
        produce_traces(kafka, topic, [trace(number) for number in range(5)])
        assert len(traces.newest(7, 50)) == 5
        admin = AdminClient({"bootstrap.servers": kafka, "log_level": 3})
        admin.delete_topics([topic])[topic].result(30)
        anew = replace(topics.load(TOPIC), name=topic)
        eventually(lambda: create(KafkaCluster(kafka), [anew]) == [topic], "the topic is made anew")
        produce_traces(kafka, topic, [trace(number) for number in range(2)])
        eventually(lambda: newest_or_none(traces) == [trace(1), trace(0)], "what is there now is read")


def newest_or_none(traces: NewestTraces) -> list[dict[str, Any]] | None:
    """None while the client still looks for the former topic."""
    try:
        return traces.newest(7, 50)
    except UpstreamUnavailable:
        return None


def test_a_broker_that_is_away_is_said_so() -> None:
    with reading("127.0.0.1:1", TOPIC) as traces, pytest.raises(UpstreamUnavailable):
        traces.newest(7, 50)
