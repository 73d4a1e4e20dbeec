"""The reports of shards on rule-status.v1: rules applied, and rules held beside those that the registry has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from rules_registry.domain.reports.position_report import PositionReport, read_position
from rules_registry.domain.reports.status_fields import MAX_INT, MAX_MS, MAX_POSITION, integer, json_object
from rules_registry.errors import InvalidStatus

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class HeldRule:
    """A rule that is not deleted: the version of its last event, the hash of its newest definition."""

    rule_id: int
    version: int
    definition_hash: str
    state: Literal["ACTIVE", "PAUSED"]


@dataclass(frozen=True, slots=True)
class Exported:
    """The answer of shard `shard` of `shards` to the command at `position`; `exported_at` in ms."""

    command_id: str
    position: int
    shard: int
    shards: int
    exported_at: int
    rules: tuple[HeldRule, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rule ids, ascending: what the shard lacks, has too much, and holds otherwise than the registry."""

    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    different: tuple[int, ...]

    @property
    def is_equal(self) -> bool:
        """True where shard and registry agree."""
        return not (self.missing or self.unexpected or self.different)


def compare(published: Iterable[HeldRule], held: Iterable[HeldRule]) -> Comparison:
    """The registry's rules as of the command's position, beside a shard's."""
    ours, theirs = ({rule.rule_id: rule for rule in rules} for rules in (published, held))
    return Comparison(
        missing=tuple(sorted(ours.keys() - theirs.keys())),
        unexpected=tuple(sorted(theirs.keys() - ours.keys())),
        different=tuple(sorted(id_ for id_ in ours.keys() & theirs.keys() if ours[id_] != theirs[id_])),
    )


def read_exported(data: Mapping[str, object]) -> Exported:
    """Reads a record of rule-status.v1 whose `kind` is `export`. Raises `InvalidStatus` saying what is wrong."""
    command_id, rules = data.get("commandId"), data.get("rules")
    if not isinstance(command_id, str) or not _UUID.fullmatch(command_id):
        raise InvalidStatus("commandId is not a UUID")
    if not isinstance(rules, list):
        raise InvalidStatus("rules is not a list")
    shards = integer(data, "shards", 1, MAX_INT)
    return Exported(
        command_id=command_id,
        position=integer(data, "position", 1, MAX_POSITION),
        shard=integer(data, "shard", 0, shards - 1),
        shards=shards,
        exported_at=integer(data, "exportedAt", 0, MAX_MS),
        rules=tuple(read_held(rule) for rule in rules),
    )


def read_held(data: object) -> HeldRule:
    """Reads one rule of an export. Raises `InvalidStatus`."""
    if not isinstance(data, Mapping):
        raise InvalidStatus("a rule is not an object")
    definition_hash, state = data.get("definitionHash"), data.get("state")
    if not isinstance(definition_hash, str) or not _SHA256.fullmatch(definition_hash):
        raise InvalidStatus("definitionHash is not 64 hex digits")
    if state not in ("ACTIVE", "PAUSED"):
        raise InvalidStatus("state is neither ACTIVE nor PAUSED")
    return HeldRule(
        rule_id=integer(data, "ruleId", 1, MAX_POSITION),
        version=integer(data, "version", 1, MAX_INT),
        definition_hash=definition_hash,
        state="ACTIVE" if state == "ACTIVE" else "PAUSED",
    )


def held_json(rule: HeldRule) -> dict[str, object]:
    """The inverse of `read_held`."""
    return {
        "ruleId": rule.rule_id,
        "version": rule.version,
        "definitionHash": rule.definition_hash,
        "state": rule.state,
    }


@dataclass(frozen=True, slots=True)
class Applied:
    """Shard `shard` of `shards` has taken the event at `position`; times in ms, `warm_from` null before a tick."""

    rule_id: int
    version: int
    position: int
    shard: int
    shards: int
    applied_at: int
    warm_from: int | None


def read_status(value: bytes | None) -> Applied | Exported | PositionReport:
    """Reads a record's value; those without a `kind` say what was applied. Raises `InvalidStatus`."""
    data = json_object(value)
    kind = data.get("kind")
    if kind is None:
        return _read_applied(data)
    if kind == "export":
        return read_exported(data)
    if kind == "position":
        return read_position(data)
    raise InvalidStatus("an unknown kind")


def _read_applied(data: Mapping[str, object]) -> Applied:
    shards = integer(data, "shards", 1, MAX_INT)
    return Applied(
        rule_id=integer(data, "ruleId", 1, MAX_POSITION),
        version=integer(data, "version", 1, MAX_INT),
        position=integer(data, "position", 1, MAX_POSITION),
        shard=integer(data, "shard", 0, shards - 1),
        shards=shards,
        applied_at=integer(data, "appliedAt", 0, MAX_MS),
        warm_from=None if data.get("warmFrom") is None else integer(data, "warmFrom", -MAX_MS, 2 * MAX_MS),
    )
