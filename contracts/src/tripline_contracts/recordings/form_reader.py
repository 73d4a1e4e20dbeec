"""Forms of times as a mapping file says them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from tripline_contracts.errors import InvalidTime
from tripline_contracts.recordings.file_mapping import Count, Iso, Pattern, TimeForm
from tripline_contracts.recordings.times import Clock

_UNITS: Final = {
    "milliseconds": 1,
    "seconds": 1_000,
    "minutes": 60_000,
    "hours": 3_600_000,
    "days": 86_400_000,
}
_NAMED: Final[dict[str, TimeForm]] = {
    "epoch-seconds": Count(1_000),
    "epoch-milliseconds": Count(1),
    "iso-8601": Iso(),
}
_EXPECTED: Final = (
    f"expected {', '.join(_NAMED)}, a pattern as %d.%m.%Y %H:%M:%S, or"
    f" {{unit: {'|'.join(_UNITS)}, since: an instant}}"
)
_SOME_TIME: Final = datetime(2021, 11, 23, 21, 43, 35, 123_000, tzinfo=UTC)


def read_form(entry: object) -> TimeForm:
    """The form that the entry says. Raises InvalidTime with what was expected."""
    if isinstance(entry, dict):
        return _count(entry)
    if isinstance(entry, str) and entry in _NAMED:
        return _NAMED[entry]
    if isinstance(entry, str) and "%" in entry:
        return _pattern(entry)
    raise InvalidTime(_EXPECTED)


def _count(entry: dict[str, object]) -> Count:
    unit, since = entry.get("unit"), entry.get("since")
    if set(entry) != {"unit", "since"} or not isinstance(unit, str) or unit not in _UNITS:
        raise InvalidTime(_EXPECTED)
    return Count(_UNITS[unit], Clock(Iso(), None).instant(since))


def _pattern(text: str) -> Pattern:
    """One that says a whole date, and that Python can read."""
    try:
        back = datetime.strptime(_SOME_TIME.strftime(text), text)  # noqa: DTZ007  # its date alone is looked at
    except (ValueError, re.error) as error:
        # strptime makes a regular expression, which has no group twice
        raise InvalidTime(f"{text!r} can't be read as a pattern: {error}") from None
    if back.date() != _SOME_TIME.date():
        raise InvalidTime(f"{text!r} does not say year, month and day; {_EXPECTED}")
    return Pattern(text)
