"""The group roles that the migrations make, and the login users that a deployment makes in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GROUPS = (
    "tripline_registry_api",
    "tripline_registry_relay",
    "tripline_registry_status",
    "tripline_alert_projector",
    "tripline_alert_api",
    "tripline_alert_retention",
    "tripline_alert_redrive",
    "tripline_alert_notifier",
)

CONNECTIONS: Final[Mapping[str, int]] = {
    "tripline_registry_api": 40,
    "tripline_registry_relay": 10,
    "tripline_registry_status": 6,
    "tripline_alert_projector": 8,
    "tripline_alert_api": 20,
    "tripline_alert_retention": 4,
    "tripline_alert_redrive": 4,
    "tripline_alert_notifier": 5,
}
"""Connections that each login may hold: twice its pool and some, as an old process may still be there when a new one
starts; together no more than the 97 that Postgres has by default for those who are no superusers."""


def login_of(group: str) -> str:
    """The name of the login user in a group."""
    return f"{group}_login"
