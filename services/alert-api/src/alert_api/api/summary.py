"""/v1/alerts/summary: how many alerts, by rule, state and hour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from flask import Response, jsonify

from alert_api.api.alert_filters import AlertFilterQuery, alert_filter, of_type
from alert_api.service.alert_counts import HOUR_MS, AlertCounter, Counted, Span, Tally, last_day
from tripline_contracts.event_type import EventType
from tripline_http.errors import FieldError, invalid_input
from tripline_http.openapi import ApiBlueprint, new_blueprint

MAX_DAYS: Final = 31


def summary_blueprint(counter: AlertCounter, clock: Callable[[], int], event_type: EventType) -> ApiBlueprint:
    """The view; `clock` gives ms since the epoch."""
    blueprint = new_blueprint("summary", __name__, "How many alerts")

    @blueprint.route("/v1/alerts/summary", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(of_type(AlertFilterQuery, event_type), location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/AlertSummary"})
    @blueprint.problems(503)
    @blueprint.doc(operationId="summarizeAlerts")
    def summarize(query: dict[str, Any]) -> Response:
        """Count alerts by rule, state and hour

        By event time, in hours of UTC; rules and hours without alerts are left out. Without `from` and `to`: the
        current hour and the 23 before it. At most 31 days at once. All filters of the list hold. Rule, version,
        severity and state are counted already; by any other, alerts are counted one by one from the newest on, a few
        thousand at most: then `countedFrom` is later than `from`.
        """
        span = _span(query, clock())
        asked = replace(alert_filter(query, event_type), earliest=span.earliest, latest=span.latest)
        return jsonify(summary_json(span, counter.count(asked)))

    return blueprint


def _span(query: dict[str, Any], now: int) -> Span:
    """The span of the query; a missing bound follows from the other: a day back from `to`, or up to now."""
    if "latest" in query and "earliest" not in query:
        latest = query["latest"]
        span = Span(max(0, latest - 24 * HOUR_MS + 1), latest)
    else:
        default = last_day(now)
        span = Span(
            query.get("earliest", default.earliest),
            query.get("latest", max(default.latest, query.get("earliest", 0))),
        )
    if span.latest < span.earliest:
        raise invalid_input([FieldError("query.to", "expected a time that is not before from")])
    if span.latest - span.earliest >= MAX_DAYS * 24 * HOUR_MS:
        raise invalid_input([FieldError("query.from", f"expected at most {MAX_DAYS} days before to")])
    return span


def summary_json(span: Span, counted: Counted) -> dict[str, Any]:
    """The counts as callers see them."""
    return {
        "from": span.earliest,
        "to": span.latest,
        "countedFrom": span.earliest if counted.since is None else counted.since,
        "byState": _tally_json(counted.total),
        "byRule": [
            {"ruleId": rule, "ruleName": counted.names.get(rule, ""), **_tally_json(tally)}
            for rule, tally in counted.by_rule.items()
        ],
        "byHour": [{"hour": hour * HOUR_MS, **_tally_json(tally)} for hour, tally in counted.by_hour.items()],
    }


def _tally_json(tally: Tally) -> dict[str, int]:
    return {"open": tally.open, "acknowledged": tally.acknowledged}
