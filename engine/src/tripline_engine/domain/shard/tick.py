"""A tick of engine-ticks.v1 as a shard gets it: the record's time, then the value."""

from __future__ import annotations

from typing import Final

import msgspec

from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_engine.domain.shard.engine_config import Clock

SKEW_MS: Final = 60_000
"""How far the driver's wall clock may be ahead of the broker's."""

MAX_TICK_BYTES: Final = 4 << 20
"""A longer one is unreadable, whatever it says: of such a value a reader may have no more than the beginning."""

_TIME_BYTES: Final = 8
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Tick(msgspec.Struct):
    clock: int


class UnreadableTick(Exception):
    """A tick that is no object with an integer `clock` in range."""


class TickAhead(Exception):
    """A tick beyond the time at which the broker appended it: no engine has written it."""


def tick_payload(record_time: int, value: bytes | None) -> bytes:
    """The payload of a tick.

    :param record_time: the record's time in ms, the broker's own (`LogAppendTime`); -1 if it has none
    """
    return max(record_time, 0).to_bytes(_TIME_BYTES, "big") + (value or b"")


def read_tick(payload: bytes, mode: Clock) -> int:
    """The record clock (ms) that the tick says.

    With old data there is no wall clock to be compared with.

    :raises UnreadableTick: and TickAhead
    """
    if len(payload) > _TIME_BYTES + MAX_TICK_BYTES:
        raise UnreadableTick(f"more than {MAX_TICK_BYTES} bytes")
    try:
        clock = msgspec.json.decode(payload[_TIME_BYTES:], type=_Tick).clock
    except _UNREADABLE as error:
        raise UnreadableTick(str(error)) from error
    if not 0 <= clock <= MAX_TIMESTAMP:
        raise UnreadableTick(f"clock {clock} is out of range")
    appended = int.from_bytes(payload[:_TIME_BYTES], "big")
    if mode == "wall" and clock > appended + SKEW_MS:
        raise TickAhead(f"clock {clock} is {clock - appended} ms ahead of the record's own time")
    return clock
