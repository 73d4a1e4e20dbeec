"""OpenAPI links: what can be done with a rule that was just published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ID = "$response.body#/ruleId"


def _link(operation: str, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"operationId": operation, "parameters": {"path.rule_id": _ID, **(more or {})}}


_SEEN = {"header.If-Match": "$response.header.ETag"}

AFTER_PUBLISH: dict[str, Any] = {
    "Read": _link("getRule"),
    "Change": _link("changeRule", _SEEN),
    "Delete": _link("deleteRule", _SEEN),
    "Pause": _link("pauseRule", _SEEN),
    "Resume": _link("resumeRule", _SEEN),
    "Versions": _link("listRuleVersions"),
    "Version": _link("getRuleVersion", {"path.version": "$response.body#/version"}),
}

AFTER_COMMAND: dict[str, Any] = {
    "Read": {
        "operationId": "getControlCommand",
        "parameters": {"path.command_id": "$response.body#/commandId"},
    }
}
