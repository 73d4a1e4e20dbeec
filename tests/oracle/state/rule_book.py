"""The rules taken so far: their states, versions and what history they need (semantics 6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tests.oracle.parsers.named_values import (
    NO_NAMED_VALUES,
    ListChanged,
    ListEntriesChanged,
    ParameterChanged,
)
from tests.oracle.parsers.rule_events import Content, Positioned, RuleEvent, Settings, Version
from tests.oracle.values.errors import OracleError
from tests.oracle.values.model import Json
from tests.oracle.values.schema import anchor_of

_NEXT_STATE = {"RulePaused": "PAUSED", "RuleResumed": "ACTIVE", "RuleDeleted": "DELETED"}


class RuleBook:
    """Takes each position once and in order; answers who judges, and how wide a window is needed."""

    def __init__(self, anchors: tuple[str, ...]) -> None:
        self.settings = Settings()
        self.names = NO_NAMED_VALUES
        self.skipped = self.ahead = 0
        self._anchors = anchors
        self._taken = 0
        self._states: dict[int, str] = {}
        self._numbers: dict[int, int] = {}
        self._versions: dict[int, list[Version]] = {}
        self._ended: set[tuple[int, int]] = set()

    def take(self, event: Positioned) -> bool:
        """Apply one event, or say that it changes nothing: only the next position is taken, and only by an event
        that can be read."""
        if event.position <= self._taken:
            return False
        if event.position > self._taken + 1:
            self.ahead += 1
            return False
        if event.content is None or self._repeats_a_version(event.content):
            self.skipped += 1
            return False
        self._taken = event.position
        if isinstance(event.content, Settings):
            self.settings = event.content
        elif isinstance(event.content, (ListChanged, ListEntriesChanged, ParameterChanged)):
            self.names = event.content.applied(self.names)
        elif isinstance(event.content, RuleEvent):
            rule_id = event.content.version.rule_id
            if self._states.get(rule_id) == "DELETED" or not self._apply(event.content):
                return False
            self._numbers[rule_id] = event.content.number
        return True

    def _repeats_a_version(self, content: Content) -> bool:
        if not isinstance(content, RuleEvent) or content.type != "RulePublished":
            return False
        rule_id = content.version.rule_id
        versions = self._versions.get(rule_id, [])
        deleted = self._states.get(rule_id) == "DELETED"
        return not deleted and bool(versions) and content.version.number <= versions[-1].number

    def _apply(self, event: RuleEvent) -> bool:
        rule_id = event.version.rule_id
        if event.type == "RulePublished":
            self._publish(event)
            return True
        is_known = rule_id in self._states
        if is_known or event.type == "RuleDeleted":
            self._states[rule_id] = _NEXT_STATE[event.type]
        return is_known

    def _publish(self, event: RuleEvent) -> None:
        rule_id = event.version.rule_id
        self._versions.setdefault(rule_id, []).append(event.version)
        # A rule that is known stays as it is: a new definition does not resume a paused one.
        self._states.setdefault(rule_id, "PAUSED" if event.state == "PAUSED" else "ACTIVE")

    def held(self) -> list[Json]:
        """Every rule that is not deleted, as an export has it, by id."""
        return [
            {
                "ruleId": rule_id,
                "version": self._numbers[rule_id],
                "definitionHash": versions[-1].definition_hash,
                "state": self._states[rule_id],
            }
            for rule_id, versions in sorted(self._versions.items())
            if self._states[rule_id] != "DELETED"
        ]

    def newest(self, rule_id: int) -> Version:
        """The highest definition version taken of a known rule."""
        return self._versions[rule_id][-1]

    def exists(self, rule_id: int) -> bool:
        """True if a rule has been published and not deleted; paused or not yet in force it exists."""
        return self._states.get(rule_id, "DELETED") != "DELETED"

    def is_active(self, rule_id: int) -> bool:
        """True if a known rule is neither paused nor deleted."""
        return self._states[rule_id] == "ACTIVE"

    def was_in_force(self, before: Version, event_time: int) -> bool:
        """True if a version taken before that one is in force, or would be, at an event time."""
        return any(
            version.effective_from <= event_time
            for version in self._versions[before.rule_id]
            if version.number < before.number
        )

    def anchor(self, version: Version) -> str:
        """The anchor on which the version's history lies."""
        return anchor_of(tuple(key.field for key in version.definition.shared if not key.step), self._anchors)

    def active(self) -> Iterator[int]:
        """Every rule that is neither paused nor deleted, by id."""
        return (rule_id for rule_id in sorted(self._versions) if self.is_active(rule_id))

    def in_force(self, rule_id: int, event_time: int) -> Version | None:
        """The version of a known rule that judges what has that event time, if any."""
        begun = [version for version in self._versions[rule_id] if version.effective_from <= event_time]
        if begun and (rule_id, begun[-1].number) in self._ended:
            raise OracleError("a version that has ended is in force: the specification contradicts itself")
        if not begun or has_expired(begun[-1], event_time):
            return None
        return begun[-1]

    def live_versions(self, rule_id: int) -> list[Version]:
        """The versions of a known rule that have not ended, whether in force for anything or not."""
        return [
            version for version in self._versions[rule_id] if (rule_id, version.number) not in self._ended
        ]

    def held_versions(self) -> list[Version]:
        """All that have not ended, of rules that are not deleted."""
        return [
            version
            for rule_id in self._versions
            if self.exists(rule_id)
            for version in self.live_versions(rule_id)
        ]

    def needed(self) -> set[str]:
        """The anchors on which a version is held."""
        return {self.anchor(version) for version in self.held_versions()}

    def end_superseded(self, clock: int) -> None:
        """At a tick: versions whose successors have long begun stop counting, for good."""
        slack = self.settings.allowed_lateness + self.settings.max_disorder
        for rule_id, versions in self._versions.items():
            for version, successor in pairwise(versions):
                if clock > successor.effective_from + slack:
                    self._ended.add((rule_id, version.number))

    def widest(self, anchor: str, field: str) -> int:
        """The widest window, in ms, on the anchor that uses the field; 0 if none does."""
        # Beyond the length of a bucket, buckets stand for the transactions.
        return max(
            (
                version.definition.window if version.definition.bucket is None else version.definition.bucket
                for version in self.held_versions()
                if self.anchor(version) == anchor and field in version.definition.uses
            ),
            default=0,
        )


def has_expired(version: Version, event_time: int) -> bool:
    """True if the version, in force or not, judges nothing of that event time any more."""
    return version.effective_until is not None and event_time >= version.effective_until
