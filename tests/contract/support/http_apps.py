"""The three HTTP services as apps with the demo's keys, and every endpoint of theirs; nothing behind them."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from flask import Flask
from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool
from werkzeug.routing import Rule

from rules_registry.adapters.postgres import Connection
from rules_registry.api.application import create_app
from tests.unit.alert_api.support import samples
from tests.unit.demo.generator.fakes import FakeDesk
from tests.unit.demo.generator.test_api import app_of
from tripline_contracts import event_type_loader
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.stack import credentials
from tripline_http.application import Access
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.roles import ROLES, SCOPES

HOLDERS: Mapping[str, str] = credentials.ROLES
"""The role of each key."""
EVERYTHING = "everything"
"""The name of a key that has all scopes, which no role has: for what comes after the scope."""
SERVICES = ("registry", "alert-api", "generator")
_PLACEHOLDER = re.compile(r"<(?:([a-z]+)(?:\([^)]*\))?:)?(\w+)>")
_SAMPLES = {"int": "1", "string": "name", "uuid": str(uuid.UUID(int=7)), "path": "nothing", "": "name"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one address of one service; `rule` is the address with its placeholders."""

    service: str
    method: str
    rule: str
    view: Callable[..., Any]

    @property
    def path(self) -> str:
        """The address with a sample in each placeholder."""
        return _PLACEHOLDER.sub(lambda match: _SAMPLES[match[1] or ""], self.rule)

    def path_with(self, text: str) -> str:
        """The address with this text, which is quoted already, in each placeholder."""
        return _PLACEHOLDER.sub(lambda _: text, self.rule)

    @property
    def name(self) -> str:
        """As the documents spell it."""
        return f"{self.method} {_PLACEHOLDER.sub(lambda match: '{' + match[2] + '}', self.rule)}"

    def __str__(self) -> str:
        return f"{self.service} {self.name}"


def key_of(name: str) -> str:
    """That key in clear text."""
    return f"key-for-tests-of-{name}"


def bearer(name: str) -> dict[str, str]:
    """The header of that key."""
    return {"Authorization": f"Bearer {key_of(name)}"}


def keys() -> list[ApiKey]:
    """The keys as the demo writes them into its file, and the one with all scopes."""
    roles = [
        ApiKey(str(entry["name"]), str(entry["sha256"]), ROLES[str(entry["role"])], role=str(entry["role"]))
        for entry in credentials.key_file({name: key_of(name) for name in HOLDERS})
    ]
    return [*roles, ApiKey(EVERYTHING, hashlib.sha256(key_of(EVERYTHING).encode()).hexdigest(), SCOPES)]


def app_named(service: str) -> Flask:
    """The service's app."""
    match service:
        case "registry":
            pool = ConnectionPool("", connection_class=Connection, open=False)
            return create_app(pool, Access(keys()), CollectorRegistry(), event_type_loader.load())[0]
        case "alert-api":
            return samples.app(keys=keys())
        case "generator":
            return app_of(PAYMENTS, FakeDesk(), keys())
    raise ValueError(service)


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Every method that the services answer, but HEAD and OPTIONS, which Flask adds by itself."""
    requests = [
        Endpoint(service, method, rule.rule, app.view_functions[rule.endpoint])
        for service in SERVICES
        for app in [app_named(service)]
        for rule in app.url_map.iter_rules()
        for method in _methods(rule)
    ]
    return tuple(sorted(requests, key=str))


def _methods(rule: Rule) -> list[str]:
    return sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
