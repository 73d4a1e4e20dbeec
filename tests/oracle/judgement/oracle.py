"""The oracle: micro-batch by micro-batch it takes rule events, then ticks, then transactions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tests.oracle.judgement.command_handler import CommandHandler
from tests.oracle.judgement.record_order import engine_order
from tests.oracle.judgement.verdicts import Verdicts
from tests.oracle.parsers.operator_commands import Command
from tests.oracle.parsers.rule_events import (
    CLEAR_STATE,
    EXPORT_RULES,
    SHADOW_ROLLED_OUT,
    SHADOW_STARTED,
    Control,
    Positioned,
    RuleEvent,
    TraceCommand,
    Version,
    read_events,
)
from tests.oracle.parsers.transactions import Transaction, read_transaction
from tests.oracle.state.clock import Clock
from tests.oracle.state.history import History
from tests.oracle.state.rule_book import RuleBook, has_expired
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.model import Json, MicroBatch, Outcome, Record, Reject
from tests.oracle.windows.entries import entries_of
from tests.oracle.windows.evaluation import group_of, triggers


def judge(
    batches: Iterable[MicroBatch],
    anchors: tuple[str, ...] | None = None,
    *,
    catch_up: bool = True,
    kept: Iterable[str] = (),
) -> Outcome:
    """The outcome of a history; HashMismatch or OutOfScope if it cannot be judged.

    `kept` anchors are kept from the start, whether a rule needs them or not; GLOBAL may be among them.
    Unless told not to `catch_up`, a version whose effectiveFrom lies in the past judges what came before it.
    """
    declared = current_type().anchors if anchors is None else anchors
    oracle = _Oracle((*current_type().parties, *declared), set(kept), catch_up=catch_up)
    for batch in batches:
        oracle.take(batch)
    return oracle.outcome()


class _Oracle:
    def __init__(self, anchors: tuple[str, ...], kept: set[str], *, catch_up: bool) -> None:
        self._rules = RuleBook(anchors)
        self._clock = Clock(self._rules, anchors)
        self._history = History(anchors)
        self._verdicts = Verdicts(self._rules, self._clock, self._history)
        self._command_handler = CommandHandler(self._rules, self._clock, self._history, self._verdicts)
        self._catches_up, self._kept = catch_up, kept
        self._history.need(kept)
        self._rejects: list[Reject] = []
        self._statuses: list[dict[str, Json]] = []
        self._exports: list[dict[str, Json]] = []
        self._null_groups = 0
        self._without_position = 0
        self._backfilled = 0

    def take(self, batch: MicroBatch) -> None:
        events, lost = read_events(batch.rule_events)
        self._without_position += lost
        for event in events:
            if self._rules.take(event):
                self._follow_need()
                self._apply_event(event)
        for tick in batch.ticks:
            self._clock.tick(tick)
            self._follow_need()
        for record in engine_order(batch.records):
            self._take_record(record)

    def _follow_need(self) -> None:
        begun, ended = self._history.need(self._kept | self._rules.needed())
        for anchor in begun:
            self._clock.begin_anchor(anchor)
        for anchor in ended:
            self._clock.end_anchor(anchor)
        # a shadow needs no anchor: where one is left, its firing state goes with all else that the anchor knew
        left = {
            (version.rule_id, version.number)
            for version in self._rules.all_held()
            if self._rules.anchor(version) in ended
        }
        self._verdicts.clear(lambda key: key[:2] in left)

    def _apply_event(self, event: Positioned) -> None:
        """Apply the effects of a taken event beside those on the rule book."""
        content = event.content
        if isinstance(content, Control):
            self._apply_control(content, event.position)
        if isinstance(content, TraceCommand):
            self._verdicts.trace(content)
        if isinstance(content, Command):
            self._command_handler.apply(content, event.position)
        if isinstance(content, RuleEvent):
            of_shadow = content.type in (SHADOW_STARTED, SHADOW_ROLLED_OUT)
            shadow = self._rules.shadow(content.version.rule_id) if of_shadow else None
            newest = shadow or self._rules.newest(content.version.rule_id)
            if self._command_handler.backfills and self._rules.exists(newest.rule_id) and not of_shadow:
                self._clock.reopen([newest], self._history.counts())
            if content.type in ("RulePublished", SHADOW_STARTED):
                self._clock.begin_buckets(newest, event.position)
            if content.type == "RulePublished" and self._catches_up:
                self._verdicts.catch_up(newest)
            self._statuses.append(
                {
                    "ruleId": newest.rule_id,
                    "version": content.number,
                    "position": event.position,
                    "warmFrom": self._clock.warm_from(newest),
                }
            )

    def _apply_control(self, control: Control, position: int) -> None:
        if control.command == CLEAR_STATE:
            self._command_handler.clear_all()
        if control.command == EXPORT_RULES:
            self._exports.append(
                {
                    "kind": "export",
                    "commandId": control.command_id,
                    "position": position,
                    "rules": self._rules.held(),
                }
            )

    def _take_record(self, record: Record) -> None:
        try:
            transaction = read_transaction(record)
        except Unreadable as error:
            self._reject(record, str(error))
            return
        if record.backfill is not None and record.backfill not in self._command_handler.backfills:
            self._reject(record, "backfill_closed")
            return
        reason = self._clock.refusal(transaction)
        if reason is not None:
            self._reject(record, reason)
            return
        transaction = replace(transaction, names=self._rules.names)
        taken = self._history.accept(transaction, self._clock, self._rules.settings)
        accepted = {anchor for anchor, numbers in taken.items() if any(number >= 0 for number in numbers)}
        if transaction.backfilled:
            self._backfilled += sum(number >= 0 for numbers in taken.values() for number in numbers)
            return
        for rule_id in self._rules.active():
            version = self._rules.in_force(rule_id, transaction.event_time)
            if version is not None:
                self._judge_newest(version, transaction, record, taken)
            self._judge_by_shadow(rule_id, transaction, record, taken)
            self._verdicts.again(rule_id, accepted)

    def _reject(self, record: Record, reason: str) -> None:
        self._rejects.append(Reject(record.partition, record.offset, reason))

    def _judge_by_shadow(
        self, rule_id: int, transaction: Transaction, record: Record, taken: dict[str, list[int]]
    ) -> None:
        """Judge it, or each of its entries, by the version that runs beside the others; nothing of that is counted."""
        shadow, time = self._rules.shadow(rule_id), transaction.event_time
        if shadow is None or time < shadow.effective_from or has_expired(shadow, time):
            return
        anchor = self._rules.anchor(shadow)
        for entry, number in zip(entries_of(transaction, anchor), taken.get(anchor, []), strict=False):
            known = triggers(shadow.definition, entry) and group_of(shadow.definition, entry) is not None
            if known and number >= 0:
                self._verdicts.newest(shadow, record, number)

    def _judge_newest(
        self, version: Version, transaction: Transaction, record: Record, taken: dict[str, list[int]]
    ) -> None:
        """Judge it by a version, or each of its entries in turn."""
        anchor = self._rules.anchor(version)
        # Without a value of the anchor it is on none, and is told of all the same.
        entries = entries_of(transaction, anchor) or (
            [] if anchor in current_type().parties else [transaction]
        )
        numbers = taken.get(anchor, [-1] * len(entries))
        for entry, number in zip(entries, numbers, strict=True):
            if not triggers(version.definition, entry):
                continue
            if group_of(version.definition, entry) is None:
                self._null_groups += 1
                self._verdicts.counts(version.rule_id).null_groups += 1
            elif number >= 0:
                self._verdicts.newest(version, record, number)
            else:
                self._verdicts.counts(version.rule_id).duplicates += 1

    def outcome(self) -> Outcome:
        return Outcome(
            alerts=self._verdicts.alerts,
            rejects=self._rejects,
            duplicates=self._history.duplicates,
            null_groups=self._null_groups,
            skipped_rule_events=self._rules.skipped + self._without_position,
            statuses=self._statuses,
            exports=self._exports,
            counts=self._verdicts.all_counts(),
            traces=self._verdicts.traces,
            backfilled=self._backfilled,
            shadow_alerts=self._verdicts.shadow_alerts,
        )
