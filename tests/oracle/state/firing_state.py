"""Firing state: what a rule remembers of its own earlier judgements (semantics 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.oracle.parsers.rule_events import Version

Key: TypeAlias = "tuple[int, int, tuple[tuple[str, str], ...]]"
Forgotten: TypeAlias = "Callable[[Key], bool]"


class FiringState:
    """Kept per rule, definition version and group; a new version therefore starts afresh."""

    def __init__(self) -> None:
        self._evaluations: dict[Key, list[tuple[int, bool]]] = {}
        self._counted_from: dict[Key, int] = {}
        self._alerted: dict[Key, int] = {}

    def held_before(self, version: Version, group: dict[str, str], start: int) -> bool:
        """True if the previous in-order evaluation held and its event time is not before `start`."""
        earlier = self._evaluations.get(key_of(version, group), [])
        if not earlier:
            return False
        event_time, held = earlier[-1]
        return held and event_time >= start

    def evaluated(self, version: Version, group: dict[str, str], event_time: int, *, held: bool) -> None:
        """Note an in-order evaluation."""
        self._evaluations.setdefault(key_of(version, group), []).append((event_time, held))

    def counted_from(self, version: Version, group: dict[str, str]) -> int:
        """The sequence number, in the anchor's order of acceptance, from which transactions count."""
        return self._counted_from.get(key_of(version, group), 0)

    def reset(self, version: Version, group: dict[str, str], counted_from: int) -> None:
        """From now on only what was accepted from that sequence number on counts."""
        self._counted_from[key_of(version, group)] = counted_from

    def cooling(self, version: Version, group: dict[str, str], event_time: int) -> bool:
        """True if an alert due at that time falls into the cooldown of an earlier one."""
        cooldown = version.definition.cooldown
        alerted = self._alerted.get(key_of(version, group))
        return cooldown is not None and alerted is not None and alerted <= event_time < alerted + cooldown

    def alerted(self, version: Version, group: dict[str, str], event_time: int) -> None:
        """Note an alert that was given; the greatest event time counts, whatever comes late."""
        key = key_of(version, group)
        self._alerted[key] = max(event_time, self._alerted.get(key, event_time))

    def clear(self, forgotten: Forgotten) -> None:
        """Forget what is of such keys."""
        kinds: tuple[dict[Key, Any], ...] = (self._evaluations, self._counted_from, self._alerted)
        for states in kinds:
            for key in [key for key in states if forgotten(key)]:
                del states[key]


def key_of(version: Version, group: dict[str, str]) -> Key:
    """The key of firing state: rule, definition version, and the group as that version groups."""
    return version.rule_id, version.number, tuple(sorted(group.items()))
