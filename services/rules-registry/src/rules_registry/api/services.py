"""The services that views use, kept on the app."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Flask, current_app

from rules_registry.adapters.audit.audit_queries import AuditQueries
from rules_registry.adapters.backtests.backtest_store import BacktestQueries
from rules_registry.adapters.backtests.estimate_store import EstimateQueries
from rules_registry.adapters.change_queries import ChangeQueries
from rules_registry.adapters.keys.key_store import KeyQueries
from rules_registry.adapters.named.named_queries import NamedQueries
from rules_registry.adapters.purposes.purpose_store import PurposeQueries
from rules_registry.adapters.queries import Queries
from rules_registry.domain.commands import Expected
from rules_registry.domain.estimates.estimate import EstimateBounds
from rules_registry.domain.review.content import Proposed, needs_second_person
from rules_registry.service.api_keys import ApiKeys
from rules_registry.service.backtests.backtests import Backtests
from rules_registry.service.purposes import Purposes
from rules_registry.service.registry import Registry
from rules_registry.service.review import Review
from rules_registry.service.rule_advice import RuleAdvice
from tripline_contracts.event_type import EventType
from tripline_http.etags import IfMatch

_EXTENSION = "rules_registry"


@dataclass(frozen=True, slots=True)
class Services:
    """The writing and the reading side, and what the rules are of. With `four_eyes` changes need a second person."""

    registry: Registry
    review: Review
    queries: Queries
    named: NamedQueries
    audit: AuditQueries
    changes: ChangeQueries
    keys: ApiKeys
    key_queries: KeyQueries
    advice: RuleAdvice
    purposes: Purposes
    purpose_queries: PurposeQueries
    backtests: Backtests
    backtest_queries: BacktestQueries
    estimate_queries: EstimateQueries
    estimate_bounds: EstimateBounds
    event_type: EventType
    four_eyes: bool


def install_services(app: Flask, services: Services) -> None:
    """Makes them the app's."""
    app.extensions[_EXTENSION] = services


def registry_of(app: Flask) -> Registry:
    """The use cases of an app."""
    services: Services = app.extensions[_EXTENSION]
    return services.registry


def registry() -> Registry:
    """The use cases."""
    return _services().registry


def queries() -> Queries:
    """The reads."""
    return _services().queries


def named_queries() -> NamedQueries:
    """The reads of lists and parameters."""
    return _services().named


def audit_queries() -> AuditQueries:
    """The reads of the audit trail."""
    return _services().audit


def review() -> Review:
    """The use cases of changes that a second person has to approve."""
    return _services().review


def change_queries() -> ChangeQueries:
    """The reads of changes."""
    return _services().changes


def api_keys() -> ApiKeys:
    """The use cases of API keys."""
    return _services().keys


def key_queries() -> KeyQueries:
    """The reads of API keys."""
    return _services().key_queries


def rule_advice() -> RuleAdvice:
    """What is likely wrong with a definition."""
    return _services().advice


def purposes() -> Purposes:
    """The use case of what rules are for."""
    return _services().purposes


def purpose_queries() -> PurposeQueries:
    """The reads of what rules are for."""
    return _services().purpose_queries


def backtests() -> Backtests:
    """The use cases of backtests."""
    return _services().backtests


def backtests_of(app: Flask) -> Backtests:
    """Those of an app."""
    services: Services = app.extensions[_EXTENSION]
    return services.backtests


def backtest_queries() -> BacktestQueries:
    """The reads of backtests."""
    return _services().backtest_queries


def estimate_queries() -> EstimateQueries:
    """The reads of estimates."""
    return _services().estimate_queries


def estimate_bounds() -> EstimateBounds:
    """What estimates may come to."""
    return _services().estimate_bounds


def four_eyes() -> bool:
    """Whether a second person has to approve here what can silence an alert."""
    return _services().four_eyes


def needs_approval(command: Proposed) -> bool:
    """Whether a second person has to approve the command here."""
    return four_eyes() and needs_second_person(command)


def installed_type() -> EventType:
    """The event type that rules are of here."""
    return _services().event_type


def expected_versions(if_match: IfMatch) -> Expected:
    """The versions that `If-Match` names; tags that are no versions of ours match nothing."""
    if if_match.any_version:
        return None
    return frozenset(int(tag) for tag in if_match.tags if tag.isascii() and tag.isdigit() and len(tag) <= 10)


def _services() -> Services:
    services = current_app.extensions[_EXTENSION]
    assert isinstance(services, Services)
    return services
