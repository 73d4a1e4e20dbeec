"""Records of a rule file, and the commands that they translate to.

Records say how a rule should be, not what to do: ACTIVE on a known id is its next version, and brings a paused rule
back, for rule files have no other word for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from rules_registry.domain.advice.rule_warning import RuleWarning
from rules_registry.domain.commands import (
    ChangeOfRule,
    ChangeRule,
    DeleteRule,
    PauseRule,
    PublishRule,
    ResumeRule,
)
from rules_registry.domain.rule import Rule
from rules_registry.errors import DomainError, RuleIsDeleted, RuleNotFound
from tripline_contracts.errors import Problem
from tripline_contracts.rules.legacy import ControlType
from tripline_contracts.rules.rule_definition import RuleDefinition

MAX_IMPORTED_ID = 1_000_000_000
"""Fresh ids follow the highest one there is, and end at 2^31 − 1: an import must not use them up."""


@dataclass(frozen=True, slots=True)
class ImportedRule:
    """An ACTIVE, PAUSE or DELETE record. ACTIVE has a definition, PAUSE may; `effective_from` in ms, now by default,
    `effective_until` in ms, without it there is no end."""

    state: Literal["ACTIVE", "PAUSE", "DELETE"]
    rule_id: int
    name: str | None = None
    definition: RuleDefinition | None = None
    effective_from: int | None = None
    effective_until: int | None = None


@dataclass(frozen=True, slots=True)
class ImportedControl:
    """A CONTROL record."""

    control: ControlType


def commands_of(rule: Rule | None, imported: ImportedRule) -> list[PublishRule | ChangeOfRule]:
    """The commands, in order, that make the rule what the record says; none where it is so already.

    Raises `RuleNotFound` and `RuleIsDeleted`.
    """
    if rule is None:
        return _on_unknown(imported)
    if rule.state == "DELETED":
        if imported.state == "DELETE":
            return []
        raise RuleIsDeleted(rule.rule_id)
    match imported.state:
        case "ACTIVE":
            # The new definition comes first: the old one must not judge on the way.
            resume = [ResumeRule(rule.rule_id, None)] if rule.state == "PAUSED" else []
            return [_change(imported), *resume]
        case "PAUSE":
            pause = [PauseRule(rule.rule_id, None)] if rule.state == "ACTIVE" else []
            is_new = imported.definition is not None and imported.definition != rule.definition
            return [*pause, _change(imported)] if is_new else list(pause)
        case "DELETE":
            return [DeleteRule(rule.rule_id, None)]
    assert_never(imported.state)


def _on_unknown(imported: ImportedRule) -> list[PublishRule | ChangeOfRule]:
    if imported.definition is None:
        raise RuleNotFound(imported.rule_id)
    paused = imported.state == "PAUSE"
    return [
        PublishRule(
            imported.rule_id,
            imported.name,
            imported.definition,
            imported.effective_from,
            paused=paused,
            effective_until=imported.effective_until,
        )
    ]


def _change(imported: ImportedRule) -> ChangeRule:
    assert imported.definition is not None  # an ACTIVE record without one is refused where it is read
    return ChangeRule(
        imported.rule_id,
        None,
        imported.name,
        imported.definition,
        imported.effective_from,
        imported.effective_until,
    )


Outcome = Literal["published", "changed", "paused", "deleted", "commanded", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class LineResult:
    """Its events have the positions `first` to `last`; `problems` say why it was refused, `warnings` what is
    likely wrong."""

    number: int
    outcome: Outcome
    rule_id: int | None = None
    version: int | None = None
    command_id: str | None = None
    first: int | None = None
    last: int | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[RuleWarning, ...] = ()


class ImportRefused(DomainError):
    """Nothing of the import happened; `results` say of each line what would have become of it."""

    def __init__(self, results: Sequence[LineResult], refused: int) -> None:
        super().__init__(f"Nothing was imported: {refused} of {len(results)} records were refused.")
        self.results = tuple(results)
