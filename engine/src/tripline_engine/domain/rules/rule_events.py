"""Results of applying a rule event."""

from __future__ import annotations

from dataclasses import dataclass

from tripline_contracts.control_commands import Command
from tripline_engine.domain.rules.rule_version import RuleVersion


@dataclass(frozen=True, slots=True)
class CatchUp:
    """A new version that reaches back: it judges accepted transactions for which no version was in force.

    :ivar until: event times (ms) from ``version.effective_from`` to before this
    """

    version: RuleVersion
    until: int

    @staticmethod
    def of(version: RuleVersion, paused: bool, until: int) -> CatchUp | None:
        """The version's catch-up; None while the rule is paused: what the version reaches counts as skipped."""
        until = version.judges_before(until)
        return CatchUp(version, until) if not paused and version.effective_from < until else None


@dataclass(frozen=True, slots=True)
class RuleApplied:
    """An event of a rule was applied.

    :ivar version: the event's number
    :ivar newest: the newest definition version
    """

    position: int
    rule_id: int
    version: int
    newest: RuleVersion
    catch_up: CatchUp | None = None


@dataclass(frozen=True, slots=True)
class TolerancesChanged:
    """The tolerances have changed."""

    position: int


@dataclass(frozen=True, slots=True)
class ControlApplied:
    """An operator's command was applied."""

    position: int
    command_id: str
    command: Command


@dataclass(frozen=True, slots=True)
class NamedValueChanged:
    """A named list or parameter has changed."""

    position: int


class UnreadableRuleEvent(Exception):
    """A rule event that this engine cannot read; ``position`` if at least that could be read."""

    def __init__(self, reason: str, position: int | None) -> None:
        super().__init__(reason)
        self.position = position


class RuleEventGap(Exception):
    """A rule event whose position is not the next one: records are missing before it, or it is not the registry's."""

    def __init__(self, position: int, expected: int) -> None:
        super().__init__(f"position {position}, where {expected} is the next one")
        self.position, self.expected = position, expected
