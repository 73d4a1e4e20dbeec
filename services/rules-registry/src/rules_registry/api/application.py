"""The registry's Flask app."""

from __future__ import annotations

import secrets
import time
import uuid

from flask import Flask
from prometheus_client import CollectorRegistry

from rules_registry.adapters.advice_queries import AdviceQueries
from rules_registry.adapters.audit.audit_queries import AuditQueries
from rules_registry.adapters.backtests.backtest_store import BacktestQueries
from rules_registry.adapters.backtests.estimate_store import EstimateQueries
from rules_registry.adapters.change_queries import ChangeQueries
from rules_registry.adapters.event_store import PostgresEventStore
from rules_registry.adapters.keys.key_store import KeyQueries
from rules_registry.adapters.named.named_queries import NamedQueries
from rules_registry.adapters.postgres import Pool, check_database
from rules_registry.adapters.purposes.purpose_store import PurposeQueries
from rules_registry.adapters.queries import Queries
from rules_registry.api import settings
from rules_registry.api.audit import audit
from rules_registry.api.backtests import backtest_body, backtests
from rules_registry.api.control import backfills, control_body, control_commands
from rules_registry.api.keys import keys as keys_api
from rules_registry.api.mappings import mapping_body, mapping_proposals
from rules_registry.api.named import lists, parameters
from rules_registry.api.named.entry_body import entry_body_schemas
from rules_registry.api.named.named_value_body import named_body_schemas
from rules_registry.api.problems import install_registry_problems
from rules_registry.api.review import changes
from rules_registry.api.rule_schemas.answer_schemas import GROUPABLE_SCHEMA
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.rule_components import rule_components
from rules_registry.api.rule_schemas.rule_sent_back import CHANGE_SCHEMA, rule_change_schema
from rules_registry.api.rules import (
    rule_checks,
    rule_history,
    rule_imports,
    rule_purpose,
    rule_revert,
    rule_shadow,
    rule_status,
    rule_templates,
    rules,
)
from rules_registry.api.services import Services, install_services
from rules_registry.domain.backtests.backtest_bounds import BacktestBounds
from rules_registry.domain.estimates.estimate import EstimateBounds
from rules_registry.domain.quotas import Quotas
from rules_registry.service.api_keys import ApiKeys
from rules_registry.service.backtests.backtests import Backtests
from rules_registry.service.purposes import Purposes
from rules_registry.service.registry import Registry
from rules_registry.service.review import Review
from rules_registry.service.rule_advice import RuleAdvice
from tripline_contracts.event_type import EventType
from tripline_http.application import Access, new_app
from tripline_http.openapi import Api, install_api

DESCRIPTION = (
    "Rules that Tripline judges {} by. Every change appends an event; the engine follows the log. "
    "Decimals are strings, times are integer milliseconds, versions are ETags."
)

BLUEPRINTS = tuple(
    module.blueprint
    for module in (
        rules,
        rule_revert,
        rule_shadow,
        rule_checks,
        rule_templates,
        rule_imports,
        rule_history,
        rule_status,
        rule_purpose,
        settings,
        control_commands,
        backfills,
        lists,
        parameters,
        audit,
        changes,
        keys_api,
        backtests,
        mapping_proposals,
    )
)


def create_app(
    pool: Pool,
    access: Access,
    metrics: CollectorRegistry,
    event_type: EventType,
    quotas: Quotas | None = None,
    *,
    four_eyes: bool = False,
    bounds: BacktestBounds | None = None,
    estimates: EstimateBounds | None = None,
) -> tuple[Flask, Api]:
    """The app on this pool, and its API for the document; both are of the event type. Without `quotas` nothing has a
    bound; with `four_eyes` a second person has to approve what can silence an alert; without `bounds` nobody runs
    backtests, without `estimates` nobody makes any."""
    app = new_app(
        "rules-registry", access=access, registry=metrics, checks={"database": lambda: check_database(pool)}
    )
    install_registry_problems(app)
    store = PostgresEventStore(pool, event_type)
    registry = Registry(store, clock=_now_ms, new_id=_new_id, quotas=quotas or Quotas())
    services = Services(
        registry=registry,
        review=Review(registry, event_type),
        queries=Queries(pool),
        named=NamedQueries(pool),
        audit=AuditQueries(pool),
        changes=ChangeQueries(pool),
        keys=ApiKeys(store, _now_ms, _new_secret, lambda: [key.name for key in access.keys]),
        key_queries=KeyQueries(pool),
        advice=RuleAdvice(AdviceQueries(pool), event_type, registry.quotas.history),
        purposes=Purposes(store, _now_ms),
        purpose_queries=PurposeQueries(pool),
        backtests=Backtests(registry, bounds or BacktestBounds()),
        backtest_queries=BacktestQueries(pool),
        estimate_queries=EstimateQueries(pool),
        estimate_bounds=estimates or EstimateBounds(),
        event_type=event_type,
        four_eyes=four_eyes,
    )
    install_services(app, services)
    description = DESCRIPTION.format(event_type.plural)
    api = install_api(app, title="Tripline rules registry", version="0.1.0", description=description)
    _describe_bodies(api, event_type)
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    return app, api


def _describe_bodies(api: Api, event_type: EventType) -> None:
    """The schemas of what is sent, which are of the event type."""
    for name, schema in rule_components(event_type).items():
        api.spec.components.schema(name, schema)
    api.spec.components.schema(backtest_body.BODY_SCHEMA, backtest_body.backtest_body_schema(BODY_SCHEMA))
    api.spec.components.schema(mapping_body.BODY_SCHEMA, mapping_body.mapping_body_schema())
    api.spec.components.schema(CHANGE_SCHEMA, rule_change_schema(BODY_SCHEMA))
    api.spec.components.schema(GROUPABLE_SCHEMA, {"type": "string", "enum": list(event_type.groupings)})
    api.spec.components.example(rule_imports.PLAIN_EXAMPLE, {"value": rule_imports.plain_example(event_type)})
    api.spec.components.schema(control_body.BODY_SCHEMA, control_body.control_body_schema(event_type))
    for name, schema in {**named_body_schemas(), **entry_body_schemas()}.items():
        api.spec.components.schema(name, schema)


def _new_secret() -> str:
    return f"tk_{secrets.token_urlsafe(24)}"


def _new_id() -> str:
    return str(uuid.uuid4())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
