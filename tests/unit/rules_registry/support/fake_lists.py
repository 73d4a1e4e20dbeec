"""Entries of lists in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rules_registry.domain.named_value import NamedEntry
from tripline_contracts.filters.list_entries import EntriesChange
from tripline_contracts.filters.named_values import Kind


@dataclass
class FakeLists:
    """Lists by name, with the ends of their entries."""

    kept: dict[tuple[Kind, str], NamedEntry]
    ends: dict[str, dict[str, int | None]] = field(default_factory=dict)

    def head(self, name: str) -> NamedEntry | None:
        listed = self.kept.get(("list", name))
        return None if listed is None else replace(listed, value=None, long=listed.size, has_ends=False)

    def standing(self, name: str, values: Collection[str]) -> Mapping[str, int | None]:
        entries = self.ends.get(name, {})
        return {value: entries[value] for value in values if value in entries}

    def keep(self, named: NamedEntry, change: EntriesChange) -> None:
        entries = self.ends.setdefault(named.name, {})
        entries |= {entry.value: entry.until for entry in change.added}
        for value in change.removed:
            del entries[value]
        self._write(named)

    def replace(self, named: NamedEntry, values: Sequence[str]) -> None:
        self.ends[named.name] = dict.fromkeys(values)
        self._write(named)

    def overdue(self, now_ms: int, most: int) -> Sequence[tuple[str, str]]:
        due = [
            (name, value)
            for name, entries in self.ends.items()
            for value, until in entries.items()
            if until is not None and until <= now_ms
        ]
        return due[:most]

    def _write(self, named: NamedEntry) -> None:
        entries = self.ends[named.name]
        has_ends = any(until is not None for until in entries.values())
        assert named.size == len(entries)
        kept = replace(named, value=tuple(sorted(entries)), long=0, has_ends=has_ends)
        self.kept["list", named.name] = kept
