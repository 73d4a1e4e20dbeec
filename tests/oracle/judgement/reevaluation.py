"""What a late transaction reopens: earlier judgements whose windows it has come into (semantics 5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.parsers.definitions import Definition
from tests.oracle.parsers.rule_events import Version
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.state.quiet_judgements import QuietJudgements
from tests.oracle.windows.accepted_transaction import AcceptedTransaction
from tests.oracle.windows.evaluation import Findings, group_of, measure, members, together, triggers
from tests.oracle.windows.horizon import Horizon


class GroupSnapshot:
    """A group as it is now, in which a window may end at any event time of before.

    Sorted by event time, equal ones by acceptance, so that a window is a slice: one late transaction may
    reopen very many.
    """

    def __init__(
        self, definition: Definition, group: dict[str, str], group_members: list[Transaction]
    ) -> None:
        self._definition = definition
        self._group = group
        self._members = sorted(group_members, key=lambda member: member.event_time)
        self._times = [member.event_time for member in self._members]

    def findings(self, event: Transaction) -> Findings:
        """The window that ends with a transaction of the group, over all accepted so far."""
        (condition,) = self._definition.conditions
        start = bisect_left(self._times, event.event_time - condition.window)
        end = bisect_right(self._times, event.event_time)
        found = measure(condition, event, self._members[start:end])
        return together(self._definition, self._group, (found,))


@dataclass(frozen=True, slots=True)
class Reopened:
    """`event`, which stands at a place in the order of acceptance, is to be judged again for `late`."""

    version: Version
    place: int
    event: Transaction
    late: Transaction
    hindsight: GroupSnapshot

    def order(self) -> tuple[int, int, int]:
        """By event time, then by acceptance: of equal times a higher version judges what came later."""
        return self.event.event_time, self.version.number, self.place


def reopened(
    version: Version, known: Sequence[AcceptedTransaction], sight: Horizon, judged: QuietJudgements
) -> list[Reopened]:
    """What the last of `known`, which is visible, makes a version with `reevaluate` judge again."""
    late, definition = known[-1].transaction, version.definition
    group = group_of(definition, late)
    if group is None or not triggers(definition, late):
        return []
    # Newer ones of the group that were judged: there being any is what makes this one late.
    last = late.event_time + definition.window
    quiet = judged.quiet(version, group)
    again = [
        other
        for other in known
        if other.place in quiet
        and other.void is None
        and late.event_time < other.transaction.event_time <= last
    ]
    if not again:
        return []
    seen = [other.transaction for other in members(definition, known, sight)]
    hindsight = GroupSnapshot(definition, group, seen)
    return [Reopened(version, other.place, other.transaction, late, hindsight) for other in again]
