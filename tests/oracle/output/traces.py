"""The JSON of a trace record, all of rule-traces.v1 but `judgedAt`, and how two lists of them are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.oracle.output.alerts import decimal, weightings
from tests.oracle.parsers.rule_events import Version
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.event_types import SIDE
from tests.oracle.values.model import Json, Record
from tests.oracle.windows.entries import side_of
from tests.oracle.windows.evaluation import Finding, Findings, window_start


@dataclass(frozen=True, slots=True)
class Judgement:
    """One evaluation: of which transaction, what was found, and whether an alert came of it."""

    event: Transaction
    findings: Findings
    late: bool
    alerted: bool


def trace_record(version: Version, record: Record, judgement: Judgement) -> dict[str, Json]:
    """The trace record of one evaluation under `version` of the transaction that came in `record`."""
    event, findings, definition = judgement.event, judgement.findings, version.definition
    return {
        "ruleId": version.rule_id,
        "version": version.number,
        "transactionId": event.transaction_id,
        "eventTime": event.event_time,
        "recordTime": record.record_time,
        "partition": record.partition,
        "offset": record.offset,
        "group": dict(findings.group),
        **({} if side_of(event) is None else {SIDE: side_of(event)}),
        "windowStart": window_start(definition, definition.window, event.event_time),
        "windowEnd": event.event_time,
        **_measurements(findings, chained=definition.chained),
        "holds": findings.holds,
        "alerted": judgement.alerted,
        "late": judgement.late,
    }


def _measurements(findings: Findings, *, chained: bool) -> dict[str, Json]:
    """The one value of a plain rule, or what each condition of a chained one came to."""
    if chained:
        none: dict[str, Json] = dict.fromkeys(("value", "limit", "limitOperatorType"))
        measured: list[Json] = [
            {**_measured(finding), "holds": finding.holds} for finding in findings.by_condition
        ]
        return {**none, "contributingCount": 0, "conditions": measured, **weightings(findings)}
    (finding,) = findings.by_condition
    return _measured(finding)


def _measured(finding: Finding) -> dict[str, Json]:
    return {
        "value": decimal(finding.value),
        "contributingCount": len(finding.contributors),
        "limit": decimal(finding.limit),
        "limitOperatorType": finding.condition.operator,
    }


def comparable(records: Iterable[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """Trace records of any origin without `judgedAt`, in an order of their own.

    What came again after a restart is there once; where it came with another content, both are.
    """
    bare = [{name: value for name, value in record.items() if name != "judgedAt"} for record in records]
    distinct = {json.dumps(record, sort_keys=True): record for record in bare}
    return [distinct[text] for text in sorted(distinct)]
