"""Operators' commands, applied at their position in the order (semantics 6, decision 0039)."""

from __future__ import annotations

from functools import partial
from operator import eq
from typing import assert_never

from tests.oracle.judgement.verdicts import Verdicts
from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.operator_commands import (
    ClearGroup,
    ClearRule,
    Command,
    EndBackfill,
    StartBackfill,
    VoidTransaction,
)
from tests.oracle.state.clock import Clock
from tests.oracle.state.firing_state import key_of
from tests.oracle.state.history import History
from tests.oracle.state.rule_book import RuleBook
from tests.oracle.windows.accepted_transaction import Void


class CommandHandler:
    """Applies the commands of operators; `backfills` are the ids of the open ones."""

    def __init__(self, rules: RuleBook, clock: Clock, history: History, verdicts: Verdicts) -> None:
        self.backfills: set[str] = set()
        self._rules = rules
        self._clock = clock
        self._history = history
        self._verdicts = verdicts

    def clear_all(self) -> None:
        """Forget what was accepted and all firing state."""
        self._history.clear()
        self._verdicts.clear(lambda _: True)
        self._clock.clear()

    def apply(self, command: Command, position: int) -> None:
        """Apply the command at that position of rules.v1."""
        if isinstance(command, ClearRule):
            self._clear_rule(command.rule_id, position)
        elif isinstance(command, ClearGroup):
            self._clear_group(command.rule_id, command.group)
        elif isinstance(command, VoidTransaction):
            void = Void(position, self._clock.settled)
            self._history.void(command.transaction_id, command.event_time, void)
        elif isinstance(command, StartBackfill):
            self.backfills.add(command.backfill_id)
            self._clock.reopen(self._rules.held_versions(), self._history.counts())
        elif isinstance(command, EndBackfill):
            self._end_backfill(command)
        else:
            assert_never(command)

    def _clear_rule(self, rule_id: int, position: int) -> None:
        if self._rules.exists(rule_id):
            self._history.clear_rule(rule_id)
            self._verdicts.clear(lambda key: key[0] == rule_id)
            self._clock.clear_rule(rule_id, position)

    def _clear_group(self, rule_id: int, group: dict[str, str]) -> None:
        """Of the versions there are now; what several groups share, windows or buckets, cannot be forgotten of one."""
        if not self._rules.exists(rule_id):
            return
        for version in self._rules.all_versions(rule_id):
            definition = version.definition
            shared = definition.chained or definition.bucket is not None
            if not shared and definition.grouping == tuple(map(Key, sorted(group))):
                self._history.clear_group(version, group, self._rules.anchor(version))
                self._verdicts.clear(partial(eq, key_of(version, group)))

    def _end_backfill(self, command: EndBackfill) -> None:
        if command.backfill_id not in self.backfills:
            return
        self.backfills.discard(command.backfill_id)
        if command.complete_from is not None:
            self._clock.complete(command.complete_from)
