"""The services that views use, kept on the app."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Flask, current_app

from rules_registry.adapters.named_queries import NamedQueries
from rules_registry.adapters.queries import Queries
from rules_registry.domain.commands import Expected
from rules_registry.service.registry import Registry
from tripline_contracts.event_type import EventType
from tripline_http.etags import IfMatch

_EXTENSION = "rules_registry"


@dataclass(frozen=True, slots=True)
class Services:
    """The writing and the reading side, and what the rules are of."""

    registry: Registry
    queries: Queries
    named: NamedQueries
    event_type: EventType


def install_services(app: Flask, services: Services) -> None:
    """Makes them the app's."""
    app.extensions[_EXTENSION] = services


def registry() -> Registry:
    """The use cases."""
    return _services().registry


def queries() -> Queries:
    """The reads."""
    return _services().queries


def named_queries() -> NamedQueries:
    """The reads of lists and parameters."""
    return _services().named


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
