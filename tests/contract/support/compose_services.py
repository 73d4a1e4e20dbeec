"""The services of docker-compose.yml by kind, and the ports that they listen on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.containers import compose
from tests.containers.compose import Service
from tripline_http.bind_address import METRICS_BIND

FILE = compose.load()
SERVICES = compose.services()
OURS = {name: service for name, service in SERVICES.items() if service.dockerfile}
SERVERS = {name: service for name, service in OURS.items() if not service.is_job}
JOBS = {name: service for name, service in OURS.items() if service.is_job}


def bind_of(service: Service) -> str:
    """Where it listens, with its API where it has one."""
    (bind,) = (
        service.settings[name] for name in service.settings if name.endswith("_BIND") and name != METRICS_BIND
    )
    return bind


def port_of(service: Service) -> int:
    """The port of its API, or of its metrics."""
    return int(bind_of(service).rpartition(":")[2])


def for_each(services: Mapping[str, Service]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("service", services.values(), ids=services)
