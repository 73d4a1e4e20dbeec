"""What rules.v1 says of one version, and of everything that widens a proof: tolerances, and other versions' windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tripline_contracts.control_commands import VoidTransaction, read_command
from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_engine.archive.journal import Journal
from tripline_engine.domain.proof.reach import WidestTolerances
from tripline_engine.domain.rules.event_decoder import decode
from tripline_engine.domain.rules.rule_events import UnreadableRuleEvent
from tripline_engine.domain.rules.rule_version import RuleVersion, RuleVersionKey, version_of
from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.rebuild.survey import all_records

_UNREADABLE = (LookupError, TypeError, AttributeError, ValueError, RecursionError, ContractError)


@dataclass(slots=True)
class RulesLog:
    """All of rules.v1 that is readable, whenever it was taken.

    :ivar versions: every definition version
    :ivar voids: (transaction id, event time in ms) with the position of the command that made it void
    """

    versions: dict[RuleVersionKey, RuleVersion] = field(default_factory=dict)
    voids: dict[tuple[str, int], int] = field(default_factory=dict)
    tolerances: WidestTolerances = field(default_factory=WidestTolerances)

    @staticmethod
    def read(journal: Journal, event_type: EventType) -> RulesLog:
        """The log as it stands now."""
        log = RulesLog()
        log.tolerances.take(Tolerances())
        for event in _events(journal):
            try:
                log._take(event, event_type)
            except _UNREADABLE:
                continue  # the engine refuses it too
        return log

    def _take(self, event: Mapping[str, Any], event_type: EventType) -> None:
        kind = event["type"]
        if kind == "SettingsChanged":
            self.tolerances.take(Tolerances.of(event["settings"]))
        elif kind == "ControlCommand":
            command = read_command(event)
            if isinstance(command, VoidTransaction):
                key = (command.transaction_id, command.event_time)
                self.voids.setdefault(key, event["position"])
        elif kind in ("RulePublished", "RuleShadowStarted"):
            version = version_of(
                event["ruleId"],
                event["version"],
                event["name"],
                rule_definition.parse(event["definition"], event_type),
                event["definitionHash"],
                event["effectiveFrom"],
                event.get("effectiveUntil"),
                event_type,
            )
            self.versions.setdefault(version.key, version)


def _events(journal: Journal) -> Iterator[Mapping[str, Any]]:
    for record in all_records(journal):
        try:
            yield decode(record.value or b"")
        except UnreadableRuleEvent:
            continue
