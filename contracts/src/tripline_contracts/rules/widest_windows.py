"""The widest window per grouping set: how far back the engine has to keep history, and for which rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tripline_contracts.rules.grouping_keys import grouping_json, key_of_json
from tripline_contracts.rules.rule_definition import RuleDefinition

Needing = tuple[int, int, RuleDefinition]
"""Rule id, definition version and definition of a rule that needs history: active and paused ones, not deleted ones."""
# Of a grouping set (-window in seconds, rule id, definition version): the least is the widest.
_Widest = dict[tuple[str, ...], tuple[int, int, int]]


def widest_windows(rules: Iterable[Needing]) -> list[dict[str, object]]:
    """The `widestWindows` of a rule event, from the rules that need history.

    One entry per grouping set, sorted by its names; a chained rule needs the history of each measure's grouping, as
    far back as its window begins.
    Of equal windows the lowest rule id is named, and of one rule the lowest version, so that the result does not
    depend on the order of `rules`.
    """
    return _listed(_widest(rules))


def widest_windows_after(
    before: Sequence[Mapping[str, Any]], rule_id: int, rule: Needing | None
) -> list[dict[str, object]] | None:
    """The same after a change of one rule, `None` where it needs nothing any more, from the `widestWindows` before it.

    None where these do not tell: the widest window of a grouping set was this rule's, and it has none there now, or a
    narrower one, so that any other rule's may be next.
    """
    widest: _Widest = {
        tuple(map(key_of_json, entry["groupingKeyNames"])): (
            -entry["windowSeconds"],
            entry["ruleId"],
            entry["version"],
        )
        for entry in before
    }
    fresh = _widest([] if rule is None else [rule])
    for grouping, (negated_window, owner, _) in widest.copy().items():
        if owner != rule_id:
            continue
        if grouping not in fresh or fresh[grouping][0] > negated_window:
            return None
        del widest[grouping]
    for grouping, candidate in fresh.items():
        widest[grouping] = min(widest.get(grouping, candidate), candidate)
    return _listed(widest)


def _widest(rules: Iterable[Needing]) -> _Widest:
    widest: _Widest = {}
    for rule_id, version, definition in rules:
        for measure in definition.measures:
            grouping = measure.grouping_key_names
            candidate = (-measure.reach_seconds, rule_id, version)
            widest[grouping] = min(widest.get(grouping, candidate), candidate)
    return widest


def _listed(widest: _Widest) -> list[dict[str, object]]:
    return [
        {
            "groupingKeyNames": grouping_json(grouping),
            "windowSeconds": -negated_window,
            "ruleId": rule_id,
            "version": version,
        }
        for grouping, (negated_window, rule_id, version) in sorted(widest.items())
    ]
