"""The widest window per grouping set: how far back the engine has to keep history, and for which rule."""

from __future__ import annotations

from collections.abc import Iterable

from tripline_contracts.rules.rule_definition import RuleDefinition


def widest_windows(rules: Iterable[tuple[int, int, RuleDefinition]]) -> list[dict[str, object]]:
    """The `widestWindows` of a rule event, from (rule id, definition version, definition) of the rules that
    need history: active and paused ones, not deleted ones.

    One entry per grouping set, sorted by its names; a chained rule needs the history of each condition's grouping.
    Of equal windows the lowest rule id is named, and of one rule the lowest version, so that the result does not
    depend on the order of `rules`.
    """
    widest: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for rule_id, version, definition in rules:
        for condition in definition.measured:
            grouping = condition.grouping_key_names
            candidate = (-condition.window_seconds, rule_id, version)
            widest[grouping] = min(widest.get(grouping, candidate), candidate)
    return [
        {
            "groupingKeyNames": list(grouping),
            "windowSeconds": -negated_window,
            "ruleId": rule_id,
            "version": version,
        }
        for grouping, (negated_window, rule_id, version) in sorted(widest.items())
    ]
