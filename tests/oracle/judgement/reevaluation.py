"""Re-evaluation: earlier judgements that a late transaction reopens, as it came into their windows (semantics 5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.parsers.definitions import Definition
from tests.oracle.parsers.rule_events import Version
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.state.quiet_judgements import QuietJudgements
from tests.oracle.windows.accepted_transaction import AcceptedTransaction
from tests.oracle.windows.evaluation import Findings, combined, group_of, measure, members, triggers
from tests.oracle.windows.horizon import Horizon


class GroupSnapshot:
    """Snapshot of a group as it is now, in which a window may end at any earlier event time.

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
        result = measure(condition, event, self._members[start:end])
        return combined(self._definition, self._group, (result,), event.names)


@dataclass(frozen=True, slots=True)
class Reopened:
    """`event`, which stands at a place in the order of acceptance, is to be judged again for `late`."""

    version: Version
    sequence: int
    event: Transaction
    late: Transaction
    snapshot: GroupSnapshot

    def order(self) -> tuple[int, int, int]:
        """By event time, then by acceptance: of equal times a higher version judges what came later."""
        return self.event.event_time, self.version.number, self.sequence


def reopened(
    version: Version, history: Sequence[AcceptedTransaction], horizon: Horizon, judgements: QuietJudgements
) -> list[Reopened]:
    """Judgements of a version with `reevaluate` that the last of `history`, which is visible, reopens."""
    late, definition = history[-1].transaction, version.definition
    group = group_of(definition, late)
    if group is None or not triggers(definition, late):
        return []
    # Newer ones of the group that were judged: there being any is what makes this one late.
    last = late.event_time + definition.window
    quiet = judgements.quiet(version, group)
    again = [
        other
        for other in history
        if other.sequence in quiet
        and other.void is None
        and late.event_time < other.transaction.event_time <= last
    ]
    if not again:
        return []
    seen = [other.transaction for other in members(definition, history, horizon)]
    snapshot = GroupSnapshot(definition, group, seen)
    return [Reopened(version, other.sequence, other.transaction, late, snapshot) for other in again]
