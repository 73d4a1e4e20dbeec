"""Named lists and parameters, with the value that each retained transaction was accepted under.

An event counts for what is accepted after it. So each parameter has a first value and the changes since, each with the
number of transactions that every anchor had accepted by then. For lists see `list_history`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tripline_engine.domain.rules.list_history import Change, ListHistory, Numbers


class VersionedParameter:
    """One parameter, scaled by 10⁶: its value at first, and the changes since, oldest first."""

    def __init__(self, first: int | None, changes: Iterable[tuple[Numbers, int]]) -> None:
        self._first = first
        self._changes = [(dict(since), value) for since, value in changes]
        self._newest = self._changes[-1][1] if self._changes else first

    def add(self, accepted: Numbers, value: int) -> None:
        """Add a change that counts for what is accepted from now on."""
        self._changes.append((dict(accepted), value))
        self._newest = value

    def runs(self, anchor: str, first: int, until: int) -> Iterator[tuple[int, int, int | None]]:
        """The anchor's transactions numbered from ``first`` to ``until`` (exclusive) in runs of one value."""
        if not self._changes or self._changes[-1][0].get(anchor, 0) <= first:
            yield first, until, self._newest
            return
        value = self._first
        for since, changed in self._changes:
            start = min(since.get(anchor, 0), until)
            if start > first:
                yield first, start, value
                first = start
            value = changed
        if first < until:
            yield first, until, value

    def compact(self, retained: Numbers) -> None:
        """Fold changes that count for all retained transactions into the first value.

        :param retained: by anchor, the oldest sequence number
        """
        while self._changes and all(
            number <= retained[anchor] for anchor, number in self._changes[0][0].items()
        ):
            self._first = self._changes.pop(0)[1]

    def to_json(self) -> list[Any]:
        """The first value and the changes, as text: JSON knows no integers as large as these."""
        first = None if self._first is None else str(self._first)
        return [first, [(since, str(value)) for since, value in self._changes]]

    @staticmethod
    def of_json(stored: Sequence[Any]) -> VersionedParameter:
        """As `to_json` gave it."""
        first, changes = stored
        return VersionedParameter(
            None if first is None else int(first), [(since, int(value)) for since, value in changes]
        )


class NamedValues:
    """The lists (texts) and parameters (scaled by 10⁶; None before there is a value) of one shard."""

    def __init__(self) -> None:
        self.lists: dict[str, ListHistory] = {}
        self._parameters: dict[str, VersionedParameter] = {}

    def list(self, name: str) -> ListHistory:
        """The list of that name; an empty one where there was no event of it."""
        return self.lists.get(name) or ListHistory()

    def parameter(self, name: str) -> VersionedParameter:
        """The parameter of that name; one without a value where there was no event of it."""
        return self._parameters.get(name) or VersionedParameter(None, [])

    def change_list(self, name: str, changes: Iterable[Change], accepted: Numbers) -> None:
        """Change a list from now on; ``accepted``: by anchor, the transactions that came before."""
        listed = self.lists.setdefault(name, ListHistory())
        for change in changes:
            listed.change(change, accepted)

    def set_parameter(self, name: str, scaled: int, accepted: Numbers) -> None:
        """Set a parameter (scaled by 10⁶) from now on."""
        self._parameters.setdefault(name, self.parameter(name)).add(accepted, scaled)

    def compact(self, retained: Numbers) -> None:
        """Drop values that count for no retained transaction; ``retained``: by anchor, the oldest sequence number."""
        for listed in self.lists.values():
            listed.compact(retained)
        for parameter in self._parameters.values():
            parameter.compact(retained)

    def to_json(self) -> dict[str, Any]:
        """The JSON that is stored with the rules: of lists, once they are saved, where they are."""
        return {
            "lists": {
                name: {
                    "settled": listed.settled,
                    "chunks": [[chunk.number, chunk.size, chunk.nonce] for chunk in listed.chunks],
                }
                for name, listed in self.lists.items()
            },
            "parameters": {name: parameter.to_json() for name, parameter in self._parameters.items()},
        }

    @staticmethod
    def of_json(stored: Mapping[str, Any], lists: Mapping[str, ListHistory]) -> NamedValues:
        """The named values of stored JSON, whose lists were read elsewhere."""
        named = NamedValues()
        named.lists.update(lists)
        for name, parameter in stored.get("parameters", {}).items():
            named._parameters[name] = VersionedParameter.of_json(parameter)
        return named
