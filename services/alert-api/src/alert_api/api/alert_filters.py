"""The filters of the alert list: the query, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import marshmallow as ma

from alert_api.api.schemas import MAX_ACTOR, STANDINGS, STATES, TRUTHS, group_pattern, rules_of_query
from alert_api.domain.cases.severity import SEVERITIES
from alert_api.domain.cases.work_events import OUTCOMES
from alert_api.service.alert_queries import AlertFilter
from tripline_contracts.event_type import EventType
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import DECIMAL_PATTERN, MAX_MS, MAX_POSITION, QueryInteger, Text


class AlertFilterQuery(ma.Schema):
    """Filters of alerts; `of_type` adds what the event type decides."""

    rule_id = rules_of_query()
    rule_version = QueryInteger(1, MAX_POSITION, data_key="ruleVersion")
    transaction_id = Text(
        1, 64, data_key="transactionId", metadata={"description": "Of what triggered the alert"}
    )
    state = ma.fields.String(validate=ma.validate.OneOf(STATES))
    voided = ma.fields.String(
        validate=ma.validate.OneOf(list(TRUTHS)),
        metadata={
            "description": "Whether the alert rests on a transaction that was voided, as far as it lists them"
        },
    )
    snooze_id = QueryInteger(
        1, MAX_POSITION, data_key="snoozeId", metadata={"description": "Only those that this snooze covers"}
    )
    snoozed = ma.fields.String(
        validate=ma.validate.OneOf(list(TRUTHS)),
        metadata={"description": "Whether a snooze covers the alert"},
    )
    earliest = QueryInteger(
        0, MAX_MS, data_key="from", metadata={"description": "Event time in ms, this one included"}
    )
    latest = QueryInteger(
        0, MAX_MS, data_key="to", metadata={"description": "Event time in ms, this one included"}
    )
    detected_from = QueryInteger(
        0, MAX_MS, data_key="detectedFrom", metadata={"description": "Detection in ms, this one included"}
    )
    detected_to = QueryInteger(
        0, MAX_MS, data_key="detectedTo", metadata={"description": "Detection in ms, this one included"}
    )
    severity = ma.fields.String(
        validate=ma.validate.OneOf(SEVERITIES),
        metadata={"description": "Of the rule, as the registry has it now"},
    )
    case_state = ma.fields.String(
        data_key="caseState",
        validate=ma.validate.OneOf(STANDINGS),
        metadata={"description": "Of the alert's case; unresolved: any but resolved"},
    )
    outcome = ma.fields.String(
        validate=ma.validate.OneOf(OUTCOMES), metadata={"description": "Of the alert's case"}
    )
    assignee = Text(1, MAX_ACTOR, metadata={"description": "Of the alert's case"})


class AlertQuery(AlertFilterQuery):
    """Filters and page of the alert list."""

    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


def of_type(query: type[AlertFilterQuery], declared: EventType) -> type[ma.Schema]:
    """The query with `group` for the fields of this type and bounds of its first measure."""
    group = ma.fields.List(
        Text(3, 200, pattern=group_pattern(declared)),
        validate=ma.validate.Length(max=8),
        load_default=list,
        metadata={
            "description": "field:value as in the alert's group; repeat it to ask for several fields at once",
            "example": [f"{declared.anchors[0]}:25"],
        },
    )
    amounts = {
        name: Text(
            1,
            26,
            pattern=DECIMAL_PATTERN,
            data_key=key,
            metadata={
                "description": f"{declared.measures[0]} of what triggered the alert, this one included",
                "example": "1000.01",
            },
        )
        for name, key in (("min_amount", "minAmount"), ("max_amount", "maxAmount"))
        if declared.measures
    }
    return query.from_dict({"group": group, **amounts}, name=query.__name__)


def alert_filter(query: Mapping[str, Any], event_type: EventType) -> AlertFilter:
    """The filter that a query is."""
    pairs = (entry.partition(":") for entry in query["group"])
    return AlertFilter(
        rule_ids=tuple(sorted(set(query["rule_id"]))),
        rule_version=query.get("rule_version"),
        group=tuple((event_type.find_grouping(name) or name, value) for name, _, value in pairs),
        transaction_id=query.get("transaction_id"),
        state=query.get("state"),
        earliest=query.get("earliest"),
        latest=query.get("latest"),
        voided=TRUTHS[query["voided"]] if "voided" in query else None,
        snooze_id=query.get("snooze_id"),
        snoozed=TRUTHS[query["snoozed"]] if "snoozed" in query else None,
        severity=query.get("severity"),
        min_amount=_decimal(query.get("min_amount")),
        max_amount=_decimal(query.get("max_amount")),
        detected_from=query.get("detected_from"),
        detected_to=query.get("detected_to"),
        case_state=query.get("case_state"),
        outcome=query.get("outcome"),
        assignee=query.get("assignee"),
    )


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
