"""The use cases that change something. Each is one transaction: decide, append, project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from rules_registry.domain.active_rules import ActiveRules
from rules_registry.domain.commands import ChangeNamed, ChangeOfRule, ChangeSettings, Control, PublishRule
from rules_registry.domain.decisions import decide_settings
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.quotas import Quotas, Usage
from rules_registry.errors import IdempotencyKeyReused
from rules_registry.service.control import issue
from rules_registry.service.event_appender import EventAppender, RuleChange
from rules_registry.service.named_values import NamedChange, change_named
from rules_registry.service.ports import Answer, Clock, EventStore, Log, NewId, Remembered
from rules_registry.service.rule_file_lines import ReadLine
from rules_registry.service.rule_import import ImportOutcome, import_lines

__all__ = ["KEY_LIFETIME_MS", "Registry", "Repeatable", "RuleChange"]

# Lifetime of an Idempotency-Key.
KEY_LIFETIME_MS = 24 * 60 * 60 * 1000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A request that may come twice: its key, and the hash of all that makes it this request."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True)
class Registry:
    """Commands in, events out. `new_id` gives UUIDs, for events and control commands."""

    store: EventStore
    clock: Clock
    new_id: NewId
    quotas: Quotas = field(default_factory=Quotas)

    def publish(
        self,
        actor: str,
        command: Callable[[int], PublishRule],
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new rule; `command` makes the command once the id is known, `answer` what the caller is told."""

        def run(log: Log) -> RuleChange:
            with self._rules_within_quotas(log):
                return self._writer(log, actor).apply(None, command(log.next_rule_id()))

        return self._answered(actor, run, answer, repeatable)

    def change(
        self,
        actor: str,
        command: ChangeOfRule,
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new definition, pause, resume or deletion. Raises what `decide` raises, and `QuotaExceeded`."""

        def run(log: Log) -> RuleChange:
            with self._rules_within_quotas(log):
                return self._writer(log, actor).apply(log.rule(command.rule_id), command)

        return self._answered(actor, run, answer, repeatable)

    def change_settings(self, actor: str, command: ChangeSettings) -> SettingsState:
        """New settings, or the ones that hold if they are the same. Raises `StaleVersion`."""
        with self.store.writing() as log:
            current = log.settings()
            event = decide_settings(current, command)
            if event is None:
                return current
            self._writer(log, actor).append(event, None)
            return SettingsState(event.version, event.settings)

    def change_named(
        self,
        actor: str,
        command: ChangeNamed,
        answer: Callable[[NamedChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """Another value of a list or parameter, or the one that holds if it is the same. Raises `StaleVersion` and
        `QuotaExceeded`."""

        def run(log: Log) -> NamedChange:
            before = log.named_usage()
            change = change_named(self._writer(log, actor), command)
            self.quotas.require(before, log.named_usage())
            return change

        return self._answered(actor, run, answer, repeatable)

    def command(
        self,
        actor: str,
        control: Control,
        answer: Callable[[IssuedCommand], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A control command, with all that follows from it. Raises what `issue` raises."""

        def run(log: Log) -> IssuedCommand:
            return issue(self._bulk_writer(log, actor), control, self.new_id())

        return self._answered(actor, run, answer, repeatable)

    def import_rules(
        self,
        actor: str,
        lines: Sequence[ReadLine],
        answer: Callable[[ImportOutcome], Answer],
        repeatable: Repeatable | None = None,
        *,
        atomic: bool,
    ) -> Answer:
        """The records of the lines, in their order. Raises `ImportRefused` where nothing of it happens: one line was
        refused and `atomic` is set, or all were; and `QuotaExceeded`: quotas hold for what all lines come to."""

        def run(log: Log) -> ImportOutcome:
            with self._rules_within_quotas(log):
                return import_lines(self._bulk_writer(log, actor), lines, self.new_id, atomic=atomic)

        return self._answered(actor, run, answer, repeatable)

    def _answered(
        self,
        actor: str,
        run: Callable[[Log], T],
        answer: Callable[[T], Answer],
        repeatable: Repeatable | None,
    ) -> Answer:
        # The log has one writer at a time: whoever comes with the same key waits here, then finds the answer.
        with self.store.writing() as log:
            now = self.clock()
            if repeatable is None:
                return answer(run(log))
            earlier = log.remembered(actor, repeatable.key, now)
            if earlier is not None:
                if earlier.request_hash != repeatable.request_hash:
                    raise IdempotencyKeyReused
                return earlier.answer
            first = answer(run(log))
            remembered = Remembered(repeatable.request_hash, first)
            log.remember(actor, repeatable.key, remembered, now + KEY_LIFETIME_MS)
            return first

    @contextmanager
    def _rules_within_quotas(self, log: Log) -> Iterator[None]:
        """Raises `QuotaExceeded` for what was written inside, and then nothing of it may be committed."""
        before = self._rule_usage(log)
        yield
        self.quotas.require(before, self._rule_usage(log))

    def _rule_usage(self, log: Log) -> Usage:
        history = {} if self.quotas.history is None else self.quotas.history_of(log.widest_definitions())
        return {**log.rule_usage(), **history}

    def _writer(self, log: Log, actor: str) -> EventAppender:
        return EventAppender(log, actor, self.clock, self.new_id, room=self.quotas.history)

    def _bulk_writer(self, log: Log, actor: str) -> EventAppender:
        return EventAppender(
            log, actor, self.clock, self.new_id, ActiveRules(log.rules()), self.quotas.history
        )
