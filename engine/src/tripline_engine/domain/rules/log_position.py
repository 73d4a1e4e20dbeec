"""Where a shard stands in rules.v1, and when it says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The last event applied.

    :ivar digest: of the events after position `digest_from`, by `tripline_contracts.log_digest`
    :ivar is_waiting: whether an event was refused since: the shard waits for the position behind this one
    """

    position: int
    digest: str
    digest_from: int
    is_waiting: bool


@dataclass(frozen=True, slots=True)
class PositionReport:
    """The last report: what it said of the position, and the record clock (ms) at which."""

    position: int
    is_waiting: bool
    clock: int

    def to_json(self) -> list[Any]:
        """The JSON that is stored in the head record."""
        return [self.position, self.is_waiting, self.clock]


def is_report_due(
    log_position: LogPosition, reported: PositionReport | None, before: int | None, clock: int
) -> bool:
    """Whether the tick from record clock `before` to `clock` (ms) is to be followed by a report.

    At most once a minute, if there is something new to say, else once an hour.
    """
    if before is not None and before // _MINUTE_MS == clock // _MINUTE_MS:
        return False
    if reported is None or (reported.position, reported.is_waiting) != (
        log_position.position,
        log_position.is_waiting,
    ):
        return True
    return clock - reported.clock >= _HOUR_MS
