"""The anchor that a rule runs on."""

from __future__ import annotations

from tripline_contracts.event_type import GLOBAL_ANCHOR, EventType, Party
from tripline_contracts.rules.rule_definition import RuleDefinition


def anchor_of(definition: RuleDefinition, event_type: EventType) -> str:
    """The first of the event type's anchors that every condition groups by, else "global" (one shard).

    Equal values of an anchor meet in one shard, so a rule is exact in the shards of any anchor that it groups by
    throughout. A party that it groups by comes before all of them: there alone are entries.
    """
    party = party_of(definition, event_type)
    if party is not None:
        return party.name
    shared = definition.shared_fields
    return next((anchor for anchor in event_type.anchors if anchor in shared), GLOBAL_ANCHOR)


def party_of(definition: RuleDefinition, event_type: EventType) -> Party | None:
    """The party by whose entries the rule is judged; None for a rule that groups by fields alone."""
    shared = definition.shared_fields
    return next((party for party in event_type.parties if party.name in shared), None)
