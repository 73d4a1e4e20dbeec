"""The anchor that a rule runs on."""

from __future__ import annotations

from tripline_contracts.event_type import GLOBAL_ANCHOR, EventType
from tripline_contracts.rules.rule_definition import RuleDefinition


def anchor_of(definition: RuleDefinition, event_type: EventType) -> str:
    """The first of the event type's anchors that every condition groups by, else "global" (one shard).

    Equal values of an anchor meet in one shard, so a rule is exact in the shards of any anchor that it groups by
    throughout.
    """
    shared = definition.shared_fields
    return next((anchor for anchor in event_type.anchors if anchor in shared), GLOBAL_ANCHOR)
