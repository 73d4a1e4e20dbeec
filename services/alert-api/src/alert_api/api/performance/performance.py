"""/v1/rule-performance and /v1/rules/…/performance: what rules are worth, by version."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.schemas import rules_of_query
from alert_api.domain.cases.work_events import OUTCOMES
from alert_api.service.alert_counts import Span
from alert_api.service.performance.rule_performance import PerformanceReader, Spread, VersionPerformance
from tripline_http.errors import FieldError, invalid_input
from tripline_http.fields import MAX_MS, QueryInteger
from tripline_http.openapi import ApiBlueprint, new_blueprint

DAY_MS: Final = 86_400_000
MAX_DAYS: Final = 92
USUAL_DAYS: Final = 30
CSV: Final = "text/csv"
MAX_RULE_ID: Final = 2_147_483_647
_CSV_DOC: Final[dict[str, Any]] = {
    "description": "A line for each version, after one with the names of the columns",
    "content": {CSV: {"schema": {"type": "string"}}},
}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_COLUMNS: Final = (
    *("ruleId", "ruleName", "ruleVersion", "alerts"),
    *OUTCOMES,
    *("precision", "precisionLow", "precisionHigh"),
    *(
        "acknowledgedInMedianMs",
        "acknowledgedInP95Ms",
        "resolvedInMedianMs",
        "resolvedInP95Ms",
        "alwaysWrong",
    ),
)


class SpanQuery(ma.Schema):
    """Which time is looked at."""

    earliest = QueryInteger(0, MAX_MS, data_key="from", metadata={"description": "In ms, this one included"})
    latest = QueryInteger(0, MAX_MS, data_key="to", metadata={"description": "In ms, this one included"})


class PerformanceQuery(SpanQuery):
    """Which rules, and which time."""

    rule_id = rules_of_query()


def performance_blueprint(reader: PerformanceReader, clock: Callable[[], int]) -> ApiBlueprint:
    """The views; `clock` gives ms since the epoch."""
    blueprint = new_blueprint("performance", __name__, "What rules are worth")

    @blueprint.route("/v1/rule-performance", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(PerformanceQuery, location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/RulePerformanceList"})
    @blueprint.problems(503)
    @blueprint.doc(operationId="listRulePerformance")
    def list_performance(query: dict[str, Any]) -> Response:
        """What rules are worth, by version

        Alerts by event time, in whole hours; outcomes of the cases that were resolved in the span, each given once to
        every version with an alert in the case. Precision is the share of fraud among what was decided as fraud or as a
        false positive, with its 95 % interval. Without `from` and `to`: the last 30 days. At most 92 days at once.
        """
        span = span_of(query, clock())
        rows = reader.of_versions(span, query["rule_id"])
        return jsonify(
            {"from": span.earliest, "to": span.latest, "items": [version_json(row) for row in rows]}
        )

    @blueprint.route("/v1/rule-performance/export", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(PerformanceQuery, location="query")
    @blueprint.problems(503)
    @blueprint.doc(operationId="exportRulePerformance", responses={"200": _CSV_DOC})
    def export_performance(query: dict[str, Any]) -> Response:
        """The same as CSV, times in ms."""
        text = "".join(_lines(reader.of_versions(span_of(query, clock()), query["rule_id"])))
        response = Response(text, mimetype=CSV)
        response.headers["Content-Disposition"] = 'attachment; filename="rule-performance.csv"'
        return response

    @blueprint.route(f"/v1/rules/<int(min=1, max={MAX_RULE_ID}):rule_id>/performance", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(SpanQuery, location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/RulePerformance"})
    @blueprint.problems(503)
    @blueprint.doc(operationId="getRulePerformance")
    def get_performance(query: dict[str, Any], rule_id: int) -> Response:
        """What one rule is worth, by version, and its alerts by day of UTC; both empty for a rule that never fired."""
        span = span_of(query, clock())
        days = reader.days(span, rule_id)
        return jsonify(
            {
                "from": span.earliest,
                "to": span.latest,
                "items": [version_json(row) for row in reader.of_versions(span, (rule_id,))],
                "days": [
                    {"day": one.day * DAY_MS, "ruleVersion": one.rule_version, "alerts": one.alerts}
                    for one in days
                ],
            }
        )

    return blueprint


def version_json(row: VersionPerformance) -> dict[str, Any]:
    """A version as callers see it."""
    precision = row.precision
    return {
        "ruleId": row.key.rule_id,
        "ruleName": row.rule_name,
        "ruleVersion": row.key.rule_version,
        "alerts": row.alerts,
        "cases": {outcome: row.cases.get(outcome, 0) for outcome in OUTCOMES},
        "precision": None
        if precision is None
        else {"value": precision.value, "low": precision.low, "high": precision.high},
        "acknowledgedIn": _spread_json(row.acknowledged_in),
        "resolvedIn": _spread_json(row.resolved_in),
        "alwaysWrong": row.is_always_wrong,
    }


def _spread_json(spread: Spread | None) -> dict[str, int] | None:
    return None if spread is None else {"median": spread.median, "p95": spread.p95}


def span_of(query: dict[str, Any], now: int) -> Span:
    """A missing bound follows from the other: 30 days back from `to`, or up to now."""
    latest = query.get("latest", max(now, query.get("earliest", 0)))
    span = Span(query.get("earliest", max(0, latest - USUAL_DAYS * DAY_MS + 1)), latest)
    if span.latest < span.earliest:
        raise invalid_input([FieldError("query.to", "expected a time that is not before from")])
    if span.latest - span.earliest >= MAX_DAYS * DAY_MS:
        raise invalid_input([FieldError("query.from", f"expected at most {MAX_DAYS} days before to")])
    return span


def _lines(rows: Sequence[VersionPerformance]) -> Iterator[str]:
    for cells in (_COLUMNS, *map(_cells, rows)):
        line = io.StringIO()
        csv.writer(line).writerow(cells)
        yield line.getvalue()


def _cells(row: VersionPerformance) -> Sequence[Any]:
    precision = row.precision
    shares = ("", "", "") if precision is None else (precision.value, precision.low, precision.high)
    spreads = [
        value
        for spread in (row.acknowledged_in, row.resolved_in)
        for value in (("", "") if spread is None else (spread.median, spread.p95))
    ]
    return (
        *(row.key.rule_id, _harmless(row.rule_name), row.key.rule_version, row.alerts),
        *(row.cases.get(outcome, 0) for outcome in OUTCOMES),
        *shares,
        *spreads,
        "true" if row.is_always_wrong else "false",
    )


def _harmless(text: str) -> str:
    """No formula for the spreadsheet that opens it."""
    return f"'{text}" if text.startswith(_FORMULA) else text
