"""The bodies that change entries of a list, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rules_registry.api.named.named_value_body import Json
from tripline_contracts.errors import InvalidNamedValue
from tripline_contracts.filters import named_values
from tripline_contracts.filters.filter_constants import WHOLE_BOUND
from tripline_contracts.filters.list_entries import EntriesChange, read_change
from tripline_http.errors import FieldError, invalid_input
from tripline_http.fields import MAX_MS

ENTRIES_BODY: Final = "ListEntriesBody"
VALUES_BODY: Final = "ListValuesBody"
_MEMBERS: Final = ("value", "until")


def read_added(name: str, body: Mapping[str, Any]) -> EntriesChange:
    """Entries to add to the list. Raises the 422 problem that names every wrong field."""
    entries = body.get("entries")
    errors = list(_unknown(body, "entries"))
    for i, entry in enumerate(entries if isinstance(entries, list) else ()):
        errors += [
            FieldError(f"entries[{i}].{member}", "unknown field")
            for member in (entry if isinstance(entry, dict) else ())
            if member not in _MEMBERS
        ]
    return _read(name, entries, [], errors, {"added": "entries"})


def read_removed(name: str, body: Mapping[str, Any]) -> EntriesChange:
    """Values to remove from the list. Raises the 422 problem that names every wrong field."""
    return _read(name, [], body.get("values"), list(_unknown(body, "values")), {"removed": "values"})


def _unknown(body: Mapping[str, Any], member: str) -> list[FieldError]:
    return [FieldError(other, "unknown field") for other in body if other != member]


def _read(
    name: str, added: object, removed: object, errors: list[FieldError], names: Mapping[str, str]
) -> EntriesChange:
    change = EntriesChange()
    for read in (lambda: named_values.read_name(name), lambda: read_change(added, removed)):
        try:
            value = read()
        except InvalidNamedValue as invalid:
            errors += [
                FieldError(_renamed(problem.field, names), problem.message) for problem in invalid.problems
            ]
        else:
            change = value if isinstance(value, EntriesChange) else change
    given = added or removed
    # the contracts read a set: a program should not send what cannot be one
    if isinstance(given, list) and len(given) > named_values.MAX_VALUES and not errors:
        message = f"expected at most {named_values.MAX_VALUES} entries, not {len(given)}"
        errors.append(FieldError(next(iter(names.values())), message))
    if errors:
        raise invalid_input(errors)
    return change


def _renamed(field: str, names: Mapping[str, str]) -> str:
    """The field as the body calls it."""
    for inner, outer in names.items():
        if field.startswith(inner):
            return outer + field[len(inner) :]
    return field


def entry_body_schemas() -> dict[str, Json]:
    """The two bodies in JSON Schema."""
    whole = {"minimum": 1 - WHOLE_BOUND, "maximum": WHOLE_BOUND - 1}
    text = {"minLength": 1, "maxLength": named_values.MAX_TEXT, "pattern": "^[^\\u0000]*$"}
    value: Json = {"type": ["string", "integer"], **text, **whole}
    until = {
        "type": ["integer", "null"],
        "minimum": 0,
        "maximum": MAX_MS,
        "description": "ms since the epoch, when the entry is removed; null or none: it stays. What has passed "
        "removes it at once",
    }
    entry = {
        "type": "object",
        "properties": {"value": value, "until": until},
        "required": ["value"],
        "additionalProperties": False,
    }
    bound = f"At most {named_values.MAX_LIST_BYTES} bytes of JSON"
    return {
        ENTRIES_BODY: _closed("entries", entry, f"{bound}. Of a value that comes twice the last one counts"),
        VALUES_BODY: _closed("values", value, f"{bound}. What the list has not is passed over"),
    }


def _closed(member: str, item: Json, description: str) -> Json:
    items = {
        "type": "array",
        "maxItems": named_values.MAX_VALUES,
        "items": item,
        "description": description,
    }
    return {
        "type": "object",
        "properties": {member: items},
        "required": [member],
        "additionalProperties": False,
    }
