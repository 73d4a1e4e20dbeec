"""The rules that need their history while many of them change in one go.

One change asks the database for the widest of each grouping set. A thousand changes in one transaction would ask a
thousand times; this reads the rules once and keeps each grouping set's windows in order.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from rules_registry.domain.rule import Rule
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import widest_windows

Grouping = tuple[str, ...]
# (-window in seconds, rule id, definition version, definition): the first of a sorted list is the widest; of equal
# windows the one with the lowest id. Ids differ, so nothing behind them is ever compared.
_Entry = tuple[int, int, int, RuleDefinition]


class ActiveRules:
    """Active and paused rules, each as it stands."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._entries: dict[int, dict[Grouping, _Entry]] = {}
        self._by_grouping: dict[Grouping, list[_Entry]] = {}
        for rule in rules:
            self.take(rule)

    def take(self, rule: Rule) -> None:
        """The rule stands like this now."""
        self._remove(rule.rule_id)
        if rule.state == "DELETED":
            return
        self._entries[rule.rule_id] = _entries_of(rule)
        for grouping, entry in self._entries[rule.rule_id].items():
            insort(self._by_grouping.setdefault(grouping, []), entry)

    def widest(self) -> tuple[Mapping[str, object], ...]:
        """The widest window of each grouping set, as rule events carry it."""
        heads = [entries[0] for entries in self._by_grouping.values()]
        return tuple(
            widest_windows((rule_id, version, definition) for _, rule_id, version, definition in heads)
        )

    def _remove(self, rule_id: int) -> None:
        for grouping, entry in self._entries.pop(rule_id, {}).items():
            entries = self._by_grouping[grouping]
            del entries[bisect_left(entries, entry)]
            if not entries:
                del self._by_grouping[grouping]


def _entries_of(rule: Rule) -> dict[Grouping, _Entry]:
    """Of each grouping that its measures have, one: that of the window which begins furthest back."""
    widest: dict[Grouping, int] = {}
    for measure in rule.definition.measures:
        grouping = measure.grouping_key_names
        widest[grouping] = max(widest.get(grouping, 0), measure.reach_seconds)
    return {
        grouping: (-window, rule.rule_id, rule.definition_version, rule.definition)
        for grouping, window in widest.items()
    }
