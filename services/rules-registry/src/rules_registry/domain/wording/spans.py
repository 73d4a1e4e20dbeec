"""Lengths and moments of time as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_UNITS: Final = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))
_FEW: Final = 120
"""Up to here one unit is read more easily than two: 90 s, 100 min."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def span(seconds: int) -> str:
    """90 s, 20 min, 6 h, 30 days; what is no small number of one unit has several: 1 h 1 s."""
    count, unit = _in_one_unit(seconds)
    if count <= _FEW or unit == "day":
        return _said(count, unit)
    parts = []
    for size, name in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(_said(count, name))
    return " ".join(parts)


def span_change(before: int, after: int) -> str:
    """From one to the other, the unit once where it is the same: 20 → 30 min."""
    old, new = span(before), span(after)
    number, _, unit = old.partition(" ")
    if new.count(" ") == 1 and new.endswith(f" {unit}"):
        return f"{number} → {new}"
    return f"{old} → {new}"


def moment(milliseconds: int) -> str:
    """Event time in ms as ISO 8601 in UTC, with ms only where there are any."""
    time = _EPOCH + timedelta(milliseconds=milliseconds)
    text = time.isoformat(timespec="milliseconds" if time.microsecond else "seconds")
    return text.replace("+00:00", "Z")


def _in_one_unit(seconds: int) -> tuple[int, str]:
    return next((seconds // size, name) for size, name in _UNITS if seconds % size == 0)


def _said(count: int, unit: str) -> str:
    return f"{count} {unit}s" if unit == "day" and count != 1 else f"{count} {unit}"
