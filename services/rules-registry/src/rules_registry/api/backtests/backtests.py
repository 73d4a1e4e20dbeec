"""/v1/backtests: ask for one, list, read, cancel, read its alerts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.backtests.backtest_body import BODY_SCHEMA, read_backtest_body
from rules_registry.api.backtests.backtest_json import backtest_json
from rules_registry.api.backtests.backtest_schemas import (
    BacktestAlertPageSchema,
    BacktestAlertQuery,
    BacktestPageSchema,
    BacktestQuery,
    BacktestSchema,
)
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable, response_of
from rules_registry.api.pages import begin_after, filters_of, link_after
from rules_registry.api.services import backtest_queries, backtests, installed_type, queries
from rules_registry.domain.backtests.backtest import Backtest
from rules_registry.domain.backtests.errors import UnfitSpan
from rules_registry.errors import UnknownNames
from rules_registry.service.ports import Answer
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("backtests", __name__, "Rules tried over recorded history")

BACKTESTS = "/v1/backtests"
BACKTEST = f"{BACKTESTS}/<int(min=1, max=2147483647):backtest_id>"
LOCATION_DOC = {"Location": {"description": "Address of the backtest", "schema": {"type": "string"}}}


@blueprint.route(BACKTESTS, methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.json_body(BODY_SCHEMA)
@takes_reason
@blueprint.response(202, BacktestSchema, headers=LOCATION_DOC)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="requestBacktest")
def ask(body: dict[str, Any]) -> Response:
    """Try rules over recorded history

    A draft, published versions, or all active rules: the answer is the alerts that the engine would have given, had
    they been in force over the span of event times. Late transactions, duplicates, voids, lists and parameters count
    from when they counted; with `knowledge: today` as if all that is known today had been known from the beginning. One
    backtest runs at a time, others wait; read it to see how far it is.
    """
    asked = read_backtest_body(body, installed_type(), _version_of)
    try:
        return response_of(backtests().ask(actor_of_request(), asked, _accepted, repeatable(body)))
    except UnfitSpan as error:
        raise invalid_input([FieldError("to", str(error))]) from error
    except UnknownNames as error:
        fields = [FieldError(f"rule.{problem.field}", problem.message) for problem in error.problems]
        raise ProblemError(422, "unknown-name", str(error), errors=fields) from error


@blueprint.route(BACKTESTS, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(BacktestQuery, location="query")
@blueprint.response(200, BacktestPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listBacktests")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List backtests, newest first, without their results"""
    filters = filters_of(query)
    page, next_after = backtest_queries().page(
        query["state"], query["ruleId"], begin_after("backtests", filters, query["cursor"]), query["limit"]
    )
    return {"items": [backtest_json(one) for one in page]}, link_after("backtests", filters, next_after)


@blueprint.route(BACKTEST, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, BacktestSchema)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getBacktest")
def get(backtest_id: int) -> dict[str, Any]:
    """Read a backtest: how far it is, or what came of it"""
    return backtest_json(backtest_queries().get(backtest_id))


@blueprint.route(f"{BACKTEST}/cancel", methods=["POST"])
@blueprint.requires("rules:write")
@takes_reason
@blueprint.response(200, BacktestSchema)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="cancelBacktest")
def cancel(backtest_id: int) -> dict[str, Any]:
    """Cancel a backtest

    One that waits is cancelled at once; one that runs is `cancelling` until its process has ended, a second later.
    """
    return backtest_json(backtests().cancel(actor_of_request(), backtest_id))


@blueprint.route(f"{BACKTEST}/alerts", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(BacktestAlertQuery, location="query")
@blueprint.response(200, BacktestAlertPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 404, 503)
@blueprint.doc(operationId="listBacktestAlerts")
def alerts(query: Mapping[str, Any], backtest_id: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the alerts of a backtest in the order in which they were given

    Of very many the first ones: `keptAlerts` of the result says how many.
    """
    name = f"alerts of backtest {backtest_id}"
    after = begin_after(name, {}, query["cursor"])
    items, next_after = backtest_queries().alerts(backtest_id, after, query["limit"])
    return {"items": list(items)}, link_after(name, {}, next_after)


def _accepted(backtest: Backtest) -> Answer:
    return Answer(202, {"Location": f"{BACKTESTS}/{backtest.backtest_id}"}, backtest_json(backtest))


def _version_of(rule_id: int, version: int | None) -> tuple[int, Mapping[str, Any]]:
    if version is None:
        row = queries().rule(rule_id)
        return row["version"], row
    return version, queries().version(rule_id, version)["body"]
