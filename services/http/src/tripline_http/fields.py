"""marshmallow fields that take exactly what OpenAPI says of them.

marshmallow's own read `"5"` and `5.0` as an integer and any Unicode digit in a query; the document says
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import marshmallow as ma

_DIGITS = re.compile(r"-?[0-9]{1,19}", re.ASCII)
DECIMAL_PATTERN = r"^-?[0-9]{1,18}(\.[0-9]{1,6})?$"
MAX_MS = 253_402_300_799_999
MAX_ID = 2_147_483_647
MAX_POSITION = 9_007_199_254_740_991


class BoundedInteger(ma.fields.Integer):
    """An integer of a JSON body, `low` to `high` inclusive; texts, booleans and fractions are refused."""

    def __init__(self, low: int, high: int, **kwargs: Any) -> None:
        check = ma.validate.Range(low, high, error=f"expected an integer from {low} to {high}")
        super().__init__(validate=check, **kwargs)
        self._expected = f"expected an integer from {low} to {high}"

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> int:
        del attr, data
        if isinstance(value, bool) or not isinstance(value, int):
            raise ma.ValidationError(self._expected)
        return value


class QueryInteger(BoundedInteger):
    """An integer of a query string: ASCII digits, `low` to `high` inclusive."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> int:
        del attr, data
        if not isinstance(value, str) or not _DIGITS.fullmatch(value):
            raise ma.ValidationError(self._expected)
        return int(value)


class _Whole(ma.validate.Regexp):
    """`$` as JSON Schema has it: nothing follows, a line's end neither."""

    def __call__(self, value: Any) -> Any:
        if self.regex.fullmatch(value) is None:
            raise ma.ValidationError(self._format_error(value))
        return value


class Text(ma.fields.String):
    """A text of `low` to `high` code points that Postgres can hold: no U+0000, no lone surrogate."""

    def __init__(self, low: int, high: int, *, pattern: str | None = None, **kwargs: Any) -> None:
        checks: list[Any] = [ma.validate.Length(low, high)]
        if pattern is not None:
            checks.append(_Whole(pattern))
        super().__init__(validate=checks, **kwargs)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if not is_storable(text):
            raise ma.ValidationError("a text may hold neither U+0000 nor lone surrogates")
        return text


class DecimalText(ma.fields.String):
    """An exact decimal; it travels as a plain string."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"pattern": DECIMAL_PATTERN, "example": "1000.01", **kwargs.pop("metadata", {})}
        super().__init__(metadata=metadata, **kwargs)


def is_storable(text: str) -> bool:
    """True for a text that Postgres can hold."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
