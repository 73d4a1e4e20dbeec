"""The whole reading: micro-batch by micro-batch, rule events, then ticks, then transactions."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.alerts import alert
from tests.oracle.clock import Clock
from tests.oracle.errors import Unreadable
from tests.oracle.evaluation import evaluate, group_of
from tests.oracle.history import History
from tests.oracle.model import Json, MicroBatch, Outcome, Record, Reject
from tests.oracle.order import engine_order
from tests.oracle.rule_events import Version, read_events
from tests.oracle.rulebook import RuleBook
from tests.oracle.schema import DEFAULT_ANCHORS
from tests.oracle.transactions import Transaction, read_transaction


def judge(batches: Iterable[MicroBatch], anchors: tuple[str, ...] = DEFAULT_ANCHORS) -> Outcome:
    """Everything that follows from a history; HashMismatch or OutOfScope if it cannot be judged."""
    oracle = _Oracle(anchors)
    for batch in batches:
        oracle.take(batch)
    return oracle.outcome()


class _Oracle:
    def __init__(self, anchors: tuple[str, ...]) -> None:
        self._rules = RuleBook(anchors)
        self._clock = Clock(self._rules, anchors)
        self._history = History(anchors)
        self._alerts: list[dict[str, Json]] = []
        self._rejects: list[Reject] = []
        self._null_groups = 0
        self._without_position = 0

    def take(self, batch: MicroBatch) -> None:
        events, lost = read_events(batch.rule_events)
        self._without_position += lost
        for event in events:
            self._rules.take(event)
        for tick in batch.ticks:
            self._clock.tick(tick)
        for record in engine_order(batch.records):
            self._take_record(record)

    def _take_record(self, record: Record) -> None:
        try:
            transaction = read_transaction(record)
        except Unreadable as error:
            self._rejects.append(Reject(record.partition, record.offset, str(error)))
            return
        reason = self._clock.refusal(transaction)
        if reason is not None:
            self._rejects.append(Reject(record.partition, record.offset, reason))
            return
        anchors = self._history.accept(transaction, self._clock, self._rules.settings)
        for version in self._rules.judging(transaction.event_time):
            if group_of(version.definition, transaction) is None:
                self._null_groups += 1
            elif self._rules.anchor(version) in anchors:
                self._evaluate(version, transaction)

    def _evaluate(self, version: Version, transaction: Transaction) -> None:
        group = group_of(version.definition, transaction)
        assert group is not None
        accepted = self._history.accepted[self._rules.anchor(version)]
        finding = evaluate(version.definition, group, accepted, self._clock.floor(version))
        if finding is not None:
            warm = self._clock.is_warm(version, transaction.event_time)
            self._alerts.append(alert(version, transaction, finding, warm=warm))

    def outcome(self) -> Outcome:
        return Outcome(
            alerts=self._alerts,
            rejects=self._rejects,
            duplicates=self._history.duplicates,
            null_groups=self._null_groups,
            skipped_rule_events=self._rules.skipped + self._without_position,
        )
