"""The state of one shard during a micro-batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.shard.anchor_state import AnchorState


@dataclass(frozen=True, slots=True)
class ShardState:
    """Everything that rule events, ticks, commands and transactions change.

    :ivar anchors: by name, in the event type's order
    """

    book: RuleBook
    watermarks: Watermarks
    anchors: Mapping[str, AnchorState]

    def restructure(self) -> None:
        """Maintain the windows that the rule book needs now."""
        for name, anchor in self.anchors.items():
            anchor.restructure(WindowPlan.of(self.book, name))
