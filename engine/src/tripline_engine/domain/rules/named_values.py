"""Named lists and parameters, with the value that each retained transaction was accepted under.

An event counts for what is accepted after it. So each name has a first value and the changes since, each with the
number of transactions that every anchor had accepted by then. Of lists only additions and removals are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from tripline_engine.domain.memory.array_types import Uint64Array

Hashes = tuple[Uint64Array, Uint64Array]
"""128-bit hashes of texts: low and high words."""
Numbers = Mapping[str, int]
"""By anchor, a sequence number of acceptance."""
Value = TypeVar("Value")
Change = TypeVar("Change")
ListChange = tuple[tuple[str, ...], tuple[str, ...]]
"""Texts added, and texts removed."""


class VersionedValue(Generic[Value, Change]):
    """One name: its value at first, and the changes since, oldest first.

    :param changed: a value with a change made to it
    """

    def __init__(
        self,
        first: Value,
        changes: Iterable[tuple[Numbers, Change]],
        changed: Callable[[Value, Change], Value],
    ) -> None:
        self._first, self._changed = first, changed
        self._changes = [(dict(since), change) for since, change in changes]
        self.newest = first
        for _, change in self._changes:
            self.newest = changed(self.newest, change)

    def add(self, accepted: Numbers, change: Change) -> None:
        """Add a change that counts for what is accepted from now on."""
        self._changes.append((dict(accepted), change))
        self.newest = self._changed(self.newest, change)

    def runs(self, anchor: str, first: int, until: int) -> Iterator[tuple[int, int, Value]]:
        """The anchor's transactions numbered from ``first`` to ``until`` (exclusive) in runs of one value."""
        if not self._changes or self._changes[-1][0][anchor] <= first:
            yield first, until, self.newest
            return
        value = self._first
        for since, change in self._changes:
            start = min(since[anchor], until)
            if start > first:
                yield first, start, value
                first = start
            value = self._changed(value, change)
        if first < until:
            yield first, until, value

    def compact(self, retained: Numbers) -> None:
        """Fold changes that count for all retained transactions into the first value.

        :param retained: by anchor, the oldest sequence number
        """
        while self._changes and all(
            number <= retained[anchor] for anchor, number in self._changes[0][0].items()
        ):
            self._first = self._changed(self._first, self._changes.pop(0)[1])

    def to_json(self, write: Callable[[Value], Any]) -> list[Any]:
        """The JSON of the first value, by ``write``, and of the changes."""
        return [write(self._first), self._changes]


VersionedList = VersionedValue[frozenset[str], ListChange]
VersionedParameter = VersionedValue[int | None, str]
"""Changes as text: JSON knows no integers as large as these."""


class NamedValues:
    """The lists (texts) and parameters (scaled by 10⁶; None before there is a value) of one shard."""

    def __init__(self) -> None:
        self._lists: dict[str, VersionedList] = {}
        self._parameters: dict[str, VersionedParameter] = {}
        self._hashed: dict[str, tuple[frozenset[str], Hashes]] = {}

    def hashed(self, name: str, values: frozenset[str], hash_all: Callable[[list[str]], Hashes]) -> Hashes:
        """The hashes of the list's values by ``hash_all``, cached while the values stay the same."""
        cached = self._hashed.get(name)
        if cached is None or cached[0] is not values:
            cached = self._hashed[name] = (values, hash_all(sorted(values)))
        return cached[1]

    def list(self, name: str) -> VersionedList:
        """The list of that name; an empty one where there was no event of it."""
        return self._lists.get(name) or VersionedValue(frozenset(), [], _listed)

    def parameter(self, name: str) -> VersionedParameter:
        """The parameter of that name; one without a value where there was no event of it."""
        return self._parameters.get(name) or VersionedValue(None, [], _set)

    def set_list(self, name: str, values: Iterable[str], accepted: Numbers) -> None:
        """Set a list from now on; ``accepted``: by anchor, the transactions that came before."""
        versioned = self._lists.setdefault(name, self.list(name))
        before, now = versioned.newest, frozenset(values)
        versioned.add(accepted, (tuple(sorted(now - before)), tuple(sorted(before - now))))

    def set_parameter(self, name: str, scaled: int, accepted: Numbers) -> None:
        """Set a parameter (scaled by 10⁶) from now on."""
        self._parameters.setdefault(name, self.parameter(name)).add(accepted, str(scaled))

    def compact(self, retained: Numbers) -> None:
        """Drop values that count for no retained transaction; ``retained``: by anchor, the oldest sequence number."""
        for listed in self._lists.values():
            listed.compact(retained)
        for parameter in self._parameters.values():
            parameter.compact(retained)

    def to_json(self) -> dict[str, Any]:
        """The JSON that is stored with the rules."""
        return {
            "lists": {name: versioned.to_json(sorted) for name, versioned in self._lists.items()},
            "parameters": {name: versioned.to_json(_text) for name, versioned in self._parameters.items()},
        }

    @staticmethod
    def of_json(stored: Mapping[str, Any]) -> NamedValues:
        """The named values of stored JSON."""
        named = NamedValues()
        for name, (first, changes) in stored.get("lists", {}).items():
            named._lists[name] = VersionedValue(frozenset(first), changes, _listed)
        for name, (first, changes) in stored.get("parameters", {}).items():
            named._parameters[name] = VersionedValue(None if first is None else int(first), changes, _set)
        return named


def _listed(values: frozenset[str], change: ListChange) -> frozenset[str]:
    added, removed = change
    return values.union(added).difference(removed)


def _set(_: int | None, value: str) -> int | None:
    return int(value)


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
