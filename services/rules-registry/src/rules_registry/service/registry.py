"""The use cases that change something. Each is one transaction: decide, append, project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rules_registry.domain.active_rules import ActiveRules
from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import (
    ChangeEntries,
    ChangeNamed,
    ChangeOfRule,
    ChangeRule,
    ChangeSettings,
    Control,
    Expected,
    PublishRule,
    StartShadow,
)
from rules_registry.domain.decisions import decide_settings
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.quotas import Quotas, rule_growth
from rules_registry.domain.review.content import Proposed, RuleCommand
from rules_registry.errors import IdempotencyKeyReused
from rules_registry.service.control import issue
from rules_registry.service.event_appender import EventAppender, RuleChange
from rules_registry.service.named.list_entries import (
    EntriesOutcome,
    ImportedEntries,
    change_entries,
    usage_after,
)
from rules_registry.service.named.named_values import NamedChange, change_named
from rules_registry.service.ports import Answer, Clock, EventStore, Log, NewId, Remembered
from rules_registry.service.rule_file_lines import ReadLine
from rules_registry.service.rule_import import ImportOutcome, import_lines
from rules_registry.service.usage_of_rules import history_around, usage_of_rules
from tripline_contracts.filters.list_entries import EntriesChange

__all__ = ["KEY_LIFETIME_MS", "Done", "Registry", "Repeatable", "RuleChange"]

# Lifetime of an Idempotency-Key.
KEY_LIFETIME_MS = 24 * 60 * 60 * 1000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A request that may come twice: its key, and the hash of all that makes it this request."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a command: the position of its event, None where there was nothing to change, and the rule."""

    position: int | None
    change: RuleChange | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """Commands in, events out. `new_id` gives UUIDs, for events and control commands."""

    store: EventStore
    clock: Clock
    new_id: NewId
    quotas: Quotas = field(default_factory=Quotas)

    def publish(
        self,
        actor: Actor,
        command: Callable[[int], PublishRule],
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new rule; `command` makes the command once the id is known, `answer` what the caller is told."""

        def run(log: Log) -> RuleChange:
            return self._change_rule(log, actor, command(log.next_rule_id()))

        return self.answered(actor, run, answer, repeatable)

    def change(
        self,
        actor: Actor,
        command: ChangeOfRule,
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new definition, pause, resume or deletion. Raises what `decide` raises, and `QuotaExceeded`."""
        return self.answered(actor, lambda log: self._change_rule(log, actor, command), answer, repeatable)

    def change_settings(self, actor: Actor, command: ChangeSettings) -> SettingsState:
        """New settings, or the ones that hold if they are the same. Raises `StaleVersion`."""
        with self.store.writing() as log:
            return self._change_settings(log, actor, command)[0]

    def change_named(
        self,
        actor: Actor,
        command: ChangeNamed,
        answer: Callable[[NamedChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """Another value of a list or parameter, or the one that holds if it is the same. Raises `StaleVersion` and
        `QuotaExceeded`."""
        return self.answered(actor, lambda log: self._change_named(log, actor, command), answer, repeatable)

    def change_entries(
        self,
        actor: Actor,
        command: ChangeEntries,
        answer: Callable[[EntriesOutcome], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """Some entries of a list come and go. Raises `NameNotFound`, `StaleVersion` and `QuotaExceeded`."""

        def run(log: Log) -> EntriesOutcome:
            return self.change_entries_in(log, actor, command)

        return self.answered(actor, run, answer, repeatable)

    def import_entries(
        self,
        actor: Actor,
        name: str,
        expected: Expected,
        changes: Sequence[EntriesChange],
        answer: Callable[[ImportedEntries], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """Adds all of them to a list, one event and one transaction each, so that others get their turn in between;
        none where all of it would be too much. Raises what `change_entries` raises: what came before stays then, and
        the same import again adds the rest."""
        with self.store.writing() as log:
            earlier = self._answered_before(log, actor, repeatable)
            if earlier is not None:
                return earlier
            self.quotas.require(*usage_after(log, name, changes))
        commands = [
            ChangeEntries(name, expected if i == 0 else None, change) for i, change in enumerate(changes)
        ]
        total = ImportedEntries()
        for command in commands[:-1]:
            with self.store.writing() as log:
                total = total.followed_by(self.change_entries_in(log, actor, command))

        def run(log: Log) -> ImportedEntries:
            return total.followed_by(self.change_entries_in(log, actor, commands[-1]))

        return self.answered(actor, run, answer, repeatable)

    def command(
        self,
        actor: Actor,
        control: Control,
        answer: Callable[[IssuedCommand], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A control command, with all that follows from it. Raises what `issue` raises."""
        return self.answered(actor, lambda log: self._command(log, actor, control), answer, repeatable)

    def perform(self, log: Log, actor: Actor, command: Proposed) -> Done:
        """Any of these within a transaction. Raises what each of them raises."""
        if isinstance(command, RuleCommand):
            change = self._change_rule(log, actor, command)
            return Done(change.position, change)
        match command:
            case ChangeNamed():
                return Done(self._change_named(log, actor, command).named.position)
            case ChangeEntries():
                return Done(self.change_entries_in(log, actor, command).position)
            case ChangeSettings():
                return Done(self._change_settings(log, actor, command)[1])
        return Done(self._command(log, actor, command).position)

    def require_possible(self, log: Log, command: Proposed) -> None:
        """Raises what `perform` would raise now; nothing of it stays."""
        with log.trial():
            self.perform(log, Actor("trial"), command)

    def _change_rule(self, log: Log, actor: Actor, command: PublishRule | ChangeOfRule) -> RuleChange:
        rule = log.rule(command.rule_id)
        brings_definition = isinstance(command, PublishRule | ChangeRule | StartShadow)
        change = self._writer(log, actor).apply(rule, command)
        growth = rule_growth(rule, change.rule)
        # To count ten thousand rules is worth it only where one more may be too many.
        counted = log.rule_usage() if any(more > 0 for more in growth.values()) else {}
        before = {quota: used - growth[quota] for quota, used in counted.items()}
        history = history_around(log, self.quotas, rule, change.rule) if brings_definition else ({}, {})
        self.quotas.require({**before, **history[0]}, {**counted, **history[1]})
        return replace(change, purpose=log.purposes.get(command.rule_id).purpose)

    def _change_named(self, log: Log, actor: Actor, command: ChangeNamed) -> NamedChange:
        before = log.named_usage()
        change = change_named(self._writer(log, actor), command)
        self.quotas.require(before, log.named_usage())
        return change

    def change_entries_in(self, log: Log, actor: Actor, command: ChangeEntries) -> EntriesOutcome:
        """Changes entries within a transaction. Raises `NameNotFound`, `StaleVersion` and `QuotaExceeded`."""
        before = log.named_usage()
        outcome = change_entries(self._writer(log, actor), command)
        self.quotas.require(before, log.named_usage())
        return outcome

    def _change_settings(
        self, log: Log, actor: Actor, command: ChangeSettings
    ) -> tuple[SettingsState, int | None]:
        """The settings as they are then, and the position of the event, None where there was nothing to change."""
        current = log.settings()
        event = decide_settings(current, command)
        if event is None:
            return current, None
        # the defaults are nobody's change
        recorded = self._writer(log, actor).append(event, None, current if current.version else None)
        return SettingsState(event.version, event.settings), recorded.position

    def _command(self, log: Log, actor: Actor, control: Control) -> IssuedCommand:
        return issue(self._bulk_writer(log, actor), control, self.new_id())

    def import_rules(
        self,
        actor: Actor,
        lines: Sequence[ReadLine],
        answer: Callable[[ImportOutcome], Answer],
        repeatable: Repeatable | None = None,
        *,
        atomic: bool,
    ) -> Answer:
        """The records of the lines, in their order. Raises `ImportRefused` where nothing of it happens: one line was
        refused and `atomic` is set, or all were; and `QuotaExceeded`: quotas hold for what all lines come to."""

        def run(log: Log) -> ImportOutcome:
            writer = replace(self._bulk_writer(log, actor), shared_names=True)
            with self._rules_within_quotas(log):
                return import_lines(writer, lines, self.new_id, atomic=atomic)

        return self.answered(actor, run, answer, repeatable)

    def answered(
        self,
        actor: Actor,
        run: Callable[[Log], T],
        answer: Callable[[T], Answer],
        repeatable: Repeatable | None,
    ) -> Answer:
        """What came of `run`, once per idempotency key. Raises what it raises, and `IdempotencyKeyReused`."""
        # The log has one writer at a time: whoever comes with the same key waits here, then finds the answer.
        with self.store.writing() as log:
            earlier = self._answered_before(log, actor, repeatable)
            if earlier is not None:
                return earlier
            first = answer(run(log))
            if repeatable is not None:
                remembered = Remembered(repeatable.request_hash, first)
                log.remember(actor.name, repeatable.key, remembered, self.clock() + KEY_LIFETIME_MS)
            return first

    def _answered_before(self, log: Log, actor: Actor, repeatable: Repeatable | None) -> Answer | None:
        if repeatable is None:
            return None
        earlier = log.remembered(actor.name, repeatable.key, self.clock())
        if earlier is None:
            return None
        if earlier.request_hash != repeatable.request_hash:
            raise IdempotencyKeyReused
        return earlier.answer

    @contextmanager
    def _rules_within_quotas(self, log: Log) -> Iterator[None]:
        """Raises `QuotaExceeded` for what was written inside, and then nothing of it may be committed."""
        before = usage_of_rules(log, self.quotas)
        yield
        self.quotas.require(before, usage_of_rules(log, self.quotas))

    def _writer(self, log: Log, actor: Actor) -> EventAppender:
        return EventAppender(log, actor, self.clock, self.new_id, room=self.quotas.history)

    def _bulk_writer(self, log: Log, actor: Actor) -> EventAppender:
        return EventAppender(
            log, actor, self.clock, self.new_id, ActiveRules(log.rules()), self.quotas.history
        )
