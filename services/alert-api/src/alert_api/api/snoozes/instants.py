"""Instants as RFC 3339 writes them: with an offset, for a time without one is another instant in each zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

PATTERN: Final = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
EXPECTED: Final = "expected an instant of RFC 3339 with an offset, like 2027-01-31T18:00:00+01:00"
_INSTANT: Final = re.compile(PATTERN, re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def ms_of(text: str) -> int | None:
    """ms since the epoch; None for any other text. Of a fraction three digits count."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    fraction = match[4] or ""
    try:
        instant = datetime.fromisoformat(text.replace(fraction, "", 1) if fraction else text)
    except ValueError:
        return None  # no such day
    return (instant - _EPOCH) // timedelta(milliseconds=1) + int(fraction[1:4].ljust(3, "0"))
