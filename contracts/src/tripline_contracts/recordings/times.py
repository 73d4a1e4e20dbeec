"""Times as files have them, as ms since the epoch: never by way of a float, and never by a guess.

What is finer than a millisecond is cut off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Final

from tripline_contracts.errors import InvalidTime
from tripline_contracts.recordings.file_mapping import Count, Iso, Pattern, TimeForm

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_ISO: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:[.,]([0-9]{1,9}))?"
    r" ?(Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?",
    re.ASCII,
)
_NUMBER: Final = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,12}))?", re.ASCII)
_LEAST_MS: Final = 10**11
"""In 1973. A smaller number of a file whose mapping says nothing may as well be of seconds."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How a time is read.

    :ivar zone: of times that name none; None: such are refused
    """

    form: TimeForm
    zone: tzinfo | None

    def instant(self, value: object) -> int:
        """ms since the epoch. Raises InvalidTime with the reason."""
        if isinstance(value, datetime):
            return self._of_moment(value)
        if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
            raise InvalidTime(f"expected a time, not {value!r}")
        match self.form:
            case Count(unit_ms, since):
                return since + _counted(str(value), unit_ms)
            case Iso():
                return self._iso(str(value))
            case Pattern(text):
                return self._by_pattern(str(value), text)

    def _iso(self, text: str) -> int:
        match = _ISO.fullmatch(text)
        if match is None:
            raise InvalidTime(
                f"{_short(text)} is not in ISO 8601 with a time of day (2021-06-01T12:00:00Z); if it is in another"
                " form, the mapping has to say which (`form`)"
            )
        day, minute, second, fraction, zone = match.groups()
        micros = (fraction or "").ljust(6, "0")[:6]
        zone = "+00:00" if zone in ("Z", "z", "UTC") else zone or ""
        try:
            moment = datetime.fromisoformat(f"{day}T{minute}{second or ':00'}.{micros}{zone}")
        except ValueError:
            raise InvalidTime(f"there is no time {_short(text)}") from None
        return self._of_moment(moment)

    def _by_pattern(self, text: str, pattern: str) -> int:
        try:
            moment = datetime.strptime(text, pattern)  # noqa: DTZ007  # the zone comes next
        except ValueError:
            raise InvalidTime(f"{_short(text)} is not of the form {pattern}") from None
        return self._of_moment(moment)

    def _of_moment(self, moment: datetime) -> int:
        if moment.tzinfo is None:
            moment = self._in_zone(moment)
        try:
            elapsed = moment - _EPOCH
        except OverflowError:
            raise InvalidTime(f"{moment.isoformat()} is beyond what a time can be") from None
        return elapsed // _MILLISECOND

    def _in_zone(self, moment: datetime) -> datetime:
        shown = moment.isoformat(" ")
        if self.zone is None:
            raise InvalidTime(f"{shown} has no zone; the mapping has to say which clock it is (`timeZone`)")
        first, second = moment.replace(tzinfo=self.zone), moment.replace(tzinfo=self.zone, fold=1)
        if first.utcoffset() == second.utcoffset():
            return first
        back = first.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None)
        how_often = "there twice" if back == moment else "skipped"
        raise InvalidTime(
            f"{shown} is {how_often} in {self.zone}, where clocks change; expected it with an offset"
        )


def guessed_by_nobody(value: object) -> int:
    """A count in a file of ours, whose counts are ms; one so small that it may be seconds is refused."""
    milliseconds = _counted(str(value), 1)
    if milliseconds < _LEAST_MS:
        raise InvalidTime(
            f"{_short(str(value))} may be seconds or milliseconds; the mapping has to say which"
            " (`form: epoch-seconds` or `form: epoch-milliseconds`)"
        )
    return milliseconds


def _counted(text: str, unit_ms: int) -> int:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise InvalidTime(f"{_short(text)} is not a count since an instant; expected digits")
    whole, fraction = match.group(1), match.group(2) or ""
    # a fraction of a ms, of an export that has six places for all numbers, is cut off
    return int(whole) * unit_ms + int(fraction or "0") * unit_ms // int(10 ** len(fraction))


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
