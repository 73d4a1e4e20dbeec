"""Named lists and numeric parameters: what their names and values may be, and how a definition refers to them.

They change without a new version of the rules that name them, so a definition carries the name alone:
`{"list": "watched"}`, `{"parameter": "high-amount"}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from tripline_contracts import decimals, spelling
from tripline_contracts.canonical import canonical_json
from tripline_contracts.errors import InvalidConstant, InvalidDecimal, InvalidNamedValue, Problem
from tripline_contracts.filters.filter_constants import read_text

Kind = Literal["list", "parameter"]
"""Each kind has names of its own: a list and a parameter may be called the same."""

NAME_PATTERN: Final = "[A-Za-z][A-Za-z0-9_-]{0,63}"
"""In any case, and case counts."""
EXPECTED_NAME: Final = "a name of 1 to 64 letters, digits, _ and -, a letter first"

MAX_VALUES: Final = 10_000
MAX_TEXT: Final = 64
"""Code points of one value: as long as the fields are that it is compared with."""
MAX_LIST_BYTES: Final = 512 * 1024
"""Of the list's canonical JSON: one event has to fit in a Kafka record."""

_NAME: Final = re.compile(NAME_PATTERN)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter where a number could stand."""

    name: str

    def to_json(self) -> dict[str, object]:
        """As a definition writes it."""
        return {"parameter": self.name}


def is_name(value: object) -> bool:
    """True for a valid name of a list or a parameter."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def read_name(value: object) -> str:
    """The name, as it stands. Raises InvalidNamedValue for what is none."""
    if not isinstance(value, str) or not is_name(value):
        raise _refused("name", f"expected {EXPECTED_NAME}; not {spelling.shown(value)}")
    return value


def read_reference(value: Mapping[object, object], kind: Kind) -> str:
    """The name in `{kind: name}`, the key in any case. Raises InvalidConstant, saying what was expected."""
    expected = f'expected {{"{kind}": name}}'
    if len(value) != 1:
        raise InvalidConstant(f"{expected}; not an object of {len(value)} members")
    ((key, name),) = value.items()
    if not isinstance(key, str) or key.casefold() != kind:
        raise InvalidConstant(f"{expected}; not {spelling.shown(key)}")
    if not isinstance(name, str) or not is_name(name):
        raise InvalidConstant(f"{expected} with {EXPECTED_NAME}; not {spelling.shown(name)}")
    return name


def read_list(values: object) -> tuple[str, ...]:
    """The values of a list: each once, ascending by code point, an integer as its decimal text.

    Raises InvalidNamedValue for the first of them that is none, for too many, and for more than MAX_LIST_BYTES.
    """
    if not isinstance(values, (list, tuple)):
        raise _refused("values", f"expected a list of texts, not {spelling.shown(values)}")
    read = tuple(sorted({_read_value(value, i) for i, value in enumerate(values)}))
    if len(read) > MAX_VALUES:
        raise _refused("values", f"expected at most {MAX_VALUES} values, not {len(read)}")
    size = len(canonical_json(list(read)))
    if size > MAX_LIST_BYTES:
        raise _refused("values", f"expected at most {MAX_LIST_BYTES} bytes of JSON, not {size}")
    return read


def read_parameter(value: object) -> Decimal:
    """The value of a parameter as a decimal(24,6). Raises InvalidNamedValue for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        what = "a float; send it as text" if isinstance(value, float) else spelling.shown(value)
        raise _refused("value", f"expected a decimal number, or its text, not {what}")
    try:
        return decimals.parse(value)
    except InvalidDecimal as error:
        raise _refused("value", str(error)) from error


def _read_value(value: object, index: int) -> str:
    try:
        return read_text(value, MAX_TEXT)
    except InvalidConstant as error:
        raise _refused(f"values[{index}]", str(error)) from error


def _refused(field: str, message: str) -> InvalidNamedValue:
    return InvalidNamedValue([Problem(field, message)])
