"""The JSON of an alert, all of alerts.v1 but `detectedAt` (semantics 8)."""

from __future__ import annotations

from fractions import Fraction

from tests.oracle.parsers.definitions import Definition
from tests.oracle.parsers.measures import Measure
from tests.oracle.parsers.rule_events import Version
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.canonical_json import alert_id
from tests.oracle.values.decimals import plain
from tests.oracle.values.event_types import SIDE, current_type
from tests.oracle.values.model import Json
from tests.oracle.windows.aggregates import reported
from tests.oracle.windows.contents import Behind
from tests.oracle.windows.entries import side_of
from tests.oracle.windows.evaluation import Finding, Findings, Weighed, window_start
from tests.oracle.windows.precision import Precision

_MOST_CONTRIBUTORS = 100


def alert(
    version: Version,
    event: Transaction,
    findings: Findings,
    *,
    late: Json,
    warm: bool,
    partial: bool,
    shadow: bool,
) -> dict[str, Json]:
    """The alert that `event` raised under `version`; partial if history gave the event and not a record."""
    definition, side = version.definition, side_of(event)
    return {
        "alertId": alert_id(
            version.rule_id, version.number, findings.group, event.transaction_id, event.event_time, side
        ),
        "ruleId": version.rule_id,
        "ruleVersion": version.number,
        "ruleName": version.name,
        "definitionHash": version.definition_hash,
        "group": dict(findings.group),
        **({} if side is None else {SIDE: side}),
        **_steps(definition),
        "transaction": _part(event, definition) if partial else _whole(event),
        "partial": partial,
        **_measurements(findings, chained=definition.chained),
        "windowStart": window_start(definition, definition.window, event.event_time),
        "windowEnd": event.event_time,
        "late": late,
        "warm": warm,
        "mode": "shadow" if shadow else "live",
        "eventTime": event.event_time,
        "ingestedAt": None if partial else _ingested_at(event),
    }


def _steps(definition: Definition) -> dict[str, Json]:
    """The grouping of a plain rule in steps."""
    if definition.chained or not any(key.step for key in definition.grouping):
        return {}
    return {"groupingKeyNames": [key.written for key in definition.grouping]}


def _measurements(findings: Findings, *, chained: bool) -> dict[str, Json]:
    """The value of the one condition of a plain rule, or of each condition of a chained one."""
    if chained:
        measured = [part for finding in findings.by_condition for part in finding.condition.measures]
        max_listed = _MOST_CONTRIBUTORS // len(measured)
        none: dict[str, Json] = dict.fromkeys(("value", "operator", "limit", "contributors"))
        conditions: list[Json] = [_condition(finding, max_listed) for finding in findings.by_condition]
        return {**none, "conditions": conditions, **weightings(findings)}
    (finding,) = findings.by_condition
    return _measured(finding, _MOST_CONTRIBUTORS)


def weightings(findings: Findings) -> dict[str, Json]:
    """What the weights came to; nothing of a rule that does not weigh."""
    weighed: list[Json] = [_weighed(one) for one in findings.weighed]
    return {"weighted": weighed} if weighed else {}


def _weighed(one: Weighed) -> Json:
    parts: list[Json] = [
        {"weight": _plain(weight), "holds": holds, "conditions": [*numbers]}
        for weight, holds, numbers in one.parts
    ]
    return {
        "sum": _plain(one.total),
        "atLeast": _plain(one.at_least),
        "holds": one.holds,
        "weights": parts,
    }


def _plain(millionths: int | None) -> str | None:
    return None if millionths is None else plain(millionths)


def _condition(finding: Finding, max_listed: int) -> Json:
    condition = finding.condition
    return {
        "groupingKeyNames": [key.written for key in condition.grouping],
        "aggregatorFunctionType": condition.function,
        "aggregateFieldName": condition.field,
        "group": dict(finding.group),
        "windowSeconds": condition.window // 1000,
        "windowStart": finding.start,
        "windowEnd": finding.end,
        **_excerpt(condition),
        "holds": finding.holds,
        **_measured(finding, max_listed),
        **({} if finding.behind is None else {"limitMeasure": _behind(finding.behind, max_listed)}),
    }


def _excerpt(measure: Measure) -> dict[str, Json]:
    """What the measure says of its window, if it says anything."""
    said: dict[str, Json] = {}
    if measure.offset:
        said["offsetSeconds"] = measure.offset // 1000
    elif not measure.current:
        said["includeCurrent"] = False
    if measure.least:
        said["minimumCount"] = measure.least
    return said


def _behind(behind: Behind, max_listed: int) -> Json:
    content, measure = behind.content, behind.content.measure
    return {
        "groupingKeyNames": [key.written for key in measure.grouping],
        "aggregatorFunctionType": measure.function,
        "aggregateFieldName": measure.field,
        "group": dict(content.group),
        "windowSeconds": measure.window // 1000,
        "windowStart": content.start,
        "windowEnd": content.end,
        **_excerpt(measure),
        "value": decimal(content.value),
        "times": None if behind.times is None else plain(behind.times),
        "plus": None if behind.plus is None else plain(behind.plus),
        **_deviations(behind),
        "contributors": _contributors(content.contributors, content.contributors, measure, max_listed),
    }


def _deviations(behind: Behind) -> dict[str, Json]:
    """Nothing where the limit has none besides."""
    if not behind.more:
        return {}
    return {"plusDeviations": _plain(behind.deviations), "deviation": decimal(behind.deviation)}


def _measured(finding: Finding, max_listed: int) -> dict[str, Json]:
    condition = finding.condition
    return {
        "value": decimal(finding.value),
        "operator": condition.operator,
        "limit": decimal(finding.limit),
        "contributors": _contributors(finding.named, finding.contributors, finding.condition, max_listed),
        **_precision(finding.precision),
    }


def _precision(precision: Precision | None) -> dict[str, Json]:
    """Nothing where the value is exact."""
    if precision is None:
        return {}
    return {
        "precision": {
            "bucketSeconds": precision.length // 1000,
            "atLeast": decimal(precision.at_least),
            "atMost": decimal(precision.at_most),
        }
    }


def decimal(value: Fraction | None) -> str | None:
    """An exact value in millionths as it is reported, None where there is none."""
    return None if value is None else plain(reported(value))


def _ingested_at(event: Transaction) -> int:
    return event.record_time if event.ingestion is None else event.ingestion


def _whole(event: Transaction) -> dict[str, Json]:
    kind = current_type()
    values: dict[str, Json] = {
        **event.keys,
        kind.identity: event.transaction_id,
        kind.time: event.event_time,
        kind.amount: plain(event.amount),
        kind.ingestion: event.ingestion,
    }
    return {name: values[name] for name in kind.fields}


def _part(event: Transaction, definition: Definition) -> dict[str, Json]:
    """The part of a transaction that history keeps for this rule: the id, and the fields it uses."""
    kept = {current_type().identity, *definition.uses}
    return {name: value for name, value in _whole(event).items() if name in kept}


def _contributors(
    named: list[Transaction], contributors: list[Transaction], measure: Measure, max_listed: int
) -> dict[str, Json]:
    # Stable, so turned round it has the last accepted first among equal times.
    newest_first = sorted(named, key=lambda other: other.event_time)[::-1]
    count, field = len(contributors), measure.field
    listed: list[Json] = [
        {
            "transactionId": other.transaction_id,
            "eventTime": other.event_time,
            "value": None if field is None else other.keys[field],
        }
        for other in newest_first[:max_listed]
    ]
    return {"count": count, "transactions": listed, "truncated": count > len(listed)}
