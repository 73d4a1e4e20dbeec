"""/v1/scenarios and /v1/plays: named frauds, played on request."""

from __future__ import annotations

from typing import Any

import marshmallow as ma

from tripline_demo.generator.api.context import context_of_app
from tripline_demo.generator.errors import FraudNotFound, TooManyPlays
from tripline_demo.generator.frauds import FRAUDS
from tripline_demo.generator.plays import Report
from tripline_http.errors import ProblemError
from tripline_http.openapi import ApiBlueprint, new_blueprint

NAMES = tuple(fraud.name for fraud in FRAUDS)


class ScenarioSchema(ma.Schema):
    """A fraud that can be played."""

    name = ma.fields.String(required=True, validate=ma.validate.OneOf(NAMES))
    title = ma.fields.String(required=True)
    description = ma.fields.String(required=True)
    payments = ma.fields.Integer(required=True)
    seconds = ma.fields.Integer(required=True)


class ScenarioListSchema(ma.Schema):
    """All of them."""

    items = ma.fields.List(ma.fields.Nested(ScenarioSchema), required=True)


class PlaySchema(ma.Schema):
    """A play as it stands."""

    playId = ma.fields.String(required=True)  # noqa: N815
    name = ma.fields.String(required=True, validate=ma.validate.OneOf(NAMES))
    state = ma.fields.String(
        required=True, validate=ma.validate.OneOf(["running", "finished", "stopped", "failed"])
    )
    payments = ma.fields.Integer(required=True)
    seconds = ma.fields.Integer(required=True)
    sent = ma.fields.Integer(required=True)
    payeeId = ma.fields.String(  # noqa: N815
        required=True, allow_none=True, metadata={"description": "null: many"}
    )
    beneficiaryId = ma.fields.String(  # noqa: N815
        required=True, allow_none=True, metadata={"description": "null: many"}
    )


class PlayListSchema(ma.Schema):
    """The last plays, newest first."""

    items = ma.fields.List(ma.fields.Nested(PlaySchema), required=True)


def new_scenario_blueprint() -> ApiBlueprint:
    """The views, on a blueprint of their own."""
    blueprint = new_blueprint("scenarios", __name__, "Named frauds, played on request")
    _add_readings(blueprint)
    _add_playing(blueprint)
    return blueprint


def _add_readings(blueprint: ApiBlueprint) -> None:
    @blueprint.route("/v1/scenarios", methods=["GET"])
    @blueprint.response(200, ScenarioListSchema)
    @blueprint.doc(operationId="listScenarios", summary="What can be played")
    def get_scenarios() -> dict[str, Any]:
        names = ("name", "title", "description", "payments", "seconds")
        return {"items": [{name: getattr(fraud, name) for name in names} for fraud in FRAUDS]}

    @blueprint.route("/v1/plays", methods=["GET"])
    @blueprint.response(200, PlayListSchema)
    @blueprint.doc(operationId="listPlays", summary="What was played, and how far it is")
    def get_plays() -> dict[str, Any]:
        return {"items": [_shown(report) for report in context_of_app().plays.reports()]}


def _add_playing(blueprint: ApiBlueprint) -> None:
    @blueprint.route("/v1/scenarios/<name>/plays", methods=["POST"])
    @blueprint.response(202, PlaySchema)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="playScenario", summary="Play a fraud once, beside the stream")
    def post_play(name: str) -> dict[str, Any]:
        try:
            return _shown(context_of_app().plays.start(name))
        except FraudNotFound as error:
            raise ProblemError(404, "scenario-not-found", f"{error}.") from error
        except TooManyPlays as error:
            raise ProblemError(503, "too-many-plays", f"{error}.", headers={"Retry-After": "5"}) from error


def _shown(report: Report) -> dict[str, Any]:
    payee, beneficiary = report.cast.payee, report.cast.beneficiary
    return {
        "playId": report.play_id,
        "name": report.fraud.name,
        "state": report.state,
        "payments": report.fraud.payments,
        "seconds": report.fraud.seconds,
        "sent": report.sent,
        "payeeId": None if payee is None else str(payee),
        "beneficiaryId": None if beneficiary is None else str(beneficiary),
    }
