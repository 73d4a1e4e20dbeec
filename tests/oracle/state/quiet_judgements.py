"""What may be judged again: transactions that a version has judged without an alert (semantics 5)."""

from __future__ import annotations

from tests.oracle.parsers.rule_events import Version
from tests.oracle.state.firing_state import Forgotten, Key, key_of


class QuietJudgements:
    """Kept per rule, definition version and group, as places in the order of acceptance of the version's anchor."""

    def __init__(self) -> None:
        self._quiet: dict[Key, set[int]] = {}

    def note(self, version: Version, group: dict[str, str], place: int, *, alerted: bool) -> None:
        """Note how the one at that place was judged, now or again; one that has alerted is done with."""
        places = self._quiet.setdefault(key_of(version, group), set())
        if alerted:
            places.discard(place)
        else:
            places.add(place)

    def quiet(self, version: Version, group: dict[str, str]) -> set[int]:
        """The places of those that the version has judged and not alerted for."""
        return self._quiet.get(key_of(version, group), set())

    def clear(self, forgotten: Forgotten) -> None:
        """Forget what is of such keys."""
        self._quiet = {key: places for key, places in self._quiet.items() if not forgotten(key)}
