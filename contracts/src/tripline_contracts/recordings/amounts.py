"""Numbers as files have them, exactly: with a decimal comma or marks of thousands when told, and never by a guess."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tripline_contracts.errors import InvalidDecimal

_SPACES: Final = str.maketrans(dict.fromkeys("\u00a0\u202f\u2009", " "))


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a file writes numbers.

    :ivar thousands: what stands between thousands; None is nothing
    :ivar shortest_floats: binary numbers are read as the shortest decimal that means them
    """

    decimal_comma: bool = False
    thousands: str | None = None
    shortest_floats: bool = False

    def plain(self, value: object) -> str | int | Decimal:
        """The number in the spelling that all of Tripline reads. Raises InvalidDecimal with the reason."""
        if isinstance(value, float):
            if not self.shortest_floats:
                raise InvalidDecimal(
                    f"{value!r} is a binary floating-point number, which is no exact amount; expected a decimal, or"
                    " `floats: shortest` in the mapping, for the shortest decimal that means it"
                )
            return repr(value)
        if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
            raise InvalidDecimal(f"expected a number, not {value!r}")
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = text.translate(_SPACES)
        point = "," if self.decimal_comma else "."
        other = "." if self.decimal_comma else ","
        if self.thousands is not None and self.thousands in text:
            text = self._without_thousands(text, point)
        elif other in text:
            raise InvalidDecimal(_ambiguous(text, "a point" if other == "." else "a comma"))
        return text.removeprefix("+").replace(point, ".")

    def _without_thousands(self, text: str, point: str) -> str:
        assert self.thousands is not None
        mark = re.escape(self.thousands)
        if not re.fullmatch(rf"[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:{re.escape(point)}[0-9]+)?", text):
            raise InvalidDecimal(f"{text!r} does not have {self.thousands!r} between thousands")
        return text.replace(self.thousands, "")


def _ambiguous(text: str, mark: str) -> str:
    return (
        f"{text!r} has {mark}, which may stand between thousands or before the decimals; the mapping has to say which"
        " (`decimalComma`, `thousands`)"
    )
