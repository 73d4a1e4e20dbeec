"""The version of a rule that judged: as it was then, who is behind it, and what has changed since."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from alert_api.errors import UpstreamUnavailable

_EVENT_PAGES: Final = 10

Ask = Callable[[str, Mapping[str, str]], tuple[int, Any]]
"""A path of the registry and its query, asked as the caller; the status and the JSON of the answer."""


def rule_then(rule_id: int, version: int, ask: Ask) -> dict[str, Any]:
    """What the registry says; `unavailable` is a sentence where it says nothing, and null where it does."""
    try:
        status, then = ask(f"/v1/rules/{rule_id}/versions/{version}", {})
        if status == HTTPStatus.NOT_FOUND:
            status, then = _of_the_log(rule_id, version, ask)
        if status != HTTPStatus.OK:
            return _unavailable(f"The rules registry has no such version, or does not show it ({status}).")
        return {**_described(then), **_approval(then, rule_id, ask), **_since(rule_id, version, ask)}
    except UpstreamUnavailable as error:
        return _unavailable(f"{error.title} does not answer now.")


def _described(then: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "unavailable": None,
        "name": then["name"],
        "definition": then["definition"],
        "publishedBy": then["actor"],
        "publishedAt": then["occurredAt"],
        "reason": then.get("reason"),
        "effectiveFrom": then["effectiveFrom"],
        "effectiveUntil": then.get("effectiveUntil"),
    }


def _of_the_log(rule_id: int, version: int, ask: Ask) -> tuple[int, Mapping[str, Any]]:
    """The event that published the version: of a rule that is deleted the registry shows its events alone."""
    after = 0
    for _ in range(_EVENT_PAGES):
        status, page = ask("/v1/rule-events", {"ruleId": str(rule_id), "after": str(after), "limit": "100"})
        events = page["items"] if status == HTTPStatus.OK else []
        for event in events:
            brings_it = event["type"] in ("RulePublished", "RuleShadowStarted")
            if brings_it and event.get("version") == version:
                return status, event
        if not events:
            break
        after = events[-1]["position"]
    return HTTPStatus.NOT_FOUND, {}


def _approval(then: Mapping[str, Any], rule_id: int, ask: Ask) -> dict[str, Any]:
    """Of the change that became this event; a rule that was published without approval has none."""
    status, page = ask(
        "/v1/changes", {"kind": "rule", "subject": str(rule_id), "state": "APPROVED", "limit": "200"}
    )
    changes = page["items"] if status == HTTPStatus.OK else []
    for change in changes:
        if change["position"] == then["position"]:
            return {
                "author": change["author"],
                "approvedBy": change["decidedBy"],
                "approvedAt": change["decidedAt"],
            }
    return {"author": then["actor"], "approvedBy": None, "approvedAt": None}


def _since(rule_id: int, version: int, ask: Ask) -> dict[str, Any]:
    status, now = ask(f"/v1/rules/{rule_id}", {})
    if status != HTTPStatus.OK:
        return {"versionNow": None, "stateNow": None, "changedSince": "The rule is deleted."}
    known = {"versionNow": now["version"], "stateNow": now["state"]}
    shadow = now.get("shadow")
    # events of a shadow have the shadow's definition, which is not the rule's yet
    newest = now["version"] if shadow is None else now["definitionVersion"]
    if version == newest or (shadow is not None and version == shadow["version"]):
        return {**known, "changedSince": None}
    status, compared = ask(f"/v1/rules/{rule_id}/diff", {"from": str(version), "to": str(newest)})
    return {**known, "changedSince": compared["summary"] if status == HTTPStatus.OK else None}


def _unavailable(reason: str) -> dict[str, Any]:
    names = (
        "name", "definition", "publishedBy", "publishedAt", "reason", "effectiveFrom", "effectiveUntil", "author",
        "approvedBy", "approvedAt", "versionNow", "stateNow", "changedSince",
    )  # fmt: skip
    return {"unavailable": reason, **dict.fromkeys(names)}
