"""What becomes of cases, read from the log of a real Postgres, and sent to a real Kafka."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import psycopg
import pytest
from confluent_kafka import Consumer, Message
from prometheus_client import CollectorRegistry

from alert_api.adapters.notifications.notice_sender import KafkaNoticeSender
from alert_api.adapters.notifications.notifier_metrics import NotifierMetrics
from alert_api.adapters.notifications.postgres_notices import PostgresNotices
from alert_api.domain.cases.work import Acknowledge, Assign, Comment, Reopen, Resolve
from alert_api.domain.notifications.case_notice import CaseNotice
from alert_api.errors import Stopped
from alert_api.service.notifications.publisher import Publisher
from tests.integration.alert_api.notifications.conftest import HOUR, Stage
from tests.integration.alert_api.support.servers import SECONDS, eventually, new_topic
from tests.unit.alert_api.support.samples import EPOCH
from tripline_contracts import schemas
from tripline_contracts.kafka.cluster import KafkaCluster

pytestmark = pytest.mark.integration

NOW = EPOCH + 2 * HOUR


def all_notices(stage: Stage, limit: int = 100) -> list[CaseNotice]:
    """Whatever is behind the position, in batches of that size."""
    taken: list[CaseNotice] = []
    with stage.store() as store:
        while True:
            with store.next_batch(limit) as notices:
                if not notices:
                    return taken
                taken += notices


def told(notices: Sequence[CaseNotice]) -> list[tuple[str, str | None]]:
    return [(notice.type, notice.actor) for notice in notices]


def burst_with_work(stage: Stage) -> int:
    """A burst of one rule, an episode of another one, work, and an alert that reopens; gives the case."""
    stage.alerts((1, "25", 1, 0), (2, "25", 1, 0), (3, "25", 1, 0))
    stage.alerts((4, "25", 2, 1))
    with psycopg.connect(stage.database.owner) as connection:
        [(case_id,)] = connection.execute("SELECT case_id FROM alerts.cases").fetchall()
    stage.work(
        case_id,
        Acknowledge(actor="ada", now=NOW),
        Assign(actor="ada", now=NOW, assignee="bob"),
        Comment(actor="bob", now=NOW, comment="Zoë called"),
        Resolve(actor="bob", now=NOW, outcome="false_positive"),
    )
    stage.alerts((5, "25", 1, 3), (6, "25", 1, 3))
    stage.work(case_id, Resolve(actor="ada", now=EPOCH + 4 * HOUR, outcome="confirmed_fraud"))
    stage.work(case_id, Reopen(actor="ada", now=EPOCH + 4 * HOUR))
    return int(case_id)


EXPECTED = [
    ("CaseOpened", None), ("CaseEpisodeJoined", None), ("CaseAcknowledged", "ada"), ("CaseAssigned", "ada"),
    ("CaseCommented", "bob"), ("CaseResolved", "bob"), ("CaseReopened", None), ("CaseResolved", "ada"),
    ("CaseReopened", "ada"),
]  # fmt: skip


@pytest.mark.parametrize("limit", [1, 4, 100])
def test_the_log_is_told_in_its_order_in_whatever_batches(stage: Stage, limit: int) -> None:
    case_id = burst_with_work(stage)
    notices = all_notices(stage, limit)
    assert told(notices) == EXPECTED
    assert [notice.position for notice in notices] == sorted({notice.position for notice in notices})
    assert {notice.case_id for notice in notices} == {case_id}
    assert [notice.version for notice in notices] == [1, None, 2, 3, 4, 5, 6, 7, 8]
    assert notices[1].rule_id == 2
    assert notices[2].subject == {"field": "payeeId", "value": "25"}
    assert all_notices(stage, limit) == []


def test_a_batch_that_fails_comes_again(stage: Stage) -> None:
    burst_with_work(stage)
    with stage.store() as store:
        with pytest.raises(Stopped), store.next_batch(3) as notices:
            raise Stopped("between the topic and the position")
        with store.next_batch(3) as again:
            assert again == notices
    assert len(all_notices(stage)) == len(EXPECTED) - 3


def test_nothing_beyond_the_fold_and_nothing_but_the_position_is_written(stage: Stage) -> None:
    burst_with_work(stage)
    with psycopg.connect(stage.database.owner) as connection:
        [(first,)] = connection.execute("SELECT min(position) FROM alerts.case_openings").fetchall()
        connection.execute("UPDATE alerts.case_cursor SET position = %s", (first,))
    assert told(all_notices(stage)) == EXPECTED[:1]
    with psycopg.connect(stage.notifier, autocommit=True) as connection:
        for statement in (
            "UPDATE alerts.cases SET state = 'open'",
            "DELETE FROM alerts.case_events",
            "UPDATE alerts.case_cursor SET position = 0",
            "SELECT content FROM alerts.alerts",
            "SELECT request_id FROM alerts.case_events",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


class Dying(PostgresNotices):
    """Ends between the broker's word and the database's."""

    @contextmanager
    def next_batch(self, limit: int) -> Iterator[Sequence[CaseNotice]]:
        with super().next_batch(limit) as notices:
            yield notices
            raise Stopped("killed")


def read(kafka: str, topic: str, number: int) -> list[Message]:
    """The first so many records, and no more."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    taken: list[Message] = []

    def enough() -> bool:
        taken.extend(message for message in consumer.consume(100, 0.2) if message.error() is None)
        return len(taken) >= number

    try:
        eventually(enough, f"{number} records")
    finally:
        consumer.close()
    assert len(taken) == number
    return taken


def test_programs_get_them_at_least_once_with_equal_ids(stage: Stage, kafka: str) -> None:
    case_id = burst_with_work(stage)
    topic, stop, registry = new_topic(kafka, "cases.v1"), threading.Event(), CollectorRegistry()
    sender, metrics = KafkaNoticeSender(KafkaCluster(kafka), topic), NotifierMetrics(registry)
    with closing(Dying(stage.notifier)) as dying, pytest.raises(Stopped):
        Publisher(dying, sender, metrics, stop).step()
    with stage.store() as store:
        thread = threading.Thread(target=Publisher(store, sender, metrics, stop).run)
        thread.start()
        messages = read(kafka, topic, 2 * len(EXPECTED))
        stop.set()
        thread.join(SECONDS)
    ids = [dict(message.headers() or [])["ce_id"] for message in messages]
    assert ids[: len(EXPECTED)] == ids[len(EXPECTED) :]
    assert len(set(ids)) == len(EXPECTED)
    check = schemas.validator("cases.v1")
    for message in messages:
        body = json.loads(message.value() or b"")
        check(body)
        assert message.key() == str(body["caseId"]).encode() == str(case_id).encode()
    assert registry.get_sample_value("tripline_case_notices_published_total", {"type": "CaseReopened"}) == 2
