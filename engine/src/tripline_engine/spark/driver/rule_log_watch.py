"""Whether the shards follow rules.v1, or wait for an event that they cannot have."""

from __future__ import annotations


class RuleLogWatch:
    """Positions of rules.v1 at which shards have refused an event, by what they say after each micro-batch."""

    def __init__(self) -> None:
        self._waiting: dict[int, int] = {}

    def record(self, shard: int, position: int, *, is_waiting: bool) -> None:
        """Where a shard stands: `position` is that of the last event applied."""
        if is_waiting:
            self._waiting[shard] = position + 1
        else:
            self._waiting.pop(shard, None)

    @property
    def sentence(self) -> str | None:
        """The state and its remedies, for log and readiness probe; None while every event is applied."""
        if not self._waiting:
            return None
        return (
            f"rules.v1: an event was refused, and the next one to be applied is position {min(self._waiting.values())}:"
            " rule changes behind it have no effect. Redeliver the log from there (rules-registry republish"
            " --from POSITION); if the event is there and refused as unreadable, update the engine first"
        )
