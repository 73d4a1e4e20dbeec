"""Changes of single entries of a named list: which come, which go, and when one is to go by itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidConstant, InvalidNamedValue, Problem
from tripline_contracts.filters.filter_constants import read_text
from tripline_contracts.filters.named_values import MAX_LIST_BYTES, MAX_TEXT, MAX_VALUES

MAX_TIME: Final = 253_402_300_799_999
"""The last ms of the year 9999."""


@dataclass(frozen=True, slots=True, order=True)
class ListEntry:
    """A value of a list, and the time (ms) at which the registry is to remove it; None: it stays."""

    value: str
    until: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As an event has it."""
        return {"value": self.value} if self.until is None else {"value": self.value, "until": self.until}


@dataclass(frozen=True, slots=True)
class EntriesChange:
    """Entries to add, and values to remove; each ascending, no value twice."""

    added: tuple[ListEntry, ...] = ()
    removed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As an event has it."""
        return {"added": [entry.to_json() for entry in self.added], "removed": list(self.removed)}


def read_change(added: object, removed: object) -> EntriesChange:
    """The change, entries in their order; of a value that comes twice among `added` the last one counts.

    Raises InvalidNamedValue that names every wrong entry, for a value in both, for more than MAX_VALUES entries, and
    for more than MAX_LIST_BYTES of JSON: one event has to fit in a Kafka record.
    """
    problems: list[Problem] = []
    entries = [
        _read_entry(entry, f"added[{i}]", problems)
        for i, entry in enumerate(_items(added, "added", problems))
    ]
    values = [
        _read_value(value, f"removed[{i}]", problems)
        for i, value in enumerate(_items(removed, "removed", problems))
    ]
    if problems:
        raise InvalidNamedValue(problems)
    by_value = {entry.value: entry for entry in entries}
    change = EntriesChange(tuple(sorted(by_value.values())), tuple(sorted(set(values))))
    _require_clear(change)
    return change


def _require_clear(change: EntriesChange) -> None:
    both = {entry.value for entry in change.added} & set(change.removed)
    if both:
        raise _refused("removed", f"expected values that are not added too, not {spelling.shown(min(both))}")
    count = len(change.added) + len(change.removed)
    if count > MAX_VALUES:
        raise _refused("added", f"expected at most {MAX_VALUES} entries, added and removed, not {count}")
    # a hundred such events come with an import: as long as canonical JSON, and written far faster
    size = len(json.dumps(change.to_json(), ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_LIST_BYTES:
        raise _refused("added", f"expected at most {MAX_LIST_BYTES} bytes of JSON, not {size}")


def _items(value: object, field: str, problems: list[Problem]) -> list[object]:
    if isinstance(value, (list, tuple)):
        return list(value)
    problems.append(Problem(field, f"expected a list, not {spelling.shown(value)}"))
    return []


def _read_entry(entry: object, field: str, problems: list[Problem]) -> ListEntry:
    if not isinstance(entry, dict):
        problems.append(Problem(field, f'expected {{"value": text}}, not {spelling.shown(entry)}'))
        return ListEntry("")
    until = read_until(entry.get("until"), f"{field}.until", problems)
    return ListEntry(_read_value(entry.get("value"), f"{field}.value", problems), until)


def read_until(until: object, field: str, problems: list[Problem]) -> int | None:
    """The end of an entry in ms, None where there is none; what is neither is added to the problems."""
    if until is None:
        return None
    if isinstance(until, bool) or not isinstance(until, int) or not 0 <= until <= MAX_TIME:
        what = spelling.shown(until)
        problems.append(Problem(field, f"expected ms since the epoch, 0 to {MAX_TIME}, not {what}"))
        return None
    return until


def _read_value(value: object, field: str, problems: list[Problem]) -> str:
    try:
        return read_text(value, MAX_TEXT)
    except InvalidConstant as error:
        problems.append(Problem(field, str(error)))
        return ""


def _refused(field: str, message: str) -> InvalidNamedValue:
    return InvalidNamedValue([Problem(field, message)])
