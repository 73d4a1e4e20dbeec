"""The Flask app of the generator."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Flask
from prometheus_client import CollectorRegistry

from tripline_contracts.event_type import EventType
from tripline_demo.generator.api.context import Context, install_context
from tripline_demo.generator.api.replay_views import new_replay_blueprint
from tripline_demo.generator.api.scenario_views import new_scenario_blueprint
from tripline_demo.generator.api.schemas import traffic_change, transaction_schema
from tripline_demo.generator.api.traffic_views import new_traffic_blueprint
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.trades import trade_of
from tripline_http.application import Access, new_app
from tripline_http.guards.own_origin import install_own_origin
from tripline_http.health import ReadinessCheck
from tripline_http.openapi import Api, install_api, openapi_text


def new_generator_app(
    context: Context,
    access: Access,
    registry: CollectorRegistry,
    checks: Mapping[str, ReadinessCheck],
) -> Flask:
    """The app that serves the API."""
    app = new_app("tripline-generator", access=access, registry=registry, checks=checks)
    install_own_origin(app)
    install_context(app, context)
    _add_api(app, context.trade)
    return app


def description(event_type: EventType) -> str:
    """The OpenAPI document, as committed in contracts/openapi/generator.json."""
    app = new_app("tripline-generator", access=Access(), registry=CollectorRegistry(), checks={})
    return openapi_text(_add_api(app, trade_of(event_type)))


def _add_api(app: Flask, trade: Trade) -> Api:
    event_type = trade.event_type
    api = install_api(
        app,
        title="Tripline traffic generator",
        version="1",
        description=f"{event_type.plural.capitalize()} for demonstrations and tests. It obeys no web page of another"
        " origin (403) and answers to names of loopback and those that it was given (421).",
    )
    api.spec.components.schema("TrafficChange", traffic_change(trade))
    api.spec.components.schema("Transaction", transaction_schema(event_type))
    api.register_blueprint(new_traffic_blueprint(trade))
    api.register_blueprint(new_replay_blueprint(event_type))
    api.register_blueprint(new_scenario_blueprint(trade))
    return api
