"""Commands of callers. `expected` is the set of versions that the caller accepts to change; `None` means any."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rules_registry.domain.engine_settings import EngineSettings
from rules_registry.domain.named_value import NamedValue
from tripline_contracts.filters.list_entries import EntriesChange
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.legacy import ControlType
from tripline_contracts.rules.rule_definition import RuleDefinition

Expected = Container[int] | None


@dataclass(frozen=True, slots=True)
class PublishRule:
    """A new rule under a free id. Without a name it gets one; `effective_from` (ms) is now by default, and without
    `effective_until` (ms) it has no end."""

    rule_id: int
    name: str | None
    definition: RuleDefinition
    effective_from: int | None
    paused: bool = False
    effective_until: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """A new definition for a rule. Without a name it keeps its own; `effective_from` (ms) is now by default, and
    without `effective_until` (ms) it has no end: that of the old one does not stay."""

    rule_id: int
    expected: Expected
    name: str | None
    definition: RuleDefinition
    effective_from: int | None
    effective_until: int | None = None


@dataclass(frozen=True, slots=True)
class PauseRule:
    """Stop judging, keep history."""

    rule_id: int
    expected: Expected


@dataclass(frozen=True, slots=True)
class ResumeRule:
    """Judge again."""

    rule_id: int
    expected: Expected


@dataclass(frozen=True, slots=True)
class DeleteRule:
    """Retire the rule for good."""

    rule_id: int
    expected: Expected


@dataclass(frozen=True, slots=True)
class StartShadow:
    """A definition that runs beside the rule's own, and raises no alert of it. Defaults as in `ChangeRule`."""

    rule_id: int
    expected: Expected
    name: str | None
    definition: RuleDefinition
    effective_from: int | None
    effective_until: int | None = None


@dataclass(frozen=True, slots=True)
class RollOutShadow:
    """Let it raise the alerts of so many percent of the rule's groups."""

    rule_id: int
    expected: Expected
    percent: int


@dataclass(frozen=True, slots=True)
class EndShadow:
    """Run it no longer."""

    rule_id: int
    expected: Expected


@dataclass(frozen=True, slots=True)
class PromoteShadow:
    """Make it the rule's definition, with all that it knows."""

    rule_id: int
    expected: Expected


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """All four settings at once."""

    expected: Expected
    settings: EngineSettings


@dataclass(frozen=True, slots=True)
class ChangeNamed:
    """Another value for the list or the parameter of this name, which is made where there is none."""

    kind: Kind
    name: str
    expected: Expected
    value: NamedValue


@dataclass(frozen=True, slots=True)
class ChangeEntries:
    """Some entries of a list that exists come, or get another end; some go."""

    name: str
    expected: Expected
    change: EntriesChange


@dataclass(frozen=True, slots=True)
class TraceRule:
    """Tell each evaluation of the rule, for so many seconds of record time."""

    rule_id: int
    seconds: int


@dataclass(frozen=True, slots=True)
class ClearRule:
    """Forget all that the rule knows."""

    rule_id: int


@dataclass(frozen=True, slots=True)
class ClearGroup:
    """Forget what the rule knows of one group: grouping fields and values, decimals plain."""

    rule_id: int
    group: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True, slots=True)
class VoidTransaction:
    """From here on the transaction is as if it had not been; `event_time` in ms."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class EndBackfill:
    """Close the backfill; from `complete_from` (ms) on, if it is given, history is whole with it."""

    backfill_id: str
    complete_from: int | None = None


Control = (
    ControlType
    | Literal["START_BACKFILL"]
    | TraceRule
    | ClearRule
    | ClearGroup
    | VoidTransaction
    | EndBackfill
)
ChangeOfShadow = StartShadow | RollOutShadow | EndShadow | PromoteShadow
ChangeOfRule = ChangeRule | PauseRule | ResumeRule | DeleteRule | ChangeOfShadow
