"""Positions on the earth, each in one normal form: latitude and longitude in degrees, as `52.520008,13.404954`.

North and east are positive. Of decimals there are at most six, eleven centimetres; zeros at their end are left out, and
so is the sign of a zero. The meridian of 180 degrees is written `180`, never `-180`, and at the poles the longitude is
0: one place is one text.
"""

from __future__ import annotations

import re
from typing import Final

from tripline_contracts import decimals

LONGEST_POSITION: Final = 23
"""Characters: both numbers with sign and all decimals, a comma, a space."""
EXPECTED_POSITION: Final = (
    "latitude and longitude in degrees with at most 6 decimals, as in 52.520008,13.404954"
)
WRITTEN_POSITION: Final = (
    r"-?(90(\.0{1,6})?|[1-8]?[0-9](\.[0-9]{1,6})?), ?"
    r"-?(180(\.0{1,6})?|(1[0-7][0-9]|[1-9]?[0-9])(\.[0-9]{1,6})?)"
)
"""A regular expression of all that is read, for JSON Schemas too."""

_WRITTEN: Final = re.compile(WRITTEN_POSITION)
# What is in normal form already, as nearly all are; poles and the meridian of 180 degrees are looked at closely.
_NORMAL: Final = re.compile(
    r"(?!-0,)-?[1-8]?[0-9](\.[0-9]{0,5}[1-9])?,(?!-0$)-?(1[0-7][0-9]|[1-9]?[0-9])(\.[0-9]{0,5}[1-9])?"
)
_POLE: Final = 90 * decimals.SCALE
_DATE_LINE: Final = 180 * decimals.SCALE


def normal_position(text: str) -> str | None:
    """The position in its normal form; None for what is none."""
    if _NORMAL.fullmatch(text):
        return text
    if len(text) > LONGEST_POSITION or not _WRITTEN.fullmatch(text):
        return None
    latitude, longitude = (decimals.parse_scaled(number) for number in text.replace(" ", "").split(","))
    if abs(latitude) == _POLE:
        longitude = 0
    elif longitude == -_DATE_LINE:
        longitude = _DATE_LINE
    return f"{decimals.plain_scaled(latitude)},{decimals.plain_scaled(longitude)}"
