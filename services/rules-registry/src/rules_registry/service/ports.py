"""Ports of the use cases: a log with one writer at a time, a clock, fresh ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead, Subject
from rules_registry.domain.backfills import Backfill
from rules_registry.domain.backtests.backtest import Backtest, Wanted
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.event_record import EventRecord
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.keys.api_key import Key
from rules_registry.domain.named_value import NamedEntry
from rules_registry.domain.purposes.rule_purpose import KeptPurpose
from rules_registry.domain.quotas import Usage
from rules_registry.domain.review.change_request import ChangeRequest
from rules_registry.domain.rule import Rule
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.list_entries import EntriesChange
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import Needing

# ms since the epoch.
Clock = Callable[[], int]
NewId = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a caller, kept for a repeated request."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer under an idempotency key, with the hash of the request that it answered."""

    request_hash: str
    answer: Answer


class Changes(Protocol):
    """Changes within a transaction of the log."""

    def next_id(self) -> int:
        """An id that no change has had."""

    def get(self, change_id: int) -> ChangeRequest | None:
        """The change as it stands."""

    def open(self, subject: Subject) -> ChangeRequest | None:
        """The change of this subject that is a draft or submitted."""

    def keep(self, change: ChangeRequest, editor: str | None) -> None:
        """Writes a change; `editor` is who wrote its content, None where that was written before."""

    def was_approved(self, rule_id: int, definition_hash: str) -> bool:
        """Whether somebody approved this definition for this rule."""


class ApiKeys(Protocol):
    """API keys within a transaction of the log."""

    def get(self, name: str) -> Key | None:
        """The key as it stands, revoked or not."""

    def names(self) -> Sequence[str]:
        """All names that were ever given out."""

    def living(self) -> int:
        """How many are not revoked."""

    def add(self, key: Key) -> None:
        """Writes a new key and its secret."""

    def keep(self, key: Key) -> None:
        """Writes what changed: ends, a new secret, that it was revoked."""


class Purposes(Protocol):
    """What rules are for, within a transaction of the log."""

    def get(self, rule_id: int) -> KeptPurpose:
        """The purpose as it stands."""

    def keep(self, rule_id: int, kept: KeptPurpose) -> None:
        """Writes the purpose in place of the one before."""


class Backtests(Protocol):
    """Backtests within a transaction of the log."""

    def add(self, wanted: Wanted, run_key: str, requested_by: str, now_ms: int) -> Backtest:
        """Writes a new one."""

    def get(self, backtest_id: int) -> Backtest | None:
        """The backtest as it stands, and nobody else changes it meanwhile."""

    def count_open(self) -> int:
        """How many are not ended."""

    def keep(self, backtest: Backtest, seen: Backtest) -> None:
        """Writes how it stands, if it is in the state that was seen."""


class Lists(Protocol):
    """The entries of lists within a transaction of the log."""

    def head(self, name: str) -> NamedEntry | None:
        """The list as it stands, without its values."""

    def standing(self, name: str, values: Collection[str]) -> Mapping[str, int | None]:
        """Those of the values that the list has, each with its end in ms."""

    def keep(self, named: NamedEntry, change: EntriesChange) -> None:
        """Writes the entries of the last event, and what it made of the list's head. Raises `ConcurrentChange`."""

    def overdue(self, now_ms: int, most: int) -> Sequence[tuple[str, str]]:
        """Names and values of entries whose end has come, by name, `most` at most."""


class Log(Protocol):
    """The log inside one transaction: whoever holds it is the only writer until the transaction ends."""

    @property
    def event_type(self) -> EventType:
        """The type that rules are of."""

    def rule(self, rule_id: int) -> Rule | None:
        """The rule as it stands; deleted ones too."""

    def rules(self) -> list[Rule]:
        """Every rule that is not deleted, by id."""

    def named_alike(self, name: str, without: int) -> int | None:
        """The living rule with that name, in any case, rule `without` left aside."""

    def needing(self, without: int) -> list[Needing]:
        """The rules that need their history but for rule `without`; at least the widest of each grouping set."""

    def last_widest(self) -> tuple[Mapping[str, object], ...]:
        """The widest windows after the last event; none before any."""

    def settings(self) -> SettingsState:
        """The settings as they stand."""

    def named(self, kind: Kind, name: str) -> NamedEntry | None:
        """The list or parameter as it stands."""

    def rule_usage(self) -> Usage:
        """How many rules there are, active ones and all that are not deleted."""

    def named_usage(self) -> Usage:
        """How many lists and parameters there are, and bytes of JSON in the lists."""

    def widest_definitions(self, without: int) -> list[RuleDefinition]:
        """Of the rules that are not deleted as many as decide how much history is held, rule `without` left aside."""

    def known_names(self, kind: Kind, names: Collection[str]) -> frozenset[str]:
        """Those of these lists or parameters that exist."""

    def keep_named(self, named: NamedEntry) -> None:
        """Writes what the last event made of a list or parameter. Raises `ConcurrentChange`."""

    def next_rule_id(self) -> int:
        """An id that no rule has had."""

    def next_position(self) -> int:
        """One more than the last position."""

    def append(self, recorded: EventRecord, rule: Rule | None) -> None:
        """Writes the event, and the rule that it makes. Raises `ConcurrentChange`."""

    def audit_head(self) -> ChainHead:
        """The last entry of the audit trail."""

    def append_audit(self, entry: AuditEntry) -> None:
        """Writes the next entry of the audit trail."""

    def trial(self) -> AbstractContextManager[object]:
        """What is written inside is gone afterwards."""

    @property
    def changes(self) -> Changes:
        """The changes that wait for another person, and those that did."""

    @property
    def api_keys(self) -> ApiKeys:
        """The API keys that were given out."""

    @property
    def lists(self) -> Lists:
        """The entries of lists."""

    @property
    def backtests(self) -> Backtests:
        """Rules that are tried over history."""

    @property
    def purposes(self) -> Purposes:
        """What rules are for."""

    def note_command(self, commanded: IssuedCommand) -> None:
        """Keeps what followed from a control command, for those who ask."""

    def backfill(self, backfill_id: str) -> Backfill | None:
        """The backfill under this id, ended or not."""

    def remembered(self, actor: str, key: str, now_ms: int) -> Remembered | None:
        """The answer under this idempotency key, if it has not expired."""

    def remember(self, actor: str, key: str, remembered: Remembered, expires_at: int) -> None:
        """Keeps an answer until `expires_at` (ms)."""


class EventStore(Protocol):
    """The store of the log."""

    def writing(self) -> AbstractContextManager[Log]:
        """A transaction; it commits at the end of a `with` that raises nothing."""
