"""The need of anchors: it begins and ends with rule versions, at their places in the order."""

from __future__ import annotations

from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import RuleApplied
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.shard_state import ShardState


class AnchorNeed:
    """The anchors that rules need, among those of a shard's state.

    :ivar needed: their names
    """

    def __init__(self, state: ShardState, config: EngineConfig, needed: frozenset[str] | None) -> None:
        """``needed``: those of the micro-batch before; None where all have been kept until now."""
        self._state, self._kept = state, frozenset(config.event_type.kept_anchors)
        self.is_on_demand = config.anchors_on_demand
        self.needed = frozenset(state.anchors)
        if self.is_on_demand and needed is not None:
            self.needed = needed
        elif self.is_on_demand:
            self.follow()

    def follow_event(self, applied: RuleApplied) -> None:
        """Begin or end a need with a rule event that the book has taken."""
        if applied.rule_id not in self._state.book.rules:
            self.follow()
        elif applied.newest.anchor not in self.needed and not applied.newest.is_shadow:
            # asked for alone: with ten thousand rules at once nobody goes through the others for each
            self._change(self.needed | {applied.newest.anchor})

    def follow(self) -> None:
        """Let the need be what the book's versions say now."""
        if self.is_on_demand:
            self._change(self._kept | _in_use(self._state.book, frozenset(self._state.anchors) - self._kept))

    @property
    def mask(self) -> int:
        """Bit i says that the state's anchor i is needed."""
        return sum(1 << index for index, name in enumerate(self._state.anchors) if name in self.needed)

    def _change(self, needed: frozenset[str]) -> None:
        state, before = self._state, self.needed
        self.needed = needed
        for name in before - needed:
            state.anchors[name].forget()
            state.watermarks.end_anchor(name)
        for name in needed - before:
            state.watermarks.begin_anchor(name, state.book.settings)


def _in_use(book: RuleBook, anchors: frozenset[str]) -> frozenset[str]:
    """Those of the anchors on which the book holds a version, a paused rule's too; shadows need none."""
    missing = set(anchors)
    for version in book.live_versions():
        missing.discard(version.anchor)
        if not missing:
            break
    return anchors - missing
