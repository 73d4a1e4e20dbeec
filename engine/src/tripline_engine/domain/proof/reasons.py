"""Why a rule did not alert for a transaction, or did: one word for what its counters and its evaluation say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tripline_engine.domain.judging.rule_counters import rule_counter
from tripline_engine.domain.rules.rule_version import Rule, RuleVersion

Reason = Literal[
    "alerted", "limit", "cooldown", "held_before", "late", "filtered", "null_field", "duplicate", "backfilled",
    "paused", "not_in_force", "rejected",
]  # fmt: skip
"""`limit`: the rule did not hold; `held_before`: it did, and had held at the evaluation before, which `crossing` asks;
`late`: it came late, and the rule stores late ones or alerts at crossings."""

Trace = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one shard said when it was given nothing but the transaction.

    :ivar counters: of that micro-batch
    :ivar traces: evaluations as rule-traces.v1 has them, and whether a cooldown was in the way, by rule and side
    :ivar rejected: whether the transaction was not admitted
    :ivar filtered: by rule and side, entries that its filter leaves out whatever else is true of them
    """

    counters: Mapping[str, int]
    traces: Mapping[tuple[int, str | None], Trace]
    rejected: bool
    filtered: Collection[tuple[int, str | None]] = ()


def version_in_force(rule: Rule, event_time: int) -> RuleVersion | None:
    """The version that judges at that event time (ms), of those that the rule has had until now."""
    for version, since, until in rule.in_force(event_time):
        if since <= event_time < until:
            return version
    return None


def reason_of(rule: Rule, version: RuleVersion | None, judged: Judged, side: str | None = None) -> Reason:
    """The reason, the first of several that hold in the order in which the engine asks."""
    if judged.rejected:
        return "rejected"
    if rule.paused:
        return "paused"
    if version is None:
        return "not_in_force"
    trace = judged.traces.get((rule.rule_id, side))
    if trace is not None:
        return _of_evaluation(trace)  # counters may be about the other side
    if (rule.rule_id, side) in judged.filtered:
        return "filtered"
    for counter, reason in _LEFT_OUT:
        if judged.counters.get(rule_counter(rule.rule_id, counter), 0):
            return reason
    return "filtered"


_LEFT_OUT: tuple[tuple[str, Reason], ...] = (
    ("duplicates", "duplicate"),
    ("null_groups", "null_field"),
    ("backfilled", "backfilled"),
    ("late_stored", "late"),
)


def _of_evaluation(trace: Trace) -> Reason:
    if trace["alerted"]:
        return "alerted"
    if not trace["holds"]:
        return "limit"
    if trace.get("cooled"):
        return "cooldown"
    return "late" if trace["late"] else "held_before"
