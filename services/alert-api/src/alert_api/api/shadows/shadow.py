"""/v1/rules/…/shadow: what a shadow gave beside its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Response, jsonify

from alert_api.api.performance.performance import MAX_RULE_ID, SpanQuery, span_of
from alert_api.api.schemas import object_of
from alert_api.api.shadows.arms import arms_json, arms_schema
from alert_api.service.alert_counts import HOUR_MS
from alert_api.service.shadows.shadow_comparison import Alerted, ShadowReader
from tripline_http.fields import MAX_ID, QueryInteger
from tripline_http.openapi import ApiBlueprint, new_blueprint

_COUNTS: Final = ("both", "onlyActive", "onlyShadow")


class ShadowQuery(SpanQuery):
    """Which shadow, and which time."""

    version = QueryInteger(
        1, MAX_ID, required=True, metadata={"description": "That with which it was started"}
    )


def shadow_blueprint(reader: ShadowReader, clock: Callable[[], int]) -> ApiBlueprint:
    """The view; `clock` gives ms since the epoch."""
    blueprint = new_blueprint("shadows", __name__, "Shadows beside their rules")

    @blueprint.route(f"/v1/rules/<int(min=1, max={MAX_RULE_ID}):rule_id>/shadow", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(ShadowQuery, location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/ShadowComparison"})
    @blueprint.problems(503)
    @blueprint.doc(operationId="getShadow")
    def get_shadow(query: dict[str, Any], rule_id: int) -> Response:
        """What a shadow and its rule gave, by hour

        Transactions that both alerted about, only the rule (any other version of it), or only the shadow, by event
        time. A shadow judges nothing from before its start: give that as `from`. Once it is rolled out, `arms` has what
        counted of each version: of the one on trial in its share of groups, of the active one in the others. Without
        `from` and `to`: the last 30 days. At most 92 days at once.
        """
        span = span_of(query, clock())
        compared = reader.compare(rule_id, query["version"], span)
        hours = [
            {"hour": hour * HOUR_MS, **dict(zip(_COUNTS, counts, strict=True))}
            for hour, *counts in compared.hours
        ]
        totals = {name: sum(hour[name] for hour in hours) for name in _COUNTS}
        return jsonify(
            {
                "ruleId": rule_id,
                "version": query["version"],
                "from": span.earliest,
                "to": span.latest,
                **totals,
                "hours": hours,
                "newestOnlyActive": _alerted(compared.newest_only_active),
                "newestOnlyShadow": _alerted(compared.newest_only_shadow),
                "arms": arms_json(compared.arms),
            }
        )

    return blueprint


def shadow_schemas() -> dict[str, dict[str, Any]]:
    """Components of the document, by name."""
    count: dict[str, Any] = {"type": "integer", "minimum": 0}
    time = {**count, "description": "In ms since the epoch"}
    counts = dict.fromkeys(_COUNTS, count)
    alerted = {"type": "array", "items": object_of({"transactionId": {"type": "string"}, "eventTime": time})}
    hours = {"type": "array", "items": object_of({"hour": time, **counts})}
    number = {"type": "integer", "minimum": 1}
    newest = {"newestOnlyActive": alerted, "newestOnlyShadow": alerted, "arms": arms_schema()}
    span = {"ruleId": number, "version": number, "from": time, "to": time}
    return {"ShadowComparison": object_of({**span, **counts, "hours": hours, **newest})}


def _alerted(rows: Iterable[Alerted]) -> list[dict[str, Any]]:
    return [{"transactionId": row.transaction_id, "eventTime": row.event_time} for row in rows]
