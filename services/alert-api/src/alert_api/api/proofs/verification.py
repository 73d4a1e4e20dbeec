"""/v1/alerts/…/verification: an alert derived again from what was judged, and compared."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from flask import Response, jsonify

from alert_api.api.alerts import ID_PATH, IDEMPOTENCY_DOC
from alert_api.domain.events import AlertId
from alert_api.errors import ProverUnavailable
from alert_api.service.alert_queries import AlertReader
from alert_api.service.proofs import Prover
from tripline_http.openapi import ApiBlueprint, new_blueprint

NOT_SET = "TRIPLINE_PROVER_URL is not set: run `tripline-engine prover`, and give its address and key"


def verification_blueprint(
    alerts: AlertReader, prover: Prover | None, clock: Callable[[], int]
) -> ApiBlueprint:
    """The view; `clock` gives ms since the epoch. Without a prover it says what to do."""
    blueprint = new_blueprint("verification", __name__, "Whether an alert is what was judged")

    @blueprint.route(f"{ID_PATH}/verification", methods=["POST"])
    @blueprint.requires("alerts:read")
    @blueprint.parameter(IDEMPOTENCY_DOC)
    @blueprint.response(200, {"$ref": "#/components/schemas/Verification"})
    @blueprint.problems(404, 409, 422, 503)
    @blueprint.doc(operationId="verifyAlert")
    def verify_alert(alert_id: UUID) -> Response:
        """Derive an alert again from topic and archive, and compare

        In the recorded order, by the version that judged, with voids, lists and parameters as they stood then; never
        from the alert's own list. 409: the history that it takes is not there; 422: it takes more than one proof may.
        """
        alert = alerts.get(AlertId(str(alert_id)))
        outcome = connected(prover).verify(alert.content)
        return jsonify(alertId=str(alert_id), verifiedAt=clock(), **outcome)

    return blueprint


def connected(prover: Prover | None) -> Prover:
    """The prover. Raises ProverUnavailable."""
    if prover is None:
        raise ProverUnavailable(NOT_SET)
    return prover
