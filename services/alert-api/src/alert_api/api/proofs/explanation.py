"""/v1/alerts/…/explanation and …/contributors: why there is an alert, from what was judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast, get_args
from uuid import UUID

import marshmallow as ma
from flask import Response, jsonify

from alert_api.adapters.upstream import Question, Upstream
from alert_api.api.alerts import ID_PATH
from alert_api.api.proofs.proof_schemas import LIMIT_MEASURE
from alert_api.api.proofs.verification import connected
from alert_api.domain.events import AlertId
from alert_api.errors import UpstreamUnavailable
from alert_api.service.alert_queries import AlertReader
from alert_api.service.explanation_words import ExplanationWords
from alert_api.service.proofs import Of, Prover
from alert_api.service.rule_then import Ask, rule_then
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_credential
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.fields import QueryInteger, Text
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint, new_blueprint

LISTING: Final = "contributors"
MAX_CONDITION: Final = 99


class ContributorQuery(ma.Schema):
    """Which condition's, whether of its value or of its limit, and which page."""

    condition = QueryInteger(
        0,
        MAX_CONDITION,
        load_default=0,
        metadata={"description": "Its place in the rule, from 0; of a rule without conditions 0"},
    )
    of = ma.fields.String(
        load_default="value",
        validate=ma.validate.OneOf(get_args(Of)),
        metadata={
            "description": "limit: what the measure behind a relative limit came from; 404 of any other"
        },
    )
    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


def explanation_blueprint(
    alerts: AlertReader, prover: Prover | None, registry: Upstream, event_type: EventType
) -> ApiBlueprint:
    """The views. Of the registry the caller's own key asks."""
    blueprint = new_blueprint("explanation", __name__, "Why there is an alert")
    _add_explanation(blueprint, alerts, prover, registry, event_type)
    _add_contributors(blueprint, alerts, prover)
    return blueprint


def _add_explanation(
    blueprint: ApiBlueprint,
    alerts: AlertReader,
    prover: Prover | None,
    registry: Upstream,
    event_type: EventType,
) -> None:
    words = ExplanationWords(event_type)

    @blueprint.route(f"{ID_PATH}/explanation", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, {"$ref": "#/components/schemas/Explanation"})
    @blueprint.problems(404, 409, 422, 503)
    @blueprint.doc(operationId="explainAlert")
    def explain_alert(alert_id: UUID) -> Response:
        """Why there is an alert: conditions, rule as it was then, what has changed since, in one sentence

        Derived again from what was judged, as a verification is; `outcome` says whether the alert is that. Of each
        condition, and of the measure behind its limit, the newest contributors are here, and all of them at
        `…/contributors`. `rule` comes from the rules
        registry, as far as the caller may read it.
        """
        content = alerts.get(AlertId(str(alert_id))).content
        proof = connected(prover).verify(content)
        alert = proof["derived"] or content
        rule = rule_then(alert["ruleId"], alert["ruleVersion"], asking(registry))
        return jsonify(
            alertId=str(alert_id),
            sentence=words.sentence(alert, rule["definition"]),
            outcome=proof["outcome"],
            conditions=[_condition(one, rule["definition"]) for one in alert.get("conditions") or [alert]],
            weighted=alert.get("weighted"),
            rule={"ruleId": alert["ruleId"], "version": alert["ruleVersion"], **rule},
        )


def _add_contributors(blueprint: ApiBlueprint, alerts: AlertReader, prover: Prover | None) -> None:
    @blueprint.route(f"{ID_PATH}/contributors", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(ContributorQuery, location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/ContributorPage"}, headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 409, 422, 503)
    @blueprint.doc(operationId="listAlertContributors")
    def list_contributors(query: dict[str, Any], alert_id: UUID) -> Response:
        """All transactions that a value or a limit came from, newest first, each with its place in the log

        Each is whole. Up to 100,000 of a condition. Of a rule in buckets those that were still kept one by one when it
        judged.
        """
        context = {"alert": str(alert_id), "condition": query["condition"], "of": query["of"]}
        after = 0
        if "cursor" in query:
            (after,) = cast("tuple[int]", decode_cursor(query["cursor"], LISTING, context, (int,)))
        content = alerts.get(AlertId(str(alert_id))).content
        page = connected(prover).window(content, query["condition"], query["of"], after, query["limit"])
        response = jsonify(count=page["count"], listed=page["listed"], items=page["items"])
        if page["next"] is not None:
            response.headers.update(next_link(encode_cursor(LISTING, context, (page["next"],))))
        return response


def _condition(measured: Mapping[str, Any], definition: Mapping[str, Any] | None) -> dict[str, Any]:
    """A condition of the alert; of a rule without conditions the alert itself, with what its definition says."""
    known = definition or {}
    return {
        "groupingKeyNames": measured.get("groupingKeyNames", sorted(measured["group"])),
        "aggregatorFunctionType": measured.get("aggregatorFunctionType", known.get("aggregatorFunctionType")),
        "aggregateFieldName": measured.get("aggregateFieldName", known.get("aggregateFieldName")),
        "value": measured["value"],
        "operator": measured["operator"],
        "limit": measured["limit"],
        "holds": measured.get("holds", True),
        "windowStart": measured["windowStart"],
        "windowEnd": measured["windowEnd"],
        "precision": measured.get("precision"),
        "contributors": measured["contributors"],
        "limitMeasure": _behind(measured.get("limitMeasure")),
    }


def _behind(measure: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a relative limit was made of; None of one that is a number."""
    if measure is None:
        return None
    return {name: measure.get(name) for name in LIMIT_MEASURE}


def asking(registry: Upstream) -> Ask:
    """Asks the registry with the key of the request that is answered now."""
    headers = {"Authorization": f"Bearer {current_credential()}"}

    def ask(path: str, query: Mapping[str, str]) -> tuple[int, Any]:
        answer = registry.ask(Question("GET", path, tuple(query.items()), headers))
        try:
            return answer.status, json.loads(answer.body)
        except ValueError as error:
            raise UpstreamUnavailable("The rules registry", "answers what is no JSON") from error

    return ask
