"""Keys of a grouping: a field or a party, by its name, or a decimal field in steps, as `name~step`.

    "key"                                    {"field": "amount", "step": "100"}
    key                                      amount~100

The group's value of a stepped one is floor(amount / step) × step: amounts that are about the same. As texts both kinds
can be sorted, compared and kept together; no name of a field has a `~` in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from tripline_contracts import decimals, spelling
from tripline_contracts.errors import InvalidDecimal
from tripline_contracts.event_type import EventType, Field

_SIGN: Final = "~"
_MEMBERS: Final = ["field", "step"]


def read(value: object, event_type: EventType) -> tuple[tuple[str, ...], list[str]]:
    """The keys, sorted, that a list of names and of `{"field", "step"}` means, or what is wrong with it."""
    expected = f"expected any of {', '.join(event_type.groupings)}, or [] for one global group"
    entries = value if isinstance(value, (list, tuple)) and _is_list(value) else spelling.name_list(value)
    if entries is None:
        return (), [f"{expected}; not {spelling.shown(value)}"]
    keys, wrong = [], []
    for entry in entries:
        key, problem = _read_step(entry, event_type) if isinstance(entry, Mapping) else (None, None)
        if isinstance(entry, str):
            key = event_type.find_grouping(spelling.bare(entry))
            problem = f"{expected}; not {spelling.shown(entry)}"
        if key is not None:
            keys.append(key)
        elif problem is not None:
            wrong.append(problem)
    fields = [field_of(key) for key in keys]
    twice = sorted({name for name in fields if fields.count(name) > 1})
    return tuple(sorted(keys)), [*wrong, *(f"{name} is named twice; expected once" for name in twice)]


def _is_list(entries: Iterable[object]) -> bool:
    """Whether it is of names and steps alone, with a step among them."""
    return all(isinstance(entry, (str, Mapping)) for entry in entries)


def _read_step(entry: Mapping[object, object], event_type: EventType) -> tuple[str | None, str]:
    members = {key.casefold(): value for key, value in entry.items() if isinstance(key, str)}
    if len(entry) != len(_MEMBERS) or sorted(members) != _MEMBERS:
        return None, "expected field and step, and nothing else"
    field = _measure(members["field"], event_type)
    if field is None:
        measures = ", ".join(event_type.measures)
        return None, f"expected steps of one of {measures}; not {spelling.shown(members['field'])}"
    step = members["step"]
    try:
        scaled = decimals.parse_scaled(step) if isinstance(step, (str, int, Decimal)) else 0
    except InvalidDecimal as error:
        return None, f"step: {error}"
    if scaled <= 0:
        return None, f"step: expected a decimal number above 0, or its text; not {spelling.shown(step)}"
    return f"{field.name}{_SIGN}{decimals.plain_scaled(scaled)}", ""


def _measure(name: object, event_type: EventType) -> Field | None:
    field = event_type.find(spelling.bare(name)) if isinstance(name, str) else None
    return field if field is not None and field.role == "measure" else None


def field_of(key: str) -> str:
    """The name of the field that it looks at."""
    return key.partition(_SIGN)[0]


def step_of(key: str) -> int | None:
    """The step, scaled by 10⁶; None of a field as it is."""
    _, sign, step = key.partition(_SIGN)
    return decimals.parse_scaled(step) if sign else None


def key_json(key: str) -> object:
    """As a definition has it, normalised."""
    field, sign, step = key.partition(_SIGN)
    return {"field": field, "step": step} if sign else field


def key_of_json(entry: object) -> str:
    """The key of an entry as `key_json` writes it."""
    return f"{entry['field']}{_SIGN}{entry['step']}" if isinstance(entry, Mapping) else str(entry)


def grouping_json(keys: Iterable[str]) -> list[object]:
    """A grouping as a definition has it."""
    return [key_json(key) for key in keys]


def group_of(keys: Iterable[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """The group of a transaction, by the fields' names: decimals are plain texts; null where the field is."""
    return {field_of(key): _value(values[field_of(key)], step_of(key)) for key in keys}


def _value(text: str | None, step: int | None) -> str | None:
    if step is None or text is None:
        return text
    return decimals.plain_scaled(decimals.parse_scaled(text) // step * step)


def words(key: str) -> str:
    """As a person says it in a refusal."""
    field, sign, step = key.partition(_SIGN)
    return f"{field} in steps of {step}" if sign else field
