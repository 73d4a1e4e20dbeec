"""Records that nobody should accept: what really arrives on topics that others write to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tripline_contracts.event_type import EventType, Field

_OVERSIZED: Final = 600_000
_RARELY: Final = 500


class Breakage:
    """Ways to spoil the JSON of a transaction of one event type."""

    def __init__(self, event_type: EventType) -> None:
        required = [field for field in event_type.fields if field.required]
        self._ways: tuple[Callable[[bytes], bytes], ...] = (
            _truncated,
            _binary,
            _list,
            _two_in_one,
            _empty,
            *(_without(field) for field in required),
            *(_with(field, value) for field in required for value in _WRONG[field.kind]),
        )

    def broken(self, number: int, good: bytes) -> bytes:
        """`good` spoilt in one of the ways; which one is decided by the transaction's number."""
        if number % _RARELY == 0:
            return good[:-1] + b',"note":"' + b"x" * _OVERSIZED + b'"}'
        return self._ways[number % len(self._ways)](good)


_WRONG: Final[dict[str, tuple[Any, ...]]] = {
    "string": (True, "x" * 65),
    "timestamp": ("yesterday",),
    "decimal": ("twelve", "0.1234567"),
    "enum": ("none of these",),
    "ip": ("10.0.0.256", 1),
    "position": ("91,0", 1),
}


def _without(field: Field) -> Callable[[bytes], bytes]:
    def spoilt(good: bytes) -> bytes:
        record = json.loads(good)
        del record[field.name]
        return _as_bytes(record)

    return spoilt


def _with(field: Field, value: Any) -> Callable[[bytes], bytes]:
    def spoilt(good: bytes) -> bytes:
        return _as_bytes({**json.loads(good), field.name: value})

    return spoilt


def _as_bytes(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def _truncated(good: bytes) -> bytes:
    return good[: len(good) // 2]


def _binary(good: bytes) -> bytes:
    return bytes((byte * 151 + 13) % 256 for byte in good)


def _list(good: bytes) -> bytes:
    return b"[" + good + b"]"


def _two_in_one(good: bytes) -> bytes:
    return good + b"\n" + good


def _empty(good: bytes) -> bytes:
    return good[:0]
