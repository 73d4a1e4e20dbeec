"""Bucket sets of bucketed rules: which versions share one, and how far back it is kept (decision 0038)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.oracle.parsers.conditions import Condition
from tests.oracle.parsers.filters import Filter
from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.rule_events import Version
from tests.oracle.state.rule_book import RuleBook
from tests.oracle.windows.bucket_times import highest, next_start

# Anchor, fields, grouping, what triggers, what contributes, aggregate field, length, and what sets it apart.
_Key: TypeAlias = (
    "tuple[str, frozenset[str], tuple[Key, ...], object, tuple[Filter | None, ...], str | None, int, object]"
)


@dataclass(slots=True)
class BucketSet:
    """The buckets that versions share which bucket the same transactions in the same way.

    Nothing below `beginning`, in ms, was ever in it, nothing below `floor` is any more; None is no bound.
    `begun` is the position of rules.v1 at which it was.
    """

    beginning: int | None
    begun: int
    floor: int | None = None

    def lowest(self) -> int | None:
        """The lowest event time that may be in it."""
        return highest(self.beginning, self.floor)


class BucketSets:
    """The sets of all versions taken so far, one for each condition of a bucketed rule, in the order of the tree."""

    def __init__(self, rules: RuleBook) -> None:
        self._rules = rules
        self._of: dict[tuple[int, int], list[tuple[_Key, BucketSet]]] = {}
        self._apart: dict[int, int] = {}
        self._of_shadows: dict[tuple[int, int], int] = {}

    def of(self, version: Version) -> list[BucketSet]:
        """None of an exact one. Those of a version that is held no more are as it left them."""
        return [bucket_set for _, bucket_set in self._of[version.rule_id, version.number]]

    def take(self, version: Version, floor: int | None, position: int) -> None:
        """Find the sets of a version just taken among those held; begin what is not there at the floor."""
        made: list[tuple[_Key, BucketSet]] = []
        if self._rules.is_shadow(version):
            # Nobody shares its buckets, not even the rule's other versions.
            self._of_shadows[version.rule_id, version.number] = position
        for condition in version.definition.conditions if version.definition.bucket is not None else ():
            key = self._key(version, condition)
            candidates = [*self._held(), *made]
            matches = [other for other_key, other in candidates if other_key == key]
            made.append((key, matches[0] if matches else BucketSet(floor, position)))
        self._of[version.rule_id, version.number] = made

    def set_apart(self, rule_id: int, floor_of: Callable[[Version], int | None], position: int) -> None:
        """The rule is cleared: all its versions begin anew, and share with no other rule from now on."""
        self._apart[rule_id] = position
        held = self._rules.all_versions(rule_id)
        for version in held:
            self._of[version.rule_id, version.number] = []
            self._of_shadows.pop((version.rule_id, version.number), None)
        for version in held:
            self.take(version, floor_of(version), position)

    def rise(self, settled: int) -> None:
        """At a tick: what even the widest window does not reach back to is dropped, whole buckets at a time."""
        widest: dict[int, tuple[BucketSet, int, int]] = {}
        for version in self._rules.all_held():
            definition = version.definition
            for _, bucket_set in self._of[version.rule_id, version.number]:
                assert definition.bucket is not None
                _, window, _ = widest.get(id(bucket_set), (bucket_set, 0, 0))
                widest[id(bucket_set)] = (bucket_set, max(window, definition.window), definition.bucket)
        for bucket_set, window, length in widest.values():
            bucket_set.floor = highest(bucket_set.floor, next_start(settled - window - length, length))

    def _held(self) -> list[tuple[_Key, BucketSet]]:
        # The version just taken is held, but has none yet.
        return [
            pair
            for version in self._rules.all_held()
            for pair in self._of.get((version.rule_id, version.number), [])
        ]

    def _key(self, version: Version, condition: Condition) -> _Key:
        definition = version.definition
        only = [other.only for other in definition.conditions]
        # A condition without a filter is triggered by whatever passes the rule's.
        some: frozenset[Filter | None] = frozenset() if None in only else frozenset(only)
        assert definition.bucket is not None
        return (
            self._rules.anchor(version),
            definition.uses,
            condition.grouping,
            (definition.only, some),
            (definition.only, condition.only),
            condition.field,
            definition.bucket,
            self._sets_apart(version),
        )

    def _sets_apart(self, version: Version) -> object:
        began = self._of_shadows.get((version.rule_id, version.number))
        if began is not None:
            return version.rule_id, "shadow", began
        return None if version.rule_id not in self._apart else (version.rule_id, self._apart[version.rule_id])
