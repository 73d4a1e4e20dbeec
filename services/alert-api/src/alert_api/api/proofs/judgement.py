"""/v1/transactions/…/judgement: what each rule made of a transaction, and why there was no alert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.proofs.verification import connected
from alert_api.service.proofs import Prover
from alert_api.service.snoozes.snooze_queries import SnoozeReader
from tripline_http.errors import ProblemError
from tripline_http.fields import MAX_MS, QueryInteger
from tripline_http.openapi import ApiBlueprint, new_blueprint

PATH: Final = "/v1/transactions/<string(minlength=1, maxlength=64):transaction_id>/judgement"


class JudgementQuery(ma.Schema):
    """What makes the search shorter."""

    event_time = QueryInteger(
        0,
        MAX_MS,
        data_key="eventTime",
        metadata={
            "description": "The transaction's event time in ms: all that is older is not searched. Of several with"
            " one id it says which; without it the first one counts"
        },
    )


def judgement_blueprint(prover: Prover | None, snoozes: SnoozeReader) -> ApiBlueprint:
    """The view; without a prover it says what to do."""
    blueprint = new_blueprint("judgement", __name__, "Why a rule did not alert, or did")

    @blueprint.route(PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(JudgementQuery, location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/Judgement"})
    @blueprint.problems(400, 404, 409, 422, 503)
    @blueprint.doc(operationId="judgeTransaction")
    def judge_transaction(query: dict[str, Any], transaction_id: str) -> Response:
        """Why a rule did not alert for a transaction, or did: every rule that was there at its place in the order

        Found in topic and archive, of any age, and judged again over what had been accepted until then.
        """
        if not transaction_id.isprintable():
            raise ProblemError(404, None, "There is no such transaction.")
        judgement = connected(prover).judge(transaction_id, query.get("event_time"))
        return jsonify({**judgement, "rules": with_snoozes(judgement["rules"], snoozes)})

    return blueprint


def with_snoozes(rules: Sequence[Mapping[str, Any]], snoozes: SnoozeReader) -> list[dict[str, Any]]:
    """What each rule made of it; where its alert is snoozed, that is why nobody saw one."""
    covering = snoozes.covering([rule["alertId"] for rule in rules if rule["alertId"] is not None])
    return [
        {
            **rule,
            "reason": "snoozed" if rule["alertId"] in covering else rule["reason"],
            "snoozeId": covering.get(rule["alertId"]),
        }
        for rule in rules
    ]
