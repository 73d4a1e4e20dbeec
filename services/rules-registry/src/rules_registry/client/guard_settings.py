"""What a guard process is told from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rules_registry.client.client_settings import ALERTS_URL, ClientSettings, read_client_settings
from rules_registry.domain.guard.alert_rate import HOUR_MS, Limits
from tripline_http.bind_address import Bind, parse_bind

_BIND: Final = "TRIPLINE_METRICS_BIND"
_DEFAULT_BIND: Final = "127.0.0.1:9109"


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """Whom it asks, what is too often, and what it does then.

    :ivar pauses: at once, in place of asking for it
    :ivar every: seconds between two looks
    """

    registry: ClientSettings
    alerts: ClientSettings
    limits: Limits
    pauses: bool
    every: int
    metrics_bind: Bind
    log_level: str


def read_guard_settings(environment: Mapping[str, str], options: Mapping[str, Any]) -> GuardSettings:
    """From the environment and the command's options, by their names. Raises ConfigurationError with one sentence."""
    key_file = options["key_file"]
    return GuardSettings(
        read_client_settings(environment, options["url"], key_file),
        read_client_settings(environment, options["alerts_url"], key_file, name=ALERTS_URL),
        Limits(options["factor"], options["least"], options["first"], options["hours"] * HOUR_MS),
        options["pauses"],
        options["every"],
        parse_bind(_BIND, environment.get(_BIND, _DEFAULT_BIND)),
        environment.get("TRIPLINE_LOG_LEVEL", "info"),
    )
