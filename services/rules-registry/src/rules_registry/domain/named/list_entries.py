"""Decisions on single entries of a list, and long runs of them in pieces that fit an event each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rules_registry.domain.commands import ChangeEntries
from rules_registry.domain.decisions import require_expected
from rules_registry.domain.events import ListEntriesChanged
from rules_registry.domain.named_value import NamedEntry
from rules_registry.errors import NameNotFound
from tripline_contracts.filters.list_entries import EntriesChange, ListEntry
from tripline_contracts.filters.named_values import MAX_LIST_BYTES, MAX_VALUES

_FRAME_BYTES: Final = len(json.dumps(EntriesChange().to_json()))


def decide_entries(
    current: NamedEntry | None, command: ChangeEntries, standing: Mapping[str, int | None], now_ms: int
) -> ListEntriesChanged | None:
    """The event that brings the entries in force, of what is not so already; None where all is.

    `standing` has those of the command's values that the list has, each with its end. An entry that has ended by now
    is removed, if it is there: a second person may have taken their time. Raises `NameNotFound` and `StaleVersion`.
    """
    if current is None:
        raise NameNotFound("list", command.name)
    require_expected(current.version, command.expected)
    added = tuple(
        entry
        for entry in command.change.added
        if not _has_ended(entry, now_ms)
        and (entry.value not in standing or standing[entry.value] != entry.until)
    )
    ended = [entry.value for entry in command.change.added if _has_ended(entry, now_ms)]
    removed = tuple(value for value in sorted({*command.change.removed, *ended}) if value in standing)
    if not added and not removed:
        return None
    return ListEntriesChanged(command.name, current.version + 1, EntriesChange(added, removed))


def _has_ended(entry: ListEntry, now_ms: int) -> bool:
    return entry.until is not None and entry.until <= now_ms


def additions(entries: Iterable[ListEntry]) -> Iterator[EntriesChange]:
    """The entries, each value once, as changes of which each fits an event; ascending within each."""
    for piece in _pieces(entries, ListEntry.to_json):
        yield EntriesChange(added=tuple(sorted(piece)))


def removals(values: Iterable[str]) -> Iterator[EntriesChange]:
    """The same of values to remove."""
    for piece in _pieces(values, str):
        yield EntriesChange(removed=tuple(sorted(piece)))


def _pieces(items: Iterable[Any], written: Any) -> Iterator[list[Any]]:
    piece: list[Any] = []
    size = _FRAME_BYTES
    for item in items:
        added = len(json.dumps(written(item), ensure_ascii=False).encode()) + 1
        if piece and (len(piece) == MAX_VALUES or size + added > MAX_LIST_BYTES):
            yield piece
            piece, size = [], _FRAME_BYTES
        piece.append(item)
        size += added
    if piece:
        yield piece
