"""What commands of operators do to the state of a shard, at their place among the rule events."""

from __future__ import annotations

from tripline_engine.domain.commands import ClearRule, ClearState, Command, VoidTransaction
from tripline_engine.domain.head import Head
from tripline_engine.domain.projection import Projection
from tripline_engine.domain.records import StateLog


def obey(command: Command, projection: Projection, head: Head, log: StateLog) -> None:
    """Change what follows from a command beside the rule book, which has taken it.

    Windows and firing states that are forgotten are built again when the projection is restructured.
    """
    match command:
        case ClearState():
            _clear_state(projection, head, log)
        case ClearRule(rule_id) if rule_id in projection.book.rules:
            _clear_rule(rule_id, projection, head, log)
        case VoidTransaction(transaction_id, event_time):
            for name, anchor in projection.anchors.items():
                head.segments[name].void(anchor.void(transaction_id, event_time, head.visibility))
        case _:
            pass


def _clear_state(projection: Projection, head: Head, log: StateLog) -> None:
    head.visibility.clear(projection.book.settings)
    for name, anchor in projection.anchors.items():
        anchor.clear()
        head.segments[name].clear()
        head.firing[name].clear(log)


def _clear_rule(rule_id: int, projection: Projection, head: Head, log: StateLog) -> None:
    head.visibility.clear_rule(rule_id, projection.book.settings)
    for name, anchor in projection.anchors.items():
        anchor.forget_firing(rule_id)
        head.firing[name].forget_rule(rule_id, log)
