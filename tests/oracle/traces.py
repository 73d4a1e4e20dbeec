"""The JSON of a trace record, all of rule-traces.v1 but `judgedAt`, and how two lists of them are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.oracle.aggregates import reported
from tests.oracle.decimals import plain
from tests.oracle.evaluation import Finding
from tests.oracle.model import Json, Record
from tests.oracle.rule_events import Version
from tests.oracle.transactions import Transaction


@dataclass(frozen=True, slots=True)
class Judgement:
    """One evaluation: of which transaction, what was found, and whether an alert came of it."""

    event: Transaction
    finding: Finding
    late: bool
    alerted: bool


def trace_record(version: Version, record: Record, judgement: Judgement) -> dict[str, Json]:
    """What is told of one evaluation under `version` of the transaction that came in `record`."""
    event, finding, definition = judgement.event, judgement.finding, version.definition
    return {
        "ruleId": version.rule_id,
        "version": version.number,
        "transactionId": event.transaction_id,
        "eventTime": event.event_time,
        "recordTime": record.record_time,
        "partition": record.partition,
        "offset": record.offset,
        "group": dict(finding.group),
        "windowStart": event.event_time - definition.window,
        "windowEnd": event.event_time,
        # Never null here: the window holds the transaction itself, whose amount is there, and counts are numbers.
        "value": plain(reported(finding.value)),
        "contributingCount": len(finding.contributors),
        "limit": plain(definition.limit),
        "limitOperatorType": definition.operator,
        "holds": finding.holds,
        "alerted": judgement.alerted,
        "late": judgement.late,
    }


def comparable(records: Iterable[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """Trace records of any origin without `judgedAt`, in an order of their own.

    What came again after a restart is there once; where it came with another content, both are.
    """
    bare = [{name: value for name, value in record.items() if name != "judgedAt"} for record in records]
    distinct = {json.dumps(record, sort_keys=True): record for record in bare}
    return [distinct[text] for text in sorted(distinct)]
