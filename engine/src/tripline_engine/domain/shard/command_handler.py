"""What commands of operators do to the state of a shard, at their place among the rule events."""

from __future__ import annotations

from tripline_engine.domain.rules.commands import (
    ClearGroup,
    ClearRule,
    ClearState,
    Command,
    EndBackfill,
    StartBackfill,
    VoidTransaction,
)
from tripline_engine.domain.rules.exclusions import Group
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.shard.projection import Projection
from tripline_engine.domain.state_log.head import Head
from tripline_engine.domain.state_log.state_log import StateLog


def apply_command(command: Command, position: int, projection: Projection, head: Head, log: StateLog) -> None:
    """Change what follows from a command that the rule book has taken.

    Windows and firing states that are forgotten are built again when the projection is restructured.
    """
    match command:
        case ClearState():
            _clear_state(projection, head, log)
        case ClearRule(rule_id) if rule_id in projection.book.rules:
            _clear_rule(rule_id, projection, head, log)
        case ClearGroup(rule_id, group) if rule_id in projection.book.rules:
            for version in projection.book.rules[rule_id].grouped_by(tuple(name for name, _ in group)):
                _clear_group(version, group, projection, head, log)
        case VoidTransaction(transaction_id, event_time):
            for name, anchor in projection.anchors.items():
                sequences = anchor.void(transaction_id, event_time, head.visibility)
                head.segments[name].void(sequences, position, head.visibility.lateness_floor)
        case StartBackfill(name):
            projection.book.backfills.add(name)
        case EndBackfill(name, complete_from) if name in projection.book.backfills:
            projection.book.backfills.remove(name)
            if complete_from is not None:
                head.visibility.complete(complete_from)
        case _:
            pass


def _clear_state(projection: Projection, head: Head, log: StateLog) -> None:
    head.visibility.clear(projection.book.settings)
    for name, anchor in projection.anchors.items():
        anchor.clear()
        segments = head.segments[name]
        segments.clear()
        head.firing[name].clear(log)
        head.buckets[name].clear(segments.accepted, log)


def _clear_rule(rule_id: int, projection: Projection, head: Head, log: StateLog) -> None:
    head.visibility.clear_rule(rule_id, projection.book.settings)
    head.visibility.sync_spans(projection.book)
    for name, anchor in projection.anchors.items():
        anchor.close_firing(rule_id)
        head.firing[name].forget_rule(rule_id, log)


def _clear_group(
    version: RuleVersion, group: Group, projection: Projection, head: Head, log: StateLog
) -> None:
    anchor = projection.anchors[version.anchor]
    anchor.close_firing(version.rule_id)
    if version.definition.late_events != "reevaluate":
        # there the states are not of groups but of transactions, which are in no list any more
        head.firing[version.anchor].forget_group(version.key, anchor.group_identity(group), log)
