"""Rules as the book stores them in the state log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_engine.domain.rules.exclusions import Exclusions
from tripline_engine.domain.rules.rule_version import Cleared, Rule, RuleVersion, version_of


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """The JSON that is stored in the book."""
    cleared, shadow = rule.cleared, rule.shadow
    return {
        "ruleId": rule.rule_id,
        "version": rule.version,
        "paused": rule.paused,
        "earliest": rule.earliest,
        "cleared": None if cleared is None else [cleared.position, cleared.accepted],
        "versions": [_version_to_json(version) for version in rule.versions],
        **({} if shadow is None else {"shadow": _version_to_json(shadow)}),
    }


def rule_of_json(stored: Mapping[str, Any], event_type: EventType) -> Rule:
    """The rule of stored JSON."""
    versions = tuple(_version_of_json(stored["ruleId"], item, event_type) for item in stored["versions"])
    # rules from before these existed were not cleared, and have no shadow
    cleared, shadow = stored.get("cleared"), stored.get("shadow")
    return Rule(
        stored["ruleId"],
        stored["version"],
        stored["paused"],
        versions,
        stored["earliest"],
        None if cleared is None else Cleared(*cleared),
        None if shadow is None else _version_of_json(stored["ruleId"], shadow, event_type),
    )


def _version_to_json(version: RuleVersion) -> dict[str, Any]:
    return {
        "version": version.version,
        "name": version.name,
        "definition": version.definition.to_json(),
        "definitionHash": version.definition_hash,
        "effectiveFrom": version.effective_from,
        "effectiveUntil": version.effective_until,
        "supersededFrom": version.superseded_from,
        "forgotten": version.exclusions.to_json(),
        **({} if version.stage == "live" else {"stage": version.stage}),
        **({} if version.percent == 0 else {"percent": version.percent}),
    }


def _version_of_json(rule_id: int, stored: Mapping[str, Any], event_type: EventType) -> RuleVersion:
    version = version_of(
        rule_id,
        stored["version"],
        stored["name"],
        rule_definition.parse(stored["definition"], event_type),
        stored["definitionHash"],
        stored["effectiveFrom"],
        # rules from before these existed have no end, and no exclusions
        stored.get("effectiveUntil"),
        event_type,
    )
    stage, percent = stored.get("stage", "live"), stored.get("percent", 0)
    superseded = replace(version, superseded_from=stored["supersededFrom"], stage=stage, percent=percent)
    return superseded.excluding(Exclusions.of_json(stored.get("forgotten")))
