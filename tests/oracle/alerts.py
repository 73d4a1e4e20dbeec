"""The JSON of an alert, all of alerts.v1 but `detectedAt` (semantics 8)."""

from __future__ import annotations

from tests.oracle.aggregates import reported
from tests.oracle.canonical import alert_id
from tests.oracle.decimals import plain
from tests.oracle.definitions import Definition
from tests.oracle.evaluation import Finding
from tests.oracle.model import Json
from tests.oracle.rule_events import Version
from tests.oracle.transactions import Transaction

_MOST_CONTRIBUTORS = 100


def alert(
    version: Version, event: Transaction, finding: Finding, *, late: Json, warm: bool, partial: bool
) -> dict[str, Json]:
    """The alert that `event` raised under `version`; partial if history gave the event and not a record."""
    definition = version.definition
    return {
        "alertId": alert_id(
            version.rule_id, version.number, finding.group, event.transaction_id, event.event_time
        ),
        "ruleId": version.rule_id,
        "ruleVersion": version.number,
        "ruleName": version.name,
        "definitionHash": version.definition_hash,
        "group": dict(finding.group),
        "transaction": _part(event, definition) if partial else _whole(event),
        "partial": partial,
        "value": plain(reported(finding.value)),
        "operator": definition.operator,
        "limit": plain(definition.limit),
        "windowStart": event.event_time - definition.window,
        "windowEnd": event.event_time,
        "contributors": _contributors(definition, finding.contributors),
        "late": late,
        "warm": warm,
        "mode": "live",
        "eventTime": event.event_time,
        "ingestedAt": None if partial else _ingested_at(event),
    }


def _ingested_at(event: Transaction) -> int:
    return event.record_time if event.ingestion is None else event.ingestion


def _whole(event: Transaction) -> dict[str, Json]:
    return {
        "transactionId": event.transaction_id,
        "eventTime": event.event_time,
        "payeeId": event.keys["payeeId"],
        "beneficiaryId": event.keys["beneficiaryId"],
        "paymentAmount": plain(event.amount),
        "paymentType": event.keys["paymentType"],
        "ingestionTimestamp": event.ingestion,
    }


def _part(event: Transaction, definition: Definition) -> dict[str, Json]:
    """What history keeps for this rule: the id, and the fields it uses."""
    kept = {"transactionId", *definition.uses()}
    return {name: value for name, value in _whole(event).items() if name in kept}


def _contributors(definition: Definition, contributors: list[Transaction]) -> dict[str, Json]:
    # Stable, so turned round it has the last accepted first among equal times.
    newest_first = sorted(contributors, key=lambda other: other.event_time)[::-1]
    count = len(contributors)
    listed: list[Json] = [
        {
            "transactionId": other.transaction_id,
            "eventTime": other.event_time,
            "value": None if definition.field is None else other.keys[definition.field],
        }
        for other in newest_first[:_MOST_CONTRIBUTORS]
    ]
    return {"count": count, "transactions": listed, "truncated": count > _MOST_CONTRIBUTORS}
