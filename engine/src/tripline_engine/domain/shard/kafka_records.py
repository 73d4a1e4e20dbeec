"""The Kafka records that a shard writes, each with its CloudEvents attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256
from typing import Any

import msgspec

from tripline_contracts import cloudevents
from tripline_contracts.filters import time_zones
from tripline_engine.domain.rules.log_position import LogPosition
from tripline_engine.domain.rules.rule_events import RuleApplied
from tripline_engine.domain.rules.rule_version import Rule
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.topic_names import ALERTS, SHADOW_ALERTS

_SOURCE = "/engine"


def alert_record(alert: Mapping[str, Any]) -> OutRecord:
    """An alert for alerts.v1, or a shadow's for shadow-alerts.v1, keyed by its id."""
    key, is_shadow = alert["alertId"], alert["mode"] == "shadow"
    topic, event = (SHADOW_ALERTS, "ShadowAlertRaised") if is_shadow else (ALERTS, "AlertRaised")
    return _record(topic, key, event, key, alert, alert["detectedAt"])


def status_record(taken: RuleApplied, shard: int, shards: int, warm_from: int | None, now: int) -> OutRecord:
    """This shard's word that it has taken a rule event, for rule-status.v1."""
    status = {
        "ruleId": taken.rule_id,
        "version": taken.version,
        "position": taken.position,
        "shard": shard,
        "shards": shards,
        "appliedAt": now,
        "warmFrom": warm_from,
    }
    return _record(
        "rule-status.v1", str(taken.rule_id), "RuleApplied", f"{taken.position}-{shard}", status, now
    )


def export_record(
    command_id: str, position: int, rules: Iterable[Rule], shard: int, shards: int, now: int
) -> OutRecord:
    """The rules that this shard holds, for rule-status.v1."""
    export = {
        "kind": "export",
        "commandId": command_id,
        "position": position,
        "shard": shard,
        "shards": shards,
        "exportedAt": now,
        "rules": [
            {
                "ruleId": rule.rule_id,
                "version": rule.version,
                "definitionHash": rule.versions[-1].definition_hash,
                "state": "PAUSED" if rule.paused else "ACTIVE",
            }
            for rule in sorted(rules, key=lambda rule: rule.rule_id)
        ],
    }
    return _record("rule-status.v1", "export", "RulesExported", f"{command_id}-{shard}", export, now)


def position_record(
    log_position: LogPosition, config: EngineConfig, shard: int, sequence: int, now: int
) -> OutRecord:
    """Where this shard stands in rules.v1, for rule-status.v1."""
    position = {
        "kind": "position",
        "engine": config.engine_id,
        "position": log_position.position,
        "digest": log_position.digest,
        "digestFrom": log_position.digest_from,
        "waiting": log_position.is_waiting,
        "shard": shard,
        "shards": config.shards,
        "reportedAt": now,
    }
    identity = f"{config.engine_id}-{sequence}-{shard}"
    return _record("rule-status.v1", "position", "PositionReported", identity, position, now)


def trace_record(trace: Mapping[str, Any]) -> OutRecord:
    """An evaluation of a traced rule for rule-traces.v1, keyed by the rule."""
    key = str(trace["ruleId"])
    names = ("ruleId", "version", "partition", "offset", *(("side",) if "side" in trace else ()))
    identity = "-".join(str(trace[name]) for name in names)
    return _record("rule-traces.v1", key, "EvaluationTraced", identity, trace, trace["judgedAt"])


def order_record(
    config: EngineConfig,
    sequence: int,
    needed: AbstractSet[str] | None,
    rules: Sequence[int],
    ticks: Sequence[int],
    ranges: Sequence[Mapping[str, Any]],
    now: int,
) -> OutRecord:
    """The offsets of one micro-batch, for engine-order.v1; ``rules`` and ``ticks`` are the offsets taken.

    :param needed: the anchors that its transactions went to; None where all are kept
    """
    order = {
        "engine": config.engine_id,
        "sequence": sequence,
        "eventType": config.event_type.name,
        "anchors": list(config.event_type.anchors),
        "shards": config.shards,
        "timeZones": time_zones.VERSION,
        "rules": _range(rules),
        "ticks": _range(ticks),
        "transactions": sorted(ranges, key=lambda part: int(part["partition"])),
    }
    if needed is not None:
        order["needed"] = [anchor for anchor in config.event_type.all_anchors if anchor in needed]
    identity = f"{config.engine_id}-{sequence}"
    return _record("engine-order.v1", config.engine_id, "BatchJudged", identity, order, now)


def reject_record(
    value: bytes, reason: str, detail: str, partition: int, offset: int, length: int, digest: str, now: int
) -> OutRecord:
    """A record of transactions.v1 that was not accepted, for rejected-transactions.v1."""
    added = {
        "reason": reason,
        "detail": detail,
        "topic": "transactions.v1",
        "partition": str(partition),
        "offset": str(offset),
        "length": str(length),
        "sha256": digest,
    }
    headers = cloudevents.headers(
        f"transactions.v1-{partition}-{offset}",
        cloudevents.type_of("TransactionRejected"),
        _SOURCE,
        now,
        "application/octet-stream",
    )
    return OutRecord(
        "rejected-transactions.v1",
        None,
        value,
        (*headers, *((name, text.encode()) for name, text in added.items())),
    )


def judged_reject(
    transaction: Mapping[str, Any], reason: str, detail: str, partition: int, offset: int, now: int
) -> OutRecord:
    """A transaction that was read but rejected for its times; its value is the transaction as it was read."""
    value = msgspec.json.encode(transaction)
    return reject_record(value, reason, detail, partition, offset, len(value), sha256(value).hexdigest(), now)


def _record(topic: str, key: str, event: str, identity: str, value: Mapping[str, Any], now: int) -> OutRecord:
    headers = cloudevents.headers(identity, cloudevents.type_of(event), _SOURCE, now)
    return OutRecord(topic, key.encode(), msgspec.json.encode(value), tuple(headers))


def _range(offsets: Sequence[int]) -> dict[str, int] | None:
    return {"from": min(offsets), "until": max(offsets) + 1} if offsets else None
