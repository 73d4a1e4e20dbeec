"""The log on Postgres: one writer at a time, append and projection in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from typing import Any, cast

from psycopg.types.json import Jsonb

from rules_registry.adapters import backfill_statements, other_rules_statements, statements
from rules_registry.adapters.audit import audit_statements
from rules_registry.adapters.backtests.backtest_store import PostgresBacktests
from rules_registry.adapters.change_store import PostgresChanges
from rules_registry.adapters.keys.key_store import PostgresKeys
from rules_registry.adapters.named import named_statements
from rules_registry.adapters.named.list_store import PostgresLists
from rules_registry.adapters.postgres import Connection, Pool, translated
from rules_registry.adapters.purposes.purpose_store import PostgresPurposes
from rules_registry.adapters.rows import backfill_of, definition_of, head_of, named_of, rule_of
from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead
from rules_registry.domain.backfills import Backfill
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.event_record import EventRecord, settings_from_json, shadow_members, to_json
from rules_registry.domain.events import (
    ControlCommand,
    ListChanged,
    ListEntriesChanged,
    ParameterChanged,
    RuleEvent,
)
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.named_value import NamedEntry, value_json
from rules_registry.domain.quotas import Usage
from rules_registry.domain.rule import Rule
from rules_registry.errors import ConcurrentChange
from rules_registry.service.ports import Answer, Remembered
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import Needing


class PostgresEventStore:
    """Makes the transactions in which the log is written."""

    def __init__(self, pool: Pool, event_type: EventType) -> None:
        self._pool, self._event_type = pool, event_type

    @contextmanager
    def writing(self) -> Iterator[PostgresLog]:
        """The log for the one writer. Raises `StoreUnavailable` and `ConcurrentChange`."""
        with translated(), self._pool.connection() as connection, connection.transaction():
            connection.execute(statements.TAKE_WRITER_LOCK)
            yield PostgresLog(connection, self._event_type)


class PostgresLog:
    """The log inside a transaction that holds the writer's lock."""

    def __init__(self, connection: Connection, event_type: EventType) -> None:
        self._connection, self._event_type = connection, event_type

    @property
    def event_type(self) -> EventType:
        """The type that rules are of."""
        return self._event_type

    def rule(self, rule_id: int) -> Rule | None:
        """The rule as it stands; deleted ones too."""
        row = self._one(statements.RULE, rule_id=rule_id)
        return None if row is None else rule_of(row, self._event_type)

    def rules(self) -> list[Rule]:
        """Every rule that is not deleted, by id."""
        rows = self._connection.execute(statements.STANDING)
        return [rule_of(row, self._event_type) for row in rows]

    def named_alike(self, name: str, without: int) -> int | None:
        """The living rule with that name, in any case, rule `without` left aside."""
        row = self._one(other_rules_statements.NAMED_ALIKE, name=name, without=without)
        return None if row is None else int(row["rule_id"])

    def needing(self, without: int) -> list[Needing]:
        """Of the rules that need their history the widest of each grouping set, one rule left aside, and maybe more."""
        rows = self._connection.execute(other_rules_statements.NEEDING, {"without": without})
        return [
            (row["rule_id"], row["definition_version"], definition_of(row["definition"], self._event_type))
            for row in rows
        ]

    def last_widest(self) -> tuple[Mapping[str, object], ...]:
        """The widest windows after the last event; none before any."""
        row = self._one(statements.LAST_WIDEST)
        return () if row is None else tuple(row["widest"])

    def settings(self) -> SettingsState:
        """The settings as they stand."""
        row = self._one(statements.SETTINGS)
        return (
            SettingsState()
            if row is None
            else SettingsState(row["version"], settings_from_json(row["settings"]))
        )

    def named(self, kind: Kind, name: str) -> NamedEntry | None:
        """The list or parameter as it stands."""
        row = self._one(named_statements.NAMED, kind=kind, name=name)
        return None if row is None else named_of(row)

    def rule_usage(self) -> Usage:
        """How many rules there are, active ones and all that are not deleted."""
        return self._usage(statements.RULE_USAGE)

    def named_usage(self) -> Usage:
        """How many lists and parameters there are, and bytes of JSON in the lists."""
        return self._usage(named_statements.USAGE)

    def widest_definitions(self, without: int) -> list[RuleDefinition]:
        """Of rules that are alike but for their window the widest; of chained rules all; one rule left aside."""
        rows = self._connection.execute(other_rules_statements.WIDEST_DEFINITIONS, {"without": without})
        return [definition_of(row["definition"], self._event_type) for row in rows]

    def known_names(self, kind: Kind, names: Collection[str]) -> frozenset[str]:
        """Those of these lists or parameters that exist."""
        rows = self._connection.execute(named_statements.KNOWN, {"kind": kind, "names": list(names)})
        return frozenset(row["name"] for row in rows)

    def keep_named(self, named: NamedEntry) -> None:
        """Writes what the last event made of a parameter, or of a list as a whole."""
        if not isinstance(named.value, Decimal):
            self.lists.replace(named, named.value or ())
            return
        values = {
            "kind": named.kind,
            "name": named.name,
            "version": named.version,
            "value": Jsonb(value_json(named.value)),
            "position": named.position,
            "changed_at": named.changed_at,
            "changed_by": named.changed_by,
        }
        if self._connection.execute(named_statements.PROJECT_NAMED, values).rowcount != 1:
            raise ConcurrentChange(f"{named.name} is not at version {named.version - 1} any more.")

    def next_rule_id(self) -> int:
        """An id that no rule has had: deleted rules stay in the projection."""
        return self._next(statements.NEXT_RULE_ID)

    def next_position(self) -> int:
        """One more than the last position."""
        return self._next(statements.NEXT_POSITION)

    def append(self, recorded: EventRecord, rule: Rule | None) -> None:
        """Writes the event and the rule that it makes, and wakes the relay at commit."""
        event = recorded.event
        values = {
            "position": recorded.position,
            "event_id": recorded.event_id,
            "type": recorded.type,
            "rule_id": event.rule_id if isinstance(event, RuleEvent) else None,
            "version": None if isinstance(event, ControlCommand) else event.version,
            "name": event.name
            if isinstance(event, ListChanged | ListEntriesChanged | ParameterChanged)
            else None,
            "occurred_at": recorded.occurred_at,
            "actor": recorded.actor,
            "body": Jsonb(to_json(recorded)),
        }
        self._connection.execute(statements.APPEND_EVENT, values)
        if rule is not None:
            self._project(recorded, rule)
        self._connection.execute(statements.NOTIFY, {"channel": statements.CHANNEL})

    def audit_head(self) -> ChainHead:
        """The last entry of the audit trail."""
        return head_of(self._one(audit_statements.HEAD))

    def append_audit(self, entry: AuditEntry) -> None:
        """Writes the next entry of the audit trail."""
        values = {"sequence": entry.sequence, "body": entry.text, "hash": entry.hash}
        self._connection.execute(audit_statements.APPEND, values)

    def trial(self) -> AbstractContextManager[object]:
        """What is written inside is gone afterwards."""
        return self._connection.transaction(force_rollback=True)

    @property
    def changes(self) -> PostgresChanges:
        """The changes that wait for another person, and those that did."""
        return PostgresChanges(self._connection)

    @property
    def api_keys(self) -> PostgresKeys:
        """The API keys that were given out."""
        return PostgresKeys(self._connection)

    @property
    def lists(self) -> PostgresLists:
        """The entries of lists."""
        return PostgresLists(self._connection)

    @property
    def backtests(self) -> PostgresBacktests:
        """Rules that are tried over history."""
        return PostgresBacktests(self._connection)

    @property
    def purposes(self) -> PostgresPurposes:
        """What rules are for."""
        return PostgresPurposes(self._connection)

    def note_command(self, commanded: IssuedCommand) -> None:
        """Keeps what followed from a control command."""
        values = {
            "command_id": commanded.command_id,
            "command": commanded.control,
            "position": commanded.position,
            "last_position": commanded.last_position,
            "occurred_at": commanded.occurred_at,
            "actor": commanded.actor,
        }
        self._connection.execute(statements.NOTE_COMMAND, values)

    def backfill(self, backfill_id: str) -> Backfill | None:
        """The backfill under this id, ended or not."""
        row = self._one(backfill_statements.BACKFILL, backfill_id=backfill_id)
        return None if row is None else backfill_of(row)

    def remembered(self, actor: str, key: str, now_ms: int) -> Remembered | None:
        """The answer under this idempotency key, if it has not expired."""
        row = self._one(statements.KEY, actor=actor, key=key, now=now_ms)
        if row is None:
            self._connection.execute(statements.FORGET_EXPIRED_KEYS, {"now": now_ms})
            return None
        return Remembered(row["request_hash"], Answer(row["status"], row["headers"], row["body"]))

    def remember(self, actor: str, key: str, remembered: Remembered, expires_at: int) -> None:
        """Keeps an answer until `expires_at` (ms)."""
        values = {
            "actor": actor,
            "key": key,
            "request_hash": remembered.request_hash,
            "status": remembered.answer.status,
            "headers": Jsonb(dict(remembered.answer.headers)),
            "body": Jsonb(dict(remembered.answer.body)),
            "expires_at": expires_at,
        }
        self._connection.execute(statements.REMEMBER_KEY, values)

    def _project(self, recorded: EventRecord, rule: Rule) -> None:
        values = {
            "rule_id": rule.rule_id,
            "version": rule.version,
            "definition_version": rule.definition_version,
            "state": rule.state,
            "name": rule.name,
            "definition": Jsonb(rule.definition.to_json()),
            "definition_hash": rule.definition.hash,
            "grouping_key_names": list(rule.definition.grouping_key_names),
            "effective_from": rule.effective_from,
            "effective_until": rule.effective_until,
            "shadow": None if rule.shadow is None else Jsonb(shadow_members(rule.shadow)),
            "occurred_at": recorded.occurred_at,
            "actor": recorded.actor,
            "position": recorded.position,
        }
        if self._connection.execute(statements.PROJECT_RULE, values).rowcount != 1:
            raise ConcurrentChange(f"Rule {rule.rule_id} is not at version {rule.version - 1} any more.")

    def _one(self, statement: str, **values: object) -> dict[str, Any] | None:
        return self._connection.execute(statement, values).fetchone()

    def _usage(self, statement: str) -> Usage:
        row = self._one(statement)
        assert row is not None  # an aggregate without GROUP BY is one row
        return cast("Usage", row)

    def _next(self, statement: str) -> int:
        row = self._one(statement)
        assert row is not None  # an aggregate without GROUP BY is one row
        return int(row["next"])
