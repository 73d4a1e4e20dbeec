"""The rules that a backtest tries, from files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import yaml

from tripline_contracts.event_type import EventType
from tripline_contracts.rules.rule_definition import InvalidDefinition, RuleDefinition, parse
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.shard.shard_tuning import ShardTuning, that_tells
from tripline_engine.errors import EngineError

_NO_DEFINITION: Final = frozenset(
    {
        "counted",
        "name",
        "ruleId",
        "effectiveFrom",
        "effectiveUntil",
        "description",
        "severity",
        "tags",
        "owner",
        "playbook",
    }
)
"""Members of a rule file that say nothing of what it means."""


class UnreadableRule(EngineError):
    """A file that holds no rule; the message names it, and the member."""


@dataclass(frozen=True, slots=True)
class TriedRule:
    """One rule, as version 1; its id is its number in the backtest, or the file's own.

    :ivar is_counted: its alerts are counted and no more: they list no contributors, and are not kept
    """

    rule_id: int
    name: str
    definition: RuleDefinition
    is_counted: bool = False


def counted(rules: Iterable[TriedRule]) -> frozenset[int]:
    """Ids of those whose alerts are counted alone."""
    return frozenset(rule.rule_id for rule in rules if rule.is_counted)


def tuning_of(rules: Iterable[TriedRule]) -> ShardTuning:
    """How a shard tells the alerts of these rules."""
    return that_tells(Telling(counted=counted(rules)))


class _Loader(yaml.SafeLoader):
    """Numbers as they are written: a limit is no float."""


_Loader.add_constructor(
    "tag:yaml.org,2002:float",
    lambda loader, node: Decimal(str(loader.construct_scalar(node))),  # type: ignore[arg-type]
)


def read_rules(files: Sequence[Path], event_type: EventType) -> list[TriedRule]:
    """The rules of YAML or JSON files, each with one document or several. Raises UnreadableRule."""
    rules: list[TriedRule] = []
    for file in files:
        for document in _documents(file):
            rules.append(_rule(file, document, len(rules) + 1, event_type))
    numbers = [rule.rule_id for rule in rules]
    if len(set(numbers)) < len(numbers):
        raise UnreadableRule(f"ruleId: two of the rules have the same: {', '.join(map(str, numbers))}")
    return rules


def _documents(file: Path) -> list[Any]:
    try:
        documents = list(yaml.load_all(file.read_text("utf-8"), _Loader))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableRule(f"{file} can't be read: {error}") from error
    except (yaml.YAMLError, ArithmeticError, RecursionError) as error:
        raise UnreadableRule(f"{file} is no YAML: {error}") from error
    if not documents:
        raise UnreadableRule(f"{file}: expected a rule")
    return documents


def _rule(file: Path, document: Any, number: int, event_type: EventType) -> TriedRule:
    if not isinstance(document, dict):
        raise UnreadableRule(f"{file}: expected an object, not {type(document).__name__}")
    rule_id, name = document.get("ruleId", number), document.get("name", file.stem)
    if not isinstance(rule_id, int) or isinstance(rule_id, bool) or rule_id < 1:
        raise UnreadableRule(f"{file}: ruleId: expected an integer of at least 1, not {rule_id!r}")
    if not isinstance(name, str):
        raise UnreadableRule(f"{file}: name: expected a text, not {name!r}")
    is_counted = document.get("counted", False)
    if not isinstance(is_counted, bool):
        raise UnreadableRule(f"{file}: counted: expected true or false, not {is_counted!r}")
    members = {member: value for member, value in document.items() if member not in _NO_DEFINITION}
    try:
        return TriedRule(rule_id, name, parse(members, event_type), is_counted)
    except InvalidDefinition as error:
        raise UnreadableRule(f"{file}: {error}") from error
