"""Bytes of rules.v1 as an event with a position, whatever else can be read of it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from tripline_contracts.event_members import is_integer
from tripline_engine.domain.rules.rule_events import UnreadableRuleEvent

MAX_EVENT_BYTES: Final = 4 << 20
"""A longer event is unreadable, whatever it says: rules.v1 takes a quarter of that, and of a longer one a reader may
have no more than the beginning."""


def decode(data: bytes) -> dict[str, Any]:
    """The event's members, with an integer position. Raises UnreadableRuleEvent."""
    if len(data) > MAX_EVENT_BYTES:
        raise UnreadableRuleEvent(f"more than {MAX_EVENT_BYTES} bytes", None)
    try:
        event = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableRuleEvent(str(error), position_of(data)) from error
    if not isinstance(event, dict) or not is_integer(event.get("position")):
        raise UnreadableRuleEvent("expected an object with an integer position", None)
    return event


def position_of(data: bytes) -> int | None:
    """The event's position, even if nothing else of it can be read: a number may be beyond 64 bits, say."""
    if len(data) > MAX_EVENT_BYTES:
        return None
    try:
        position = msgspec.json.decode(data, type=_Positioned).position
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return position if is_integer(position) else None


class _Positioned(msgspec.Struct):
    position: int
