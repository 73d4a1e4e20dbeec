"""The oracle's word over what lies in Kafka: the log is cut where engine-order.v1 says that the engine cut it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.e2e.support.kafka_log import KafkaLog, Logged
from tests.oracle.judgement.oracle import judge
from tests.oracle.output.traces import comparable
from tests.oracle.values.model import MicroBatch, Outcome, Record


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the oracle expects, what the engine wrote, and how often it wrote an alert again."""

    expected: Outcome
    alerts: dict[str, dict[str, Any]]
    repeated_alerts: int
    rejects: dict[tuple[int, int], Logged]
    batches: list[MicroBatch]
    traces: list[dict[str, Any]]
    shadow_alerts: dict[str, dict[str, Any]]

    def assert_equal(self) -> None:
        """Alerts and traces byte for byte but for when they were made, rejects by place and reason.

        Of traces the engine may leave some out, beyond a thousand in a micro-batch: no history here has as many.
        """
        assert_same(self.alerts.values(), self.expected.alerts)
        assert_same(self.shadow_alerts.values(), self.expected.shadow_alerts)
        assert_same(comparable(self.traces), comparable(self.expected.traces))
        reasons = {position: record.headers["reason"].decode() for position, record in self.rejects.items()}
        wanted = {(reject.partition, reject.offset): reject.reason for reject in self.expected.rejects}
        assert reasons == wanted, f"rejects differ in {dict(reasons.items() ^ wanted.items())}"

    def shares(self) -> Counter[str]:
        """What to print."""
        alerts = self.expected.alerts
        return Counter(
            {
                "histories": 1,
                "with alerts": bool(alerts),
                "with shadows' alerts": bool(self.expected.shadow_alerts),
                "with versions in both topics": not _versions(alerts).isdisjoint(
                    _versions(self.expected.shadow_alerts)
                ),
                "with late alerts": any(alert["late"] for alert in alerts),
                "with warm alerts": any(alert["warm"] for alert in alerts),
                "with alerts of parties": any("side" in alert for alert in alerts),
                "with alerts of speeds": any(_is_of(alert, "SPEED_KMH") for alert in alerts),
                "with rejects": bool(self.expected.rejects),
                "with duplicates": self.expected.duplicates > 0,
                "with traces": bool(self.expected.traces),
                "with backfilled ones": self.expected.backfilled > 0,
                "alerts": len(alerts),
                "traces": len(self.expected.traces),
                "rejects": len(self.expected.rejects),
                "micro-batches": len(self.batches),
            }
        )


def _versions(alerts: Iterable[dict[str, Any]]) -> set[tuple[int, int]]:
    return {(alert["ruleId"], alert["ruleVersion"]) for alert in alerts}


def _is_of(alert: dict[str, Any], function: str) -> bool:
    return any(one.get("aggregatorFunctionType") == function for one in alert.get("conditions", [alert]))


def read_verdict(log: KafkaLog) -> Verdict:
    """Reads everything back and has the oracle judge it. A gap in the record of the order is an error."""
    batches = recorded_batches(log)
    written = log.read_json("alerts.v1")
    alerts, of_shadows = _by_id(written), _by_id(log.read_json("shadow-alerts.v1"))
    rejects: dict[tuple[int, int], Logged] = {}
    for reject in log.read("rejected-transactions.v1"):
        position = (int(reject.headers["partition"]), int(reject.headers["offset"]))
        first = rejects.setdefault(position, reject)
        assert (first.value, first.headers["reason"]) == (reject.value, reject.headers["reason"])
    repeated, traces = len(written) - len(alerts), log.read_json("rule-traces.v1")
    return Verdict(judge(batches), alerts, repeated, rejects, batches, traces, of_shadows)


def _by_id(written: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    alerts: dict[str, dict[str, Any]] = {}
    for alert in written:
        del alert["detectedAt"]
        # written again after a crash: the same
        assert alerts.setdefault(alert["alertId"], alert) == alert
    return alerts


def assert_same(actual: Iterable[Any], expected: Iterable[Any]) -> None:
    """What was said, byte for byte, in any order."""
    ours, theirs = (Counter(json.dumps(item, sort_keys=True) for item in side) for side in (actual, expected))
    more, missing = ours - theirs, theirs - ours
    first = [next(iter(sorted(side)), "none") for side in (more, missing)]
    assert ours == theirs, f"{more.total()} of the engine's alone, {missing.total()} of the oracle's: {first}"


def recorded_batches(log: KafkaLog) -> list[MicroBatch]:
    """The micro-batches of the one engine that wrote engine-order.v1, joined without gap from the first offset on."""
    recorded = orders(log)  # first: what it speaks of lies in the other topics then
    rules, ticks = _values(log, "rules.v1"), _values(log, "engine-ticks.v1")
    transactions = {(record.partition, record.offset): record for record in log.read("transactions.v1")}
    ends: Counter[str] = Counter()
    batches = []
    for order in recorded:
        parts = [(f"{part['partition']}", part) for part in order["transactions"]]
        for name, part in [("rules", order["rules"]), ("ticks", order["ticks"]), *parts]:
            if part is not None:
                if name == "ticks" and name not in ends:
                    ends[name] = part["from"]  # ticks of before an engine's beginning are not its own
                assert part["from"] == ends[name], f"a gap before sequence {order['sequence']} of {name}"
                ends[name] = part["until"]
        records = [
            _record(transactions[part["partition"], offset])
            for _, part in parts
            for offset in range(part["from"], part["until"])
        ]
        batches.append(MicroBatch(_cut(rules, order["rules"]), _cut(ticks, order["ticks"]), tuple(records)))
    return batches


def taken(log: KafkaLog) -> bool:
    """Whether the order records reach the ends of all that flows in."""
    ends: Counter[tuple[str, int]] = Counter()
    for order in orders(log):
        for topic, name in (("rules.v1", "rules"), ("engine-ticks.v1", "ticks")):
            if order[name]:
                ends[topic, 0] = order[name]["until"]
        for part in order["transactions"]:
            ends["transactions.v1", part["partition"]] = part["until"]
    return all(
        ends[topic, partition] >= end
        for topic in ("rules.v1", "transactions.v1")
        for partition, end in log.ends(topic).items()
    )


def orders(log: KafkaLog) -> list[dict[str, Any]]:
    """By sequence; a record that a crash made the engine write again must say the same."""
    by_sequence: dict[int, dict[str, Any]] = {}
    for order in log.read_json("engine-order.v1"):
        assert by_sequence.setdefault(order["sequence"], order) == order
    assert len({order["engine"] for order in by_sequence.values()}) <= 1
    return [by_sequence[sequence] for sequence in sorted(by_sequence)]


def _values(log: KafkaLog, topic: str) -> list[bytes]:
    return [record.value or b"" for record in log.read(topic)]


def _cut(values: list[bytes], part: dict[str, int] | None) -> tuple[bytes, ...]:
    return tuple(values[part["from"] : part["until"]]) if part else ()


def _record(record: Logged) -> Record:
    backfill = record.headers.get("backfill")
    name = None if backfill is None else backfill.decode()
    return Record(record.partition, record.offset, record.time, record.value, name)
