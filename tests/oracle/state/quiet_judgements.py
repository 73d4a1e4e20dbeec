"""Quiet judgements: transactions judged without an alert, which may be judged again (semantics 5)."""

from __future__ import annotations

from tests.oracle.parsers.rule_events import Version
from tests.oracle.state.firing_state import Forgotten, Key, key_of


class QuietJudgements:
    """Kept per rule, definition version and group, as sequence numbers of the version's anchor."""

    def __init__(self) -> None:
        self._quiet: dict[Key, set[int]] = {}

    def note(self, version: Version, group: dict[str, str], sequence: int, *, alerted: bool) -> None:
        """Note the judgement of the transaction at that sequence number; one that has alerted is final."""
        sequences = self._quiet.setdefault(key_of(version, group), set())
        if alerted:
            sequences.discard(sequence)
        else:
            sequences.add(sequence)

    def quiet(self, version: Version, group: dict[str, str]) -> set[int]:
        """The sequence numbers of those that the version has judged and not alerted for."""
        return self._quiet.get(key_of(version, group), set())

    def clear(self, forgotten: Forgotten) -> None:
        """Forget what is of such keys."""
        self._quiet = {key: sequences for key, sequences in self._quiet.items() if not forgotten(key)}
