"""Commands of operators applied to the state of a shard, at their place among the rule events."""

from __future__ import annotations

from tripline_contracts.control_commands import (
    ClearGroup,
    ClearRule,
    ClearState,
    Command,
    EndBackfill,
    StartBackfill,
    VoidTransaction,
)
from tripline_engine.domain.shard.shard_state import ShardState


def apply_command(command: Command, position: int, state: ShardState) -> None:
    """Change what follows from a command that the rule book has taken.

    Windows and firing states that are forgotten are built again when the shard's state is restructured.
    """
    book, watermarks, anchors = state.book, state.watermarks, state.anchors
    match command:
        case ClearState():
            watermarks.clear(book.settings)
            for anchor in anchors.values():
                anchor.clear()
        case ClearRule(rule_id) if rule_id in book.rules:
            watermarks.clear_rule(rule_id, book.settings)
            watermarks.sync_spans(book)
            for anchor in anchors.values():
                anchor.clear_rule(rule_id)
        case ClearGroup(rule_id, group) if rule_id in book.rules:
            for version in book.rules[rule_id].grouped_by(tuple(name for name, _ in group)):
                anchors[version.anchor].clear_group(version, group)
        case VoidTransaction(transaction_id, event_time):
            for anchor in anchors.values():
                anchor.void(transaction_id, event_time, position)
        case StartBackfill(backfill_id):
            book.backfills.add(backfill_id)
            watermarks.reopen(book.live_versions(), book.accepted)
        case EndBackfill(backfill_id, complete_from) if backfill_id in book.backfills:
            book.backfills.remove(backfill_id)
            if complete_from is not None:
                watermarks.complete(complete_from)
        case _:
            pass
