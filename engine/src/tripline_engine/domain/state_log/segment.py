"""One run of accepted transactions in the state log, and how far its fields are still needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

_EVERYTHING: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Segment:
    """One run in the log.

    :ivar number: grows along the log of the anchor
    :ivar level: how often it has been compacted
    :ivar newest: the latest event time in it, ms
    :ivar newest_record: the latest record time in it, ms
    :ivar dropped_fields: the fields that none of it has any more
    :ivar is_manifest: whether its entry is a page: a list of the segments, in order, that it consists of
    """

    number: int
    rows: int
    level: int
    newest: int
    newest_record: int
    dropped_fields: frozenset[str] = frozenset()
    is_manifest: bool = False

    def to_json(self) -> list[Any]:
        """As stored in the head record."""
        stored = [self.number, self.rows, self.level, self.newest, self.newest_record]
        if self.is_manifest:
            return [*stored, sorted(self.dropped_fields), True]
        return [*stored, sorted(self.dropped_fields)] if self.dropped_fields else stored

    @staticmethod
    def of_json(stored: list[Any]) -> Segment:
        """As ``to_json`` gave it."""
        number, rows, level, newest, newest_record, *more = stored
        return Segment(number, rows, level, newest, newest_record, frozenset(*more[:1]), len(more) > 1)


class PruneBounds(NamedTuple):
    """Up to where nothing asks for a field any more.

    :ivar time: no rule, present or to come, can see it in what has a lower event time, ms
    :ivar sequence: and no bucket set has to read it in what has a lower sequence number
    :ivar record: and no remembered id rests on it in what has a lower record time, ms
    """

    time: int
    sequence: int = _EVERYTHING
    record: int = _EVERYTHING
