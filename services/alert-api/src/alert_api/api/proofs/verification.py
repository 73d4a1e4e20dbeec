"""/v1/alerts/…/verification: an alert derived again from what was judged, and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask import Response, jsonify

from alert_api.api.alerts import ID_PATH, IDEMPOTENCY_DOC, Alerts
from alert_api.domain.events import AlertId
from alert_api.errors import ProverUnavailable
from alert_api.service.proofs import Prover
from alert_api.service.verifications import KeptVerification
from tripline_http.auth import current_actor
from tripline_http.openapi import ApiBlueprint, new_blueprint

MOST_LISTED = 100
NOT_SET = "TRIPLINE_PROVER_URL is not set: run `tripline-engine prover`, and give its address and key"


def verification_blueprint(alerts: Alerts, prover: Prover | None, clock: Callable[[], int]) -> ApiBlueprint:
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
        The outcome is kept, with who asked.
        """
        alert = alerts.get(AlertId(str(alert_id)))
        outcome = connected(prover).verify(alert.content)
        kept = KeptVerification(
            outcome=outcome["outcome"],
            differences=outcome["differences"],
            engine=outcome["engine"],
            evaluator=outcome.get("evaluator"),
            verified_at=clock(),
            actor=current_actor(),
        )
        alerts.keep_verification(alert.alert_id, kept)
        return jsonify(**{**outcome, **kept_json(alert.alert_id, kept)})

    _add_listing(blueprint, alerts)
    return blueprint


def _add_listing(blueprint: ApiBlueprint, alerts: Alerts) -> None:
    @blueprint.route(f"{ID_PATH}/verifications", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, {"$ref": "#/components/schemas/Verifications"})
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="listAlertVerifications")
    def list_verifications(alert_id: UUID) -> Response:
        """What came of verifications of an alert, the newest first, a hundred at most."""
        alert = alerts.get(AlertId(str(alert_id)))
        kept = alerts.verifications_of(alert.alert_id, MOST_LISTED)
        return jsonify(items=[kept_json(alert.alert_id, one) for one in kept])


def kept_json(alert_id: AlertId, kept: KeptVerification) -> dict[str, Any]:
    """An outcome as callers see it."""
    return {
        "alertId": alert_id,
        "verifiedAt": kept.verified_at,
        "verifiedBy": kept.actor,
        "outcome": kept.outcome,
        "differences": list(kept.differences),
        "engine": kept.engine,
        "evaluator": kept.evaluator,
    }


def connected(prover: Prover | None) -> Prover:
    """The prover. Raises ProverUnavailable."""
    if prover is None:
        raise ProverUnavailable(NOT_SET)
    return prover
