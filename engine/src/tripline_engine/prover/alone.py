"""One transaction judged alone, after all that came before it: by the rules' own versions, or by those on trial.

A shadow is neither counted nor traced. So for what it judges in its rule's place it is promoted first, in a shard of
its own, which hands over all that it knows and starts nothing anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripline_contracts.event_type import SIDE
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.proof.reasons import Judged, version_in_force
from tripline_engine.domain.rules.rule_version import Rule
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord, Payload
from tripline_engine.prover.filtered_entries import FilteredEntries
from tripline_engine.prover.replayed_shard import ReplayedShard
from tripline_engine.topic_names import ALERTS, REJECTS, TRACES

Entry = tuple[int, str | None]
"""A rule, and the side of the entry that it judges."""


@dataclass(frozen=True, slots=True)
class Alone:
    """What came of the transaction.

    :ivar alerts: ids by rule and side, of those that count
    """

    shard: ReplayedShard
    judged: Judged
    alerts: Mapping[Entry, str]
    rejected: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Turn:
    """The transaction as it is fed, at its event time (ms)."""

    payloads: Sequence[Payload]
    event_time: int
    config: EngineConfig
    on_demand: bool

    def alone(self, before: ReplayedShard, promoted: Mapping[int, Rule] | None = None) -> Alone:
        """What comes of it in a shard that goes on from there, once the shadows of these rules are promoted."""
        shard = before.telling(Telling(every_trace=True))
        if promoted:
            shard.promote(promoted.values(), before.book.position, on_demand=self.on_demand)
        output = shard.take([], [], self.payloads, on_demand=self.on_demand)
        rejected = _rejected(output)
        filtered = FilteredEntries(self.payloads, shard.book, self.config)
        in_force = [version_in_force(rule, self.event_time) for rule in shard.book.rules.values()]
        left_out = {
            (version.rule_id, side)
            for version in in_force
            if version is not None
            for side in filtered.of(version)
        }
        judged = Judged(shard.counters, _traces(output), rejected is not None, left_out)
        return Alone(shard, judged, _alert_ids(output), rejected)


def _rejected(output: Sequence[OutRecord]) -> dict[str, str] | None:
    for record in output:
        if record.topic == REJECTS:
            headers = dict(record.headers)
            return {"reason": headers["reason"].decode(), "detail": headers["detail"].decode()}
    return None


def _traces(output: Sequence[OutRecord]) -> dict[Entry, dict[str, Any]]:
    traces = [json.loads(record.value) for record in output if record.topic == TRACES]
    return {(trace["ruleId"], trace.get(SIDE)): trace for trace in traces}


def _alert_ids(output: Sequence[OutRecord]) -> dict[Entry, str]:
    """By rule and side; what the transaction had judged again is not its own."""
    alerts = [json.loads(record.value) for record in output if record.topic == ALERTS]
    return {(alert["ruleId"], alert.get(SIDE)): alert["alertId"] for alert in alerts if not alert["partial"]}
