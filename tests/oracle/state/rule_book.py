"""The rules taken so far: their states, versions and what history they need (semantics 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from tests.oracle.parsers.named_values import (
    NO_NAMED_VALUES,
    ListChanged,
    ListEntriesChanged,
    ParameterChanged,
)
from tests.oracle.parsers.rule_events import (
    SHADOW_PROMOTED,
    SHADOW_ROLLED_OUT,
    SHADOW_STARTED,
    SHADOW_TYPES,
    Content,
    Positioned,
    RuleEvent,
    Settings,
    Version,
)
from tests.oracle.values.canonical_json import bucket
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
        self._shadows: dict[int, Version] = {}
        self._tried: set[tuple[int, int]] = set()
        self._percents: dict[tuple[int, int], int] = {}

    def take(self, event: Positioned) -> bool:
        """Apply one event, or say that it changes nothing: only the next position is taken, and only by an event
        that can be read."""
        if event.position <= self._taken:
            return False
        if event.position > self._taken + 1:
            self.ahead += 1
            return False
        if event.content is None or self._contradicts(event.content):
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

    def _contradicts(self, content: Content) -> bool:
        """A definition whose number is not above all that the rule has, or of no shadow a promotion or a rollout, or a
        rollout that is no wider than the one before, or to all."""
        if not isinstance(content, RuleEvent) or not self.exists(content.version.rule_id):
            return False
        rule_id, number = content.version.rule_id, content.version.number
        shadow = self._shadows.get(rule_id)
        if content.type in ("RulePublished", SHADOW_STARTED):
            return number <= (shadow or self.newest(rule_id)).number
        if content.type not in (SHADOW_PROMOTED, SHADOW_ROLLED_OUT):
            return False
        if shadow is None or number != shadow.number:
            return True
        return content.type == SHADOW_ROLLED_OUT and not self._percent(shadow) < content.percent < 100

    def _percent(self, shadow: Version) -> int:
        return self._percents.get((shadow.rule_id, shadow.number), 0)

    def _apply(self, event: RuleEvent) -> bool:
        rule_id = event.version.rule_id
        if event.type == "RulePublished":
            self._publish(event)
            return True
        is_known = rule_id in self._states
        if event.type in SHADOW_TYPES:
            if is_known:
                self._apply_to_shadow(event)
            return is_known
        if event.type == "RuleDeleted":
            self._shadows.pop(rule_id, None)
        if is_known or event.type == "RuleDeleted":
            self._states[rule_id] = _NEXT_STATE[event.type]
        return is_known

    def _apply_to_shadow(self, event: RuleEvent) -> None:
        rule_id = event.version.rule_id
        if event.type == SHADOW_ROLLED_OUT:
            self._percents[rule_id, event.version.number] = event.percent
            return
        before = self._shadows.pop(rule_id, None)
        if event.type == SHADOW_STARTED:
            self._shadows[rule_id] = event.version
            self._tried.add((rule_id, event.version.number))
        elif event.type == SHADOW_PROMOTED and before is not None:
            self._versions[rule_id].append(before)

    def shadow(self, rule_id: int) -> Version | None:
        """The version that runs beside those of a rule, if there is one."""
        return self._shadows.get(rule_id)

    def is_shadow(self, version: Version) -> bool:
        """True if it runs beside its rule's versions now."""
        shadow = self.shadow(version.rule_id)
        return shadow is not None and shadow.number == version.number

    def counts(self, version: Version, group: dict[str, str], event_time: int) -> bool:
        """True if the version's alert about that group and time is told to all: among a rule's groups on trial that of
        the shadow, as far as it judges, and among all others those of the rule's versions."""
        shadow = self.shadow(version.rule_id)
        if shadow is None or event_time < shadow.effective_from or has_expired(shadow, event_time):
            return not self.is_shadow(version)
        return self.is_shadow(version) == (bucket(version.rule_id, group) < self._percent(shadow))

    def was_tried(self, version: Version) -> bool:
        """True if it is a shadow, or was one before it was promoted."""
        return (version.rule_id, version.number) in self._tried

    def all_held(self) -> list[Version]:
        """All that have not ended, and the shadows."""
        return [*self.held_versions(), *self._shadows.values()]

    def all_versions(self, rule_id: int) -> list[Version]:
        """Those of a known rule that have not ended, and its shadow."""
        shadow = self.shadow(rule_id)
        return self.live_versions(rule_id) + ([] if shadow is None else [shadow])

    def _publish(self, event: RuleEvent) -> None:
        rule_id = event.version.rule_id
        # It was to be compared with what is no more.
        self._shadows.pop(rule_id, None)
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

    def widest(self, versions: Iterable[Version], anchor: str, field: str) -> int:
        """The widest window, in ms, of those on the anchor that use the field; 0 if none does."""
        # Beyond the length of a bucket, buckets stand for the transactions.
        return max(
            (
                version.definition.window if version.definition.bucket is None else version.definition.bucket
                for version in versions
                if self.anchor(version) == anchor and field in version.definition.uses
            ),
            default=0,
        )


def has_expired(version: Version, event_time: int) -> bool:
    """True if the version, in force or not, judges nothing of that event time any more."""
    return version.effective_until is not None and event_time >= version.effective_until
