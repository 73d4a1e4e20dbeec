"""The audit trail held against the log, and the log against the rules that stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead
from rules_registry.domain.audit.chain_check import ChainCheck
from rules_registry.domain.reports.log_comparison import LogDigests
from tripline_contracts.canonical import canonical_json

Json = Mapping[str, Any]
_OF_EVENT: Final = ("type", "occurredAt", "actor", "position")
_OF_RULE: Final = (
    "version",
    "definitionVersion",
    "state",
    "name",
    "definitionHash",
    "effectiveFrom",
    "effectiveUntil",
    "percent",
)

_OF_SHADOWS: Final = ("RuleShadowStarted", "RuleShadowRolledOut")
"""Events that say what runs beside a rule, which itself stands as it did."""


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A rule by its last event: where that stands in rules.v1, and what it made of the rule."""

    rule_id: int
    version: int
    position: int
    definition_hash: str
    state: str


@dataclass(slots=True)
class TrailComparison:
    """Follows trail and log side by side, each in its order; afterwards it knows both ends and every rule."""

    check: ChainCheck = field(default_factory=ChainCheck)
    digests: LogDigests = field(default_factory=LogDigests)
    rules: dict[int, StandingRule] = field(default_factory=dict)

    @property
    def head(self) -> ChainHead:
        """The trail's end."""
        return self.check.head

    def problems(self, entries: Iterable[AuditEntry], events: Iterable[Json]) -> Iterator[str]:
        """A sentence for each entry that is not as it was written, and for each event that has no entry of its own."""
        remaining = iter(events)
        for entry in entries:
            members = entry.members()
            yield from self.check.follow(entry, members)
            if members.get("position") is not None:
                yield from self._compare(members, next(remaining, None))
        for event in remaining:
            self._take(event)
            yield f"the event at position {event['position']} has no entry in the audit trail"

    def projected(self, standing: Iterable[StandingRule]) -> Iterator[str]:
        """A sentence for each rule that does not stand as its events made it."""
        known = {rule.rule_id: rule for rule in standing}
        for rule_id in sorted(known.keys() | self.rules.keys()):
            if known.get(rule_id) != self.rules.get(rule_id):
                yield f"rule {rule_id} does not stand as its events made it"

    def _compare(self, entry: Json, event: Json | None) -> Iterator[str]:
        sequence, position = entry.get("sequence"), entry.get("position")
        if event is None:
            yield f"entry {sequence} is of position {position}, where the log has no event"
            return
        self._take(event)
        after = entry.get("after")
        wrong = [name for name in _OF_EVENT if entry.get(name) != event.get(name)]
        if _is_of_rule(event) and isinstance(after, Mapping):
            wrong += [name for name in _OF_RULE if after.get(name) != event.get(name)]
        if wrong:
            yield f"entry {sequence} and the event at position {event['position']} differ in {', '.join(wrong)}"

    def _take(self, event: Json) -> None:
        self.digests.append(canonical_json(event))
        if _is_of_rule(event):
            rule_id, definition_hash = event["ruleId"], event["definitionHash"]
            if event["type"] in _OF_SHADOWS and rule_id in self.rules:
                definition_hash = self.rules[rule_id].definition_hash
            self.rules[rule_id] = StandingRule(
                rule_id, event["version"], event["position"], definition_hash, event["state"]
            )


def _is_of_rule(event: Json) -> bool:
    """A command may name a rule, and does not say how it stands."""
    return "definitionHash" in event
