"""The alert that a verdict becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tripline_contracts.canonical import alert_id
from tripline_contracts.event_type import SIDE, EventType, Field
from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.grouping_keys import field_of, group_of, grouping_json, step_of
from tripline_contracts.rules.relative_limits import Baseline
from tripline_engine.domain.judging.verdict import Measured, MeasuredLimit, Verdict, Weighing
from tripline_engine.domain.rules.measures import window_start
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.shard.alert_mode import mode_of


def ingested_at(transaction: Mapping[str, Any], record_time: int, field: Field | None) -> int:
    """When the transaction entered, in ms: as it says itself in that field, else its record time."""
    value = transaction[field.name] if field else None
    return record_time if value is None else value


def alert_json(
    verdict: Verdict,
    transaction: Mapping[str, Any],
    event_type: EventType,
    ingested_at: int | None,
    detected_at: int,
    shadow: RuleVersion | None = None,
) -> dict[str, Any]:
    """The alert as alerts.v1 carries it, or shadow-alerts.v1; times in ms.

    :param transaction: of an entry with its party and side beside the fields: the alert says them in members of its own
    :param shadow: of the rule, if it has one
    """
    version, definition = verdict.version, verdict.version.definition
    time, transaction_id = transaction[event_type.time_field.name], transaction[event_type.id_field.name]
    group = group_of(definition.grouping_key_names, transaction)
    party = event_type.party(version.anchor)
    side = None if party is None else transaction[SIDE]
    if party is not None:
        transaction = {name: value for name, value in transaction.items() if name not in (party.name, SIDE)}
    return {
        "alertId": alert_id(version.rule_id, version.version, group, transaction_id, time, side),
        "ruleId": version.rule_id,
        "ruleVersion": version.version,
        "ruleName": version.name,
        "definitionHash": version.definition_hash,
        "group": group,
        **({} if side is None else {SIDE: side}),
        **_steps_json(verdict),
        "transaction": transaction,
        "partial": verdict.partial is not None,
        **_measured_json(verdict, group, time),
        "windowStart": version.window_start(time),
        "windowEnd": time,
        "late": _late_json(verdict),
        "warm": verdict.warm,
        "mode": mode_of(version, group, time, shadow),
        "eventTime": time,
        "ingestedAt": ingested_at,
        "detectedAt": detected_at,
    }


def _steps_json(verdict: Verdict) -> dict[str, Any]:
    """What an alert's own value was grouped by, where the group alone doesn't tell; conditions tell it in any case."""
    keys = verdict.version.definition.grouping_key_names
    if verdict.version.chained or all(step_of(key) is None for key in keys):
        return {}
    return {"groupingKeyNames": grouping_json(keys)}


def _late_json(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.late_one is not None:
        late = verdict.late_one
        return {"transactionId": late.transaction_id, "eventTime": late.event_time}
    return None if verdict.newest is None else {"newestEventTime": verdict.newest}


def _measured_json(verdict: Verdict, group: Mapping[str, Any], time: int) -> dict[str, Any]:
    """The measured part of the alert: one value, or a list of the rule's conditions."""
    if not verdict.version.chained:
        (measured,) = verdict.measured
        values = {"value": measured.value, "operator": measured.condition.operator, "limit": measured.limit}
        return {
            **values,
            "contributors": _contributors_json(measured),
            **_precision_json(measured, verdict.version),
        }
    conditions = [_condition_json(measured, group, time, verdict.version) for measured in verdict.measured]
    nothing = dict.fromkeys(("value", "operator", "limit", "contributors"))
    return {**nothing, "conditions": conditions, **weighed_json(verdict.weighed)}


def weighed_json(weighings: Sequence[Weighing]) -> dict[str, Any]:
    """The weightings of the tree, as alerts and traces have them; nothing where there are none."""
    if not weighings:
        return {}
    weighed = [
        {
            "sum": weighing.total,
            "atLeast": weighing.at_least,
            "holds": weighing.holds,
            "weights": [
                {"weight": one.weight, "holds": one.holds, "conditions": list(one.conditions)}
                for one in weighing.weights
            ],
        }
        for weighing in weighings
    ]
    return {"weighted": weighed}


def _condition_json(
    measured: Measured, group: Mapping[str, Any], time: int, version: RuleVersion
) -> dict[str, Any]:
    condition = measured.condition
    return {
        "groupingKeyNames": grouping_json(condition.grouping_key_names),
        "aggregatorFunctionType": condition.function,
        "aggregateFieldName": condition.aggregate_field,
        "group": {field: group[field] for field in map(field_of, condition.grouping_key_names)},
        "value": measured.value,
        "operator": condition.operator,
        "limit": measured.limit,
        "windowSeconds": condition.window_seconds,
        **_excerpt_json(condition, time, version.bucket_ms),
        "holds": measured.holds,
        "contributors": _contributors_json(measured),
        **_precision_json(measured, version),
        **_behind_json(measured, group, time),
    }


def _excerpt_json(condition: Condition | Baseline, time: int, bucket_ms: int | None) -> dict[str, Any]:
    """Where the window begins and ends; of one that has an offset the end is no part of it."""
    excerpt = condition.excerpt
    return {
        "windowStart": window_start(time, condition.reach_seconds * 1000, bucket_ms),
        "windowEnd": time - excerpt.offset_seconds * 1000,
        **excerpt.to_json(),
    }


def _behind_json(measured: Measured, group: Mapping[str, Any], time: int) -> dict[str, Any]:
    """What a relative limit is made of."""
    behind = measured.behind
    if behind is None:
        return {}
    measure = behind.measure
    return {
        "limitMeasure": {
            "groupingKeyNames": grouping_json(measure.grouping_key_names),
            "aggregatorFunctionType": measure.function,
            "aggregateFieldName": measure.aggregate_field,
            "group": {field: group[field] for field in map(field_of, measure.grouping_key_names)},
            "value": behind.value,
            "times": behind.times,
            "plus": behind.plus,
            **_deviations_json(behind),
            "windowSeconds": measure.window_seconds,
            **_excerpt_json(measure, time, None),
            "contributors": _contributors_json(behind),
        }
    }


def _deviations_json(behind: MeasuredLimit) -> dict[str, Any]:
    if behind.deviations is None:
        return {}
    return {"plusDeviations": behind.deviations.number, "deviation": behind.deviations.deviation}


def _precision_json(measured: Measured, version: RuleVersion) -> dict[str, Any]:
    bounds = measured.bounds
    if bounds is None:
        return {}
    seconds = version.definition.bucket_seconds
    return {"precision": {"bucketSeconds": seconds, "atLeast": bounds.at_least, "atMost": bounds.at_most}}


def _contributors_json(measured: Measured | MeasuredLimit) -> dict[str, Any]:
    return {
        "count": measured.count,
        "transactions": [
            {
                "transactionId": contributor.transaction_id,
                "eventTime": contributor.event_time,
                "value": contributor.value,
            }
            for contributor in measured.contributors
        ],
        "truncated": measured.count > len(measured.contributors),
    }
