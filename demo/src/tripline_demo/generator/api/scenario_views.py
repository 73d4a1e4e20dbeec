"""/v1/scenarios and /v1/plays: named frauds, played on request."""

from __future__ import annotations

from typing import Any

import marshmallow as ma

from tripline_demo.generator.api.context import context_of_app
from tripline_demo.generator.errors import FraudNotFound, TooManyPlays
from tripline_demo.generator.plays import Report
from tripline_demo.generator.trade import Trade
from tripline_http.errors import ProblemError
from tripline_http.openapi import ApiBlueprint, new_blueprint


class ScenarioSchema(ma.Schema):
    """A fraud that can be played; `_with_names` adds which there are."""

    title = ma.fields.String(required=True)
    description = ma.fields.String(required=True)
    transactions = ma.fields.Integer(required=True)
    seconds = ma.fields.Integer(required=True)


class PlaySchema(ma.Schema):
    """A play as it stands; `_with_names` adds who plays what."""

    playId = ma.fields.String(required=True)  # noqa: N815
    state = ma.fields.String(
        required=True, validate=ma.validate.OneOf(["running", "finished", "stopped", "failed"])
    )
    transactions = ma.fields.Integer(required=True)
    seconds = ma.fields.Integer(required=True)
    sent = ma.fields.Integer(required=True)


def _with_names(base: type[ma.Schema], trade: Trade, cast: tuple[str, ...] = ()) -> type[ma.Schema]:
    """The schema with the names of this trade's frauds, and the fields of those who play."""
    names = [fraud.name for fraud in trade.frauds]
    check = ma.validate.OneOf(names) if names else None
    fields: dict[str, Any] = {"name": ma.fields.String(required=True, validate=check)}
    for member in cast:
        fields[member] = ma.fields.String(
            required=True, allow_none=True, metadata={"description": "null: many"}
        )
    return base.from_dict(fields, name=base.__name__)


def _list_of(schema: type[ma.Schema], name: str) -> type[ma.Schema]:
    fields: dict[str, Any] = {"items": ma.fields.List(ma.fields.Nested(schema), required=True)}
    return ma.Schema.from_dict(fields, name=name)


def new_scenario_blueprint(trade: Trade) -> ApiBlueprint:
    """The views, on a blueprint of their own."""
    blueprint = new_blueprint("scenarios", __name__, "Named frauds, played on request")
    play = _with_names(PlaySchema, trade, trade.cast)
    _add_readings(blueprint, trade, play)
    _add_playing(blueprint, play)
    return blueprint


def _add_readings(blueprint: ApiBlueprint, trade: Trade, play: type[ma.Schema]) -> None:
    scenario = _with_names(ScenarioSchema, trade)

    @blueprint.route("/v1/scenarios", methods=["GET"])
    @blueprint.requires("traffic:read")
    @blueprint.response(200, _list_of(scenario, "ScenarioListSchema"))
    @blueprint.doc(operationId="listScenarios", summary="What can be played")
    def get_scenarios() -> dict[str, Any]:
        names = ("name", "title", "description", "transactions", "seconds")
        return {"items": [{name: getattr(fraud, name) for name in names} for fraud in trade.frauds]}

    @blueprint.route("/v1/plays", methods=["GET"])
    @blueprint.requires("traffic:read")
    @blueprint.response(200, _list_of(play, "PlayListSchema"))
    @blueprint.doc(operationId="listPlays", summary="What was played, and how far it is")
    def get_plays() -> dict[str, Any]:
        return {"items": [_shown(report) for report in context_of_app().plays.reports()]}


def _add_playing(blueprint: ApiBlueprint, play: type[ma.Schema]) -> None:
    @blueprint.route("/v1/scenarios/<name>/plays", methods=["POST"])
    @blueprint.requires("traffic:write")
    @blueprint.response(202, play)
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
    return {
        "playId": report.play_id,
        "name": report.fraud.name,
        "state": report.state,
        "transactions": report.fraud.transactions,
        "seconds": report.fraud.seconds,
        "sent": report.sent,
        **report.cast,
    }
