"""Events of the log. Every rule event carries the whole rule as it stands after it, so that each stands alone."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from rules_registry.domain.engine_settings import EngineSettings
from tripline_contracts.control_commands import Payload
from tripline_contracts.filters.list_entries import EntriesChange
from tripline_contracts.rules.legacy import ControlType
from tripline_contracts.rules.rule_definition import RuleDefinition


@dataclass(frozen=True, slots=True)
class RuleEvent:
    """The members of all rule events; times in ms. A definition without `effective_until` has no end."""

    rule_id: int
    version: int
    definition_version: int
    state: Literal["ACTIVE", "PAUSED", "DELETED"]
    name: str
    definition: RuleDefinition
    effective_from: int
    effective_until: int | None


@dataclass(frozen=True, slots=True)
class RulePublished(RuleEvent):
    """A first or new definition; `definition_version == version`. On a paused rule `state` stays PAUSED."""


@dataclass(frozen=True, slots=True)
class RulePaused(RuleEvent):
    """It judges nothing from here on, and keeps its history."""


@dataclass(frozen=True, slots=True)
class RuleResumed(RuleEvent):
    """It judges again."""


@dataclass(frozen=True, slots=True)
class RuleDeleted(RuleEvent):
    """It is gone for good; its id is never used again."""


@dataclass(frozen=True, slots=True)
class RuleShadowStarted(RuleEvent):
    """A version runs beside the rule's own, and its alerts go to shadow-alerts.v1; the members are that version's, and
    `definition_version == version`."""


@dataclass(frozen=True, slots=True)
class RuleShadowRolledOut(RuleEvent):
    """The shadow alerts in the rule's place for so many percent of groups; `definition_version` and what belongs to it
    are those with which it was started."""

    percent: int


@dataclass(frozen=True, slots=True)
class RuleShadowEnded(RuleEvent):
    """It runs no longer; the members are the rule's."""


@dataclass(frozen=True, slots=True)
class RuleShadowPromoted(RuleEvent):
    """The shadow is the rule's definition from here on; `definition_version` is that with which it was started."""


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """All four settings of the engine; `version` counts these events."""

    version: int
    settings: EngineSettings


Command = Literal[
    ControlType,
    "TRACE_RULE",
    "CLEAR_RULE",
    "CLEAR_GROUP",
    "VOID_TRANSACTION",
    "START_BACKFILL",
    "END_BACKFILL",
]
"""What operators may command; rule files know those of `ControlType` only."""


@dataclass(frozen=True, slots=True)
class ControlCommand:
    """An operator's command, at its place in the order. It is an event under the name of what it records."""

    command: Command
    command_id: str
    payload: Payload | None = None


@dataclass(frozen=True, slots=True)
class ListChanged:
    """The whole list as it is now, ascending and each once; `version` counts the changes of this name."""

    name: str
    version: int
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListEntriesChanged:
    """Entries that came to a list, or have another end now, and values that went; all others stay. `version` counts the
    changes of this name, those of the whole list too."""

    name: str
    version: int
    change: EntriesChange


@dataclass(frozen=True, slots=True)
class ParameterChanged:
    """The parameter's new value; `version` counts the changes of this name."""

    name: str
    version: int
    value: Decimal


NamedChanged = ListChanged | ParameterChanged
Event = RuleEvent | SettingsChanged | ControlCommand | NamedChanged | ListEntriesChanged
