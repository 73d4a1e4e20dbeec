"""Roles: what a person or a program is here, as a set of scopes.

Who authors a rule does not approve it, and an admin, who gives out keys, does neither.
"""

from __future__ import annotations

from collections.abc import Mapping

SCOPES = frozenset(
    {
        "rules:read",
        "rules:write",
        "rules:approve",
        "controls:write",
        "alerts:read",
        "alerts:ack",
        "traffic:read",
        "traffic:write",
        "audit:read",
        "keys:write",
    }
)
"""Everything that a route may ask for."""

_LOOK = ("rules:read", "alerts:read")

ROLES: Mapping[str, frozenset[str]] = {
    "viewer": frozenset({*_LOOK, "traffic:read"}),
    "analyst": frozenset({*_LOOK, "rules:write", "alerts:ack", "traffic:read"}),
    "approver": frozenset({*_LOOK, "rules:approve"}),
    "admin": frozenset({*_LOOK, "keys:write", "traffic:read"}),
    "auditor": frozenset({*_LOOK, "audit:read"}),
    "operator": frozenset({*_LOOK, "controls:write", "traffic:read", "traffic:write"}),
}
"""The scopes of each role."""
