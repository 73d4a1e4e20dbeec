"""The use cases that change something. Each is one transaction: decide, append, project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rules_registry.domain.commands import ChangeOfRule, ChangeSettings, PublishRule
from rules_registry.domain.deciding import decide, decide_settings
from rules_registry.domain.events import Event
from rules_registry.domain.recorded import Recorded, widest_after
from rules_registry.domain.rule import Rule, evolve
from rules_registry.domain.settings import SettingsState
from rules_registry.errors import IdempotencyKeyReused
from rules_registry.service.ports import Answer, Clock, EventStore, Log, NewEventId, Remembered

# How long an Idempotency-Key is remembered.
KEY_LIFETIME_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A request that may come twice: its key, and the hash of all that makes it this request."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule after its last event, with when (ms) and by whom it was changed."""

    rule: Rule
    position: int
    changed_at: int
    changed_by: str


@dataclass(frozen=True, slots=True)
class Registry:
    """Commands in, events out."""

    store: EventStore
    clock: Clock
    new_event_id: NewEventId

    def publish(
        self,
        actor: str,
        command: Callable[[int], PublishRule],
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new rule; `command` makes the command once the id is known, `answer` what the caller is told."""

        def run(log: Log) -> RuleChange:
            return self._apply(log, actor, None, command(log.next_rule_id()))

        return self._answered(actor, run, answer, repeatable)

    def change(
        self,
        actor: str,
        command: ChangeOfRule,
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """A new definition, pause, resume or deletion. Raises what `decide` raises."""

        def run(log: Log) -> RuleChange:
            return self._apply(log, actor, log.rule(command.rule_id), command)

        return self._answered(actor, run, answer, repeatable)

    def change_settings(self, actor: str, command: ChangeSettings) -> SettingsState:
        """New settings, or the ones that hold if they are the same. Raises `StaleVersion`."""
        with self.store.writing() as log:
            current = log.settings()
            event = decide_settings(current, command)
            if event is None:
                return current
            self._append(log, actor, event, None)
            return SettingsState(event.version, event.settings)

    def _answered(
        self,
        actor: str,
        run: Callable[[Log], RuleChange],
        answer: Callable[[RuleChange], Answer],
        repeatable: Repeatable | None,
    ) -> Answer:
        # The log has one writer at a time: whoever comes with the same key waits here, then finds the answer.
        with self.store.writing() as log:
            now = self.clock()
            if repeatable is None:
                return answer(run(log))
            known = log.remembered(actor, repeatable.key, now)
            if known is not None:
                if known.request_hash != repeatable.request_hash:
                    raise IdempotencyKeyReused
                return known.answer
            given = answer(run(log))
            remembered = Remembered(repeatable.request_hash, given)
            log.remember(actor, repeatable.key, remembered, now + KEY_LIFETIME_MS)
            return given

    def _apply(
        self, log: Log, actor: str, rule: Rule | None, command: PublishRule | ChangeOfRule
    ) -> RuleChange:
        event = decide(rule, command, self.clock())
        changed = evolve(rule, event)
        recorded = self._append(log, actor, event, changed)
        return RuleChange(changed, recorded.position, recorded.occurred_at, actor)

    def _append(self, log: Log, actor: str, event: Event, rule: Rule | None) -> Recorded:
        recorded = Recorded(
            position=log.next_position(),
            event_id=self.new_event_id(),
            occurred_at=self.clock(),
            actor=actor,
            event=event,
            widest=widest_after(log.needing(without=0 if rule is None else rule.rule_id), rule),
        )
        log.append(recorded, rule)
        return recorded
