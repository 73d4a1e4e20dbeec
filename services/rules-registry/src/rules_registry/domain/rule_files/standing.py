"""What the registry has: rules as they stand, and changes that somebody has still to decide on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

OpenState = Literal["DRAFT", "SUBMITTED", "APPROVED", "WITHDRAWN"]


@dataclass(frozen=True, slots=True)
class StandingShadow:
    """A version that runs beside a rule's own, and counts for that percent of its groups."""

    version: int
    definition: Mapping[str, object]
    percent: int

    @classmethod
    def from_json(cls, body: Mapping[str, Any] | None) -> StandingShadow | None:
        """Of the rule's member; None where none runs."""
        return None if body is None else cls(body["version"], body["definition"], body["percent"])


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A rule as the registry's API tells it; times in ms."""

    rule_id: int
    version: int
    state: str
    name: str
    definition: Mapping[str, object]
    definition_hash: str
    effective_from: int
    effective_until: int | None = None
    definition_version: int = 1
    shadow: StandingShadow | None = None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> StandingRule:
        """Of an answer of the API."""
        return cls(
            rule_id=body["ruleId"],
            version=body["version"],
            state=body["state"],
            name=body["name"],
            definition=body["definition"],
            definition_hash=body["definitionHash"],
            effective_from=body["effectiveFrom"],
            effective_until=body.get("effectiveUntil"),
            definition_version=body["definitionVersion"],
            shadow=StandingShadow.from_json(body.get("shadow")),
        )


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A change of a rule that a second person has to approve. `base` is the version that it was made for, None for a
    new rule; name and definition are those that it would bring, if it brings any, and `percent` the share of a rollout.
    `estimate` is what they would say and cost, where the answer told it."""

    change_id: int
    revision: int
    state: OpenState
    kind: str
    rule_id: int | None
    author: str
    content_hash: str
    base: int | None = None
    name: str | None = None
    definition: Mapping[str, object] | None = None
    definition_hash: str | None = None
    effective_from: int | None = None
    effective_until: int | None = None
    estimate: Mapping[str, Any] | None = None
    percent: int | None = None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> RuleChange:
        """Of an answer of the API; whatever is no rule's has neither rule nor definition."""
        content: Mapping[str, Any] = body["content"] or {}
        return cls(
            change_id=body["changeId"],
            revision=body["revision"],
            state=cast("OpenState", body["state"]),
            kind=body["kind"],
            rule_id=body["ruleId"],
            author=body["author"],
            content_hash=body["contentHash"],
            base=content.get("base"),
            name=content.get("name"),
            definition=content.get("definition"),
            definition_hash=content.get("definitionHash"),
            effective_from=content.get("effectiveFrom"),
            effective_until=content.get("effectiveUntil"),
            estimate=body.get("estimate"),
            percent=content.get("percent"),
        )

    @property
    def title(self) -> str:
        """As a sentence goes on that is about it."""
        return f"change {self.change_id} by {self.author}"
