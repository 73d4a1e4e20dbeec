"""Rules, payments and an engine that may be killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tests.e2e.support.engine_process import Ended, RunningEngine, Workplace, run_engine, running_engine
from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.e2e.support.player import Player
from tests.faults.support.kill_places import Place, read_place
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import planned_ends

START = 1_763_690_000_000
STEP_MS = 700
DOZEN = 12
RULES = (
    draft("SUM", ">", "3000", seconds=30),
    draft("COUNT", ">=", "4", by=("payeeId",), seconds=40),
    draft("MAX", ">", "900", by=("beneficiaryId",), seconds=10),
    draft("COUNT", ">=", "1", by=(), seconds=5),
    draft("COUNT", ">=", "1", by=("payeeId",), seconds=5),
    draft("COUNT", ">=", "1", by=("beneficiaryId",), seconds=5),
)
"""The last three alert on every payment: in 19 groups of a dozen payments, which no hash puts into one shard (well,
one in 260,000 does)."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill, the ids of the transactions in its micro-batch, and those of all alerts in Kafka after it."""

    place: Place
    transactions: set[str]
    alerts: set[str]


class Scene:
    """Payments are numbered and come 0.7 s apart in event and record time, by turns on both partitions."""

    def __init__(self, log: KafkaLog, workplace: Workplace) -> None:
        self.log, self.place = log, workplace
        self.spark = spark_folder(workplace.checkpoint)
        self._player = Player(log, self.spark)
        self._registry = Registry()
        self._made = 0
        self._marker = workplace.folder / "no-kill"

    def publish_rules(self) -> None:
        for number, rule in enumerate(RULES, start=1):
            self.publish(number, rule)

    def publish(self, rule_id: int, rule: Draft) -> None:
        """The next version of a rule, in force from the beginning on."""
        event = self._registry.publish(rule_id, rule, 0, START + self._made * STEP_MS)
        self._player.send([Sent("rules.v1", event)])

    def try_beside(self, rule_id: int, shadow: Draft) -> None:
        """A shadow of a rule, in force from the beginning on."""
        event = self._registry.start_shadow(rule_id, shadow, 0, START + self._made * STEP_MS)
        self._player.send([Sent("rules.v1", event)])

    def roll_out(self, rule_id: int, percent: int) -> None:
        """The shadow of a rule counts for that share of groups."""
        event = self._registry.roll_out_shadow(rule_id, percent, START + self._made * STEP_MS)
        self._player.send([Sent("rules.v1", event)])

    @contextmanager
    def engine(self, fault: str | None = None) -> Iterator[RunningEngine]:
        """`tripline-engine run`; `fault` is a fault point without its marker file."""
        with running_engine(self.place, self._settings(fault)) as engine:
            yield engine

    def command(self, *words: str, fault: str | None = None, **more: str) -> Ended:
        """`tripline-engine` with these words, to its end."""
        return run_engine(self.place, self._settings(fault) | more, *words)

    def kill(self) -> Kill:
        """What the fault point wrote before it killed, and what there was then."""
        killed_at = self.killed_at()
        alerts = {alert["alertId"] for alert in self.log.read_json("alerts.v1")}
        return Kill(killed_at, self._transactions_of(killed_at.batch), alerts)

    def killed_at(self) -> Place:
        """Where the last kill has struck."""
        return read_place(self.spark, self._marker, self.place.shards)

    def pay_and_wait(self, count: int) -> None:
        """Payments, until committed micro-batches hold them."""
        self._player.send([self._payment() for _ in range(count)])
        self.wait()

    def pay_around(self, transaction_id: str) -> None:
        """A dozen payments at once, this one in the middle: in one partition, so that no micro-batch parts them."""
        ids = [transaction_id if n == DOZEN // 2 else None for n in range(DOZEN)]
        self._player.send(replace(self._payment(identity), partition=0) for identity in ids)

    def wait(self) -> None:
        """Until committed micro-batches hold all that was sent."""
        self._player.wait()

    def send(self, count: int) -> None:
        """Payments; nobody waits for them."""
        self._player.send([self._payment() for _ in range(count)])

    def _settings(self, fault: str | None) -> dict[str, str]:
        settings = {"TRIPLINE_TOPIC_PREFIX": self.log.prefix}
        if fault:
            self._marker = self.place.folder / fault.replace(":", "-")
            settings["TRIPLINE_FAULT_POINT"] = f"{fault}:{self._marker}"
        return settings

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
            "payeeId": number % 12,
            "beneficiaryId": number % 6,
            "paymentAmount": 100 + number * 37 % 900,
            "paymentType": "CSH" if number % 2 else "CRD",
        }
        return Sent("transactions.v1", json.dumps(payment).encode(), number % 2, time)
