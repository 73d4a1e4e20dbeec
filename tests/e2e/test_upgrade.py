"""An engine of today starts on the checkpoint of an earlier release and goes on: no alert is missing, none differs.

The recorded life has every kind of window and firing state. Formats of state logs, segments, heads and arrays are held
by it: a change that earlier engines' checkpoints do not survive fails here.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support.engine_process import Workplace
from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.e2e.support.verdict import orders, read_verdict
from tests.faults.support.scene import Scene
from tests.oracle.builders.shorthand import draft
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

RECORDED = Path(__file__).parent / "data" / "engine-0.1.0.tar.xz"
RULES = (
    draft("SUM", ">", "3000", seconds=30),
    draft("AVG", ">", "500", by=("payeeId",), seconds=60),
    draft("MIN", "<", "150", by=("beneficiaryId",), seconds=20),
    draft("MAX", ">", "900", by=("beneficiaryId",), seconds=10),
    draft("COUNT", ">=", "3", by=(), seconds=2),
    draft("COUNT_DISTINCT", ">=", "2", by=("beneficiaryId",), seconds=40, field="payeeId"),
    draft("COUNT", ">=", "3", by=("payeeId",), seconds=90, firing="crossing", cooldown=20),
    draft("SUM", ">", "2000", by=("payeeId",), seconds=300, reset=True),
    draft("COUNT", ">=", "5", by=("payeeId", "paymentType"), seconds=120, late_events="reevaluate"),
    draft("SUM", ">", "1500", by=("payeeId",), seconds=600, bucket=60),
    draft("MAX", ">", "800", by=("beneficiaryId",), seconds=900, bucket=60, firing="crossing"),
)


class RestoredLog(KafkaLog):
    """Topics that can be filled with what an earlier engine has left in them."""

    _muted = False

    def restore(self, topics: dict[str, list[list[Any]]]) -> None:
        """Puts every record back at its offset."""
        for topic, records in topics.items():
            self.send(
                Sent(topic, None if value is None else value.encode(), partition, time, _headers(headers))
                for partition, _, time, _, value, headers in records
            )
            there = [(record.partition, record.offset, record.time) for record in self.read(topic)]
            assert there == [(partition, offset, time) for partition, offset, time, *_ in records]

    @contextmanager
    def muted(self) -> Iterator[list[Sent]]:
        """Nothing is sent: the records come to the list instead."""
        self._muted, self._unsent = True, list[Sent]()
        yield self._unsent
        self._muted = False

    def send(self, records: Any) -> None:
        if self._muted:
            self._unsent.extend(records)
        else:
            super().send(records)


def first_life(scene: Scene) -> None:
    """What the engine of the recording has been through."""
    for number, rule in enumerate(RULES, start=1):
        scene.publish(number, rule)
    scene.wait()
    for count in (2, 9, 14):
        scene.pay_and_wait(count)
    scene.publish(1, draft("SUM", ">", "2500", seconds=35))
    for count in (1, 11, 3, 1, 7, 1, 20, 5, 1, 1, 1, 13, 1, 2, 6, 1, 1, 40, 1, 9, 2, 1, 30):
        scene.pay_and_wait(count)


def second_life(scene: Scene) -> None:
    """What it goes through now: payments, a version more, a rule that reaches back over what the old engine took."""
    for count in (5, 1, 20):
        scene.pay_and_wait(count)
    scene.publish(1, draft("SUM", ">", "2400", seconds=50))
    scene.publish(12, draft("COUNT", ">=", "2", by=("beneficiaryId", "payeeId"), seconds=100))
    for count in (12, 1, 30):
        scene.pay_and_wait(count)


@pytest.mark.timeout(600)
def test_an_engine_goes_on_from_a_checkpoint_of_0_1(
    java: Java, jars: Jars, kafka: str, tmp_path: Path
) -> None:
    with tarfile.open(RECORDED) as recorded:
        # Pythons before 3.11.4 have no filters, those after 3.12 warn without one
        recorded.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        recorded.extractall(tmp_path)
    # Spark writes down where its state schema lies, by its whole path
    metadata = tmp_path / "checkpoint" / "spark" / "state" / "0" / "_metadata" / "v2" / "0"
    metadata.write_text(metadata.read_text().replace("file:/recorded/", f"file:{tmp_path}/"))
    topics = json.loads((tmp_path / "topics.json").read_text())
    log = RestoredLog(kafka, "upgrade-")
    # as the topics of that release were; ticks have got the broker's time since
    log.create(**{"message.timestamp.type": "CreateTime"})
    log.restore(topics)
    scene = Scene(log, Workplace(java, jars, kafka, tmp_path, shards=2))
    with log.muted() as repeated:
        first_life(scene)
    assert _values(repeated, "transactions.v1") == sorted(row[4] for row in topics["transactions.v1"])

    with scene.engine():
        second_life(scene)

    verdict = read_verdict(log)
    verdict.assert_equal()
    sequences = [order["sequence"] for order in orders(log)]
    assert sequences == list(range(1, len(sequences) + 1))
    assert len(sequences) > len(topics["engine-order.v1"])
    assert len(verdict.alerts) > len(topics["alerts.v1"])


def _values(records: list[Sent], topic: str) -> list[str]:
    return sorted(record.value.decode() for record in records if record.topic == topic and record.value)


def _headers(headers: dict[str, str]) -> tuple[tuple[str, bytes], ...]:
    return tuple((name, value.encode("latin-1")) for name, value in headers.items())
