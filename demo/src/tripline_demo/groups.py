"""The group roles that the migrations make, and the login users that a deployment makes in them."""

from __future__ import annotations

GROUPS = (
    "tripline_registry_api",
    "tripline_registry_relay",
    "tripline_registry_status",
    "tripline_alert_projector",
    "tripline_alert_api",
)


def login_of(group: str) -> str:
    """The name of the login user in a group."""
    return f"{group}_login"
