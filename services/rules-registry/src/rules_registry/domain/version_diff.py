"""Differences between two versions of a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_ABSENT = object()
_COMPARED = ("state", "name", "effectiveFrom", "effectiveUntil")


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in dots (`definition.limit`) and its two values in JSON; None where there is none."""

    field: str
    before: object
    after: object


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[Difference]:
    """From one rule event's JSON to another's: state, name and effective times, then the definition by field.

    A filter is one field, and so are conditions: they are shown whole, before and after.
    """
    old, new = before["definition"], after["definition"]
    assert isinstance(old, Mapping)
    assert isinstance(new, Mapping)
    head = [(name, before.get(name), after.get(name)) for name in _COMPARED]
    return list(_different([*head, *_fields(old, new)]))


def _fields(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    for name in dict.fromkeys([*old, *new]):
        yield f"definition.{name}", old.get(name, _ABSENT), new.get(name, _ABSENT)


def _different(pairs: list[tuple[str, object, object]]) -> Iterator[Difference]:
    for name, before, after in pairs:
        if before != after:
            yield Difference(name, _shown(before), _shown(after))


def _shown(value: object) -> object:
    return None if value is _ABSENT else value
