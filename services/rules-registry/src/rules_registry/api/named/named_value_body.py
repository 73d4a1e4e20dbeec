"""The bodies of PUT of a list and of a parameter, and the name in their address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from tripline_contracts.errors import InvalidNamedValue
from tripline_contracts.filters import named_values
from tripline_contracts.filters.filter_constants import WHOLE_BOUND
from tripline_http.errors import FieldError, invalid_input
from tripline_http.fields import DECIMAL_PATTERN

Json = dict[str, Any]
T = TypeVar("T")

LIST_BODY: Final = "ListBody"
PARAMETER_BODY: Final = "ParameterBody"
NAME_SCHEMA: Json = {"type": "string", "pattern": f"^{named_values.NAME_PATTERN}$"}
NAME_DOC: Json = {"in": "path", "name": "name", "required": True, "schema": NAME_SCHEMA}

MAX_BODY_BYTES: Final = 3 * named_values.MAX_LIST_BYTES
"""A list's JSON, each of its characters written as an escape where the sender's writer does so."""


def read_named_body(
    name: str, body: Mapping[str, Any], member: str, read: Callable[[object], T]
) -> tuple[str, T]:
    """The checked name, and the value that `read` makes of the one member that the body may have.

    Raises the 422 problem that names every wrong field.
    """
    errors = [FieldError(other, "unknown field") for other in body if other != member]
    checked_name = _read(named_values.read_name, name, errors)
    value = _read(read, body.get(member), errors)
    values = body.get(member)
    # the contracts read a set: a program should not send what cannot be one
    if isinstance(values, list) and len(values) > named_values.MAX_VALUES and not errors:
        errors.append(
            FieldError(member, f"expected at most {named_values.MAX_VALUES} values, not {len(values)}")
        )
    if errors:
        raise invalid_input(errors)
    return checked_name, value


def named_body_schemas() -> dict[str, Json]:
    """The two bodies in JSON Schema."""
    whole = {"minimum": 1 - WHOLE_BOUND, "maximum": WHOLE_BOUND - 1}
    text = {"minLength": 1, "maxLength": named_values.MAX_TEXT, "pattern": "^[^\\u0000]*$"}
    values = {
        "type": "array",
        "maxItems": named_values.MAX_VALUES,
        "items": {"type": ["string", "integer"], **text, **whole},
        "description": "A set: order and repetition say nothing, an integer is its decimal text. At most "
        f"{named_values.MAX_LIST_BYTES} bytes of JSON",
    }
    value = {
        "type": ["string", "integer"],
        "pattern": DECIMAL_PATTERN,
        **whole,
        "description": "decimal(24,6) as text, or a whole number",
    }
    return {LIST_BODY: _closed("values", values), PARAMETER_BODY: _closed("value", value)}


def _read(read: Callable[[Any], Any], value: object, errors: list[FieldError]) -> Any:
    try:
        return read(value)
    except InvalidNamedValue as invalid:
        errors += [FieldError(problem.field, problem.message) for problem in invalid.problems]
        return None


def _closed(member: str, schema: Json) -> Json:
    return {
        "type": "object",
        "properties": {member: schema},
        "required": [member],
        "additionalProperties": False,
    }
