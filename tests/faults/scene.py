"""Rules, payments and an engine that may be killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.e2e.engine_process import RunningEngine, Workplace, running_engine
from tests.e2e.kafka_log import KafkaLog, Sent
from tests.e2e.playing import Player
from tests.oracle.registry import Registry
from tests.oracle.scripting import draft
from tripline_engine.spark.checkpoint import spark_folder
from tripline_engine.spark.committed import planned_ends

START = 1_763_690_000_000
STEP_MS = 700
DOZEN = 12
RULES = (
    draft("SUM", ">", "3000", seconds=30),
    draft("COUNT", ">=", "4", by=("payeeId",), seconds=20),
    draft("MAX", ">", "900", by=("beneficiaryId",), seconds=10),
    draft("COUNT", ">=", "1", by=(), seconds=5),
)
"""The last one alerts on every payment."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill as the fault point told it, the transactions of its micro-batch, and the alerts in Kafka after it."""

    where: str
    stack: list[str]
    transactions: set[str]
    alerts: set[str]


class Scene:
    """Payments are numbered and come 0.7 s apart in event and record time, by turns on both partitions."""

    def __init__(self, log: KafkaLog, place: Workplace) -> None:
        self.log, self.place = log, place
        self.spark = spark_folder(place.checkpoint)
        self._player = Player(log, self.spark)
        self._made = 0
        self._marker = place.folder / "no-kill"

    def publish_rules(self) -> None:
        registry = Registry()
        events = [registry.publish(number, rule, 0, START) for number, rule in enumerate(RULES, start=1)]
        self._player.send(Sent("rules.v1", event) for event in events)

    @contextmanager
    def engine(self, fault: str | None = None) -> Iterator[RunningEngine]:
        """`tripline-engine run`; `fault` is a fault point without its marker file."""
        settings = {"TRIPLINE_TOPIC_PREFIX": self.log.prefix}
        if fault:
            self._marker = self.place.folder / fault.replace(":", "-")
            settings["TRIPLINE_FAULT_POINT"] = f"{fault}:{self._marker}"
        with running_engine(self.place, settings) as engine:
            yield engine

    def kill(self) -> Kill:
        """What the fault point wrote before it killed, and what there was then."""
        said = json.loads(self._marker.read_text())
        assert (self.spark / "offsets" / said["batch"]).exists()
        assert not (self.spark / "commits" / said["batch"]).exists()
        alerts = {alert["alertId"] for alert in self.log.read_json("alerts.v1")}
        return Kill(said["where"], said.get("stack", []), self._transactions_of(int(said["batch"])), alerts)

    def pay_and_wait(self, count: int) -> None:
        """Payments, until committed micro-batches hold them."""
        self._player.send([self._payment() for _ in range(count)])
        self.wait()

    def pay_around(self, transaction_id: str) -> None:
        """A dozen payments at once, this one in the middle."""
        self._player.send([self._payment(transaction_id if n == DOZEN // 2 else None) for n in range(DOZEN)])

    def wait(self) -> None:
        """Until committed micro-batches hold all that was sent."""
        self._player.wait()

    def _transactions_of(self, batch: int) -> set[str]:
        """The ids in a planned micro-batch."""
        topic = self.log.prefix + "transactions.v1"
        before = planned_ends(self.spark, batch - 1).get(topic, {})
        until = planned_ends(self.spark, batch).get(topic, {})
        return {
            json.loads(record.value or b"")["transactionId"]
            for record in self.log.read("transactions.v1")
            if before.get(record.partition, 0) <= record.offset < until.get(record.partition, 0)
        }

    def _payment(self, transaction_id: str | None = None) -> Sent:
        number, self._made = self._made, self._made + 1
        time = START + number * STEP_MS
        payment = {
            "transactionId": transaction_id or f"t{number}",
            "eventTime": time,
            "payeeId": number % 3,
            "beneficiaryId": number % 4,
            "paymentAmount": 100 + number * 37 % 900,
            "paymentType": "CSH" if number % 2 else "CRD",
        }
        return Sent("transactions.v1", json.dumps(payment).encode(), number % 2, time)
