"""/v1/transactions/…/judgement: what each rule made of a transaction, and why there was no alert."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.proofs.verification import connected
from alert_api.service.proofs import Prover
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


def judgement_blueprint(prover: Prover | None) -> ApiBlueprint:
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
        return jsonify(connected(prover).judge(transaction_id, query.get("event_time")))

    return blueprint
