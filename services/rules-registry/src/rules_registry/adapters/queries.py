"""Reading the registry. Pages hold one row more than asked for, which says that there is a next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules_registry.adapters import backfill_statements, statements
from rules_registry.adapters.postgres import Pool, translated
from rules_registry.adapters.rows import backfill_of
from rules_registry.domain.backfills import Backfill
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.event_record import settings_from_json
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.reports.shard_reports import Exported, HeldRule, read_held
from rules_registry.errors import CommandNotFound, RuleIsDeleted, RuleNotFound, VersionNotFound
from tripline_contracts.control_commands import read_payload

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """A filter of rules; `None` filters nothing, but without a state deleted rules are left out."""

    state: str | None = None
    grouping_key: str | None = None
    name: str | None = None
    severity: str | None = None
    tag: str | None = None
    owner: str | None = None
    rule_id: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Rows, and the key after which the next page begins (`None`: this is the last one)."""

    rows: Sequence[Row]
    next_after: int | None


class Queries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def rules(self, rule_filter: RuleFilter, after: int, limit: int) -> Page:
        """Rules by id."""
        values = {
            "state": rule_filter.state,
            "grouping_key": rule_filter.grouping_key,
            "name": rule_filter.name,
            "severity": rule_filter.severity,
            "tag": rule_filter.tag,
            "owner": rule_filter.owner,
        }
        return self._page(statements.RULES, after, limit, _rule_id, **values)

    def rule(self, rule_id: int) -> Row:
        """The rule. Raises `RuleNotFound` and `RuleIsDeleted`."""
        row = self._one(statements.SHOWN_RULE, rule_id=rule_id)
        if row is None:
            raise RuleNotFound(rule_id)
        if row["state"] == "DELETED":
            raise RuleIsDeleted(rule_id)
        return row

    def versions(self, rule_id: int, after: int, limit: int, *, newest_first: bool = False) -> Page:
        """The events of a rule by version, each with its reason; with `newest_first` those before `after`, and 0 is
        before the newest. Raises as `rule` does."""
        self.rule(rule_id)
        statement = statements.NEWEST_VERSIONS if newest_first else statements.VERSIONS
        return self._page(statement, after, limit, lambda row: int(row["body"]["version"]), rule_id=rule_id)

    def version(self, rule_id: int, version: int) -> Row:
        """One event of a rule, with its reason. Raises as `rule` does, and `VersionNotFound`."""
        self.rule(rule_id)
        row = self._one(statements.VERSION, rule_id=rule_id, version=version)
        if row is None:
            raise VersionNotFound(rule_id, version)
        return row

    def events(self, rule_id: int | None, after: int, limit: int) -> Page:
        """The log by position, of one rule if one is named."""
        return self._page(statements.EVENTS, after, limit, lambda row: int(row["position"]), rule_id=rule_id)

    def widest_windows(self) -> tuple[int, Sequence[Row]]:
        """The last position and the widest windows after it; 0 and none before any event."""
        row = self._one(statements.LAST_WIDEST)
        return (0, []) if row is None else (row["position"], row["widest"])

    def rule_status(self, rule_filter: RuleFilter, after: int, limit: int) -> Page:
        """Published beside applied, by rule id."""
        values = {"state": rule_filter.state, "rule_id": rule_filter.rule_id}
        return self._page(statements.RULE_STATUS, after, limit, _rule_id, **values)

    def commands(self, after: int, limit: int) -> tuple[list[IssuedCommand], int | None]:
        """Control commands, newest first, before position `after` (0: from the newest); where the next page begins."""
        page = self._page(statements.COMMANDS, after, limit, lambda row: int(row["position"]))
        return [_commanded(row) for row in page.rows], page.next_after

    def command(self, command_id: str) -> IssuedCommand:
        """The control command. Raises `CommandNotFound`."""
        row = self._one(statements.COMMAND, command_id=command_id)
        if row is None:
            raise CommandNotFound(command_id)
        return _commanded(row)

    def backfills(self, state: str | None, after: int, limit: int) -> tuple[list[Backfill], int | None]:
        """Backfills, newest first, before position `after` (0: from the newest); where the next page begins. `state` is
        `open`, `ended` or None for both."""
        page = self._page(
            backfill_statements.BACKFILLS, after, limit, lambda row: int(row["position"]), state=state
        )
        return [backfill_of(row) for row in page.rows], page.next_after

    def exports(self, command_id: str) -> list[Exported]:
        """The shards' answers to an export, by shard."""
        rows = self._all(statements.EXPORTS, command_id=command_id)
        return [
            Exported(
                command_id=command_id,
                position=row["position"],
                shard=row["shard"],
                shards=row["shards"],
                exported_at=row["exported_at"],
                rules=tuple(read_held(rule) for rule in row["rules"]),
            )
            for row in rows
        ]

    def published_by(self, position: int) -> list[HeldRule]:
        """The rules that were not deleted by a position, as they stood there."""
        return [HeldRule(**row) for row in self._all(statements.PUBLISHED_BY, position=position)]

    def settings(self) -> SettingsState:
        """The settings as they stand."""
        row = self._one(statements.SETTINGS)
        return (
            SettingsState()
            if row is None
            else SettingsState(row["version"], settings_from_json(row["settings"]))
        )

    def _one(self, statement: str, **values: object) -> Row | None:
        with translated(), self._pool.connection() as connection:
            return connection.execute(statement, values).fetchone()

    def _all(self, statement: str, **values: object) -> Sequence[Row]:
        with translated(), self._pool.connection() as connection:
            return connection.execute(statement, values).fetchall()

    def _page(
        self, statement: str, after: int, limit: int, key: Callable[[Row], int], **values: object
    ) -> Page:
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(statement, {**values, "after": after, "limit": limit + 1}).fetchall()
        page = rows[:limit]
        return Page(page, key(page[-1]) if len(rows) > limit else None)


def _rule_id(row: Row) -> int:
    return int(row["rule_id"])


def _commanded(row: Row) -> IssuedCommand:
    return IssuedCommand(
        command_id=row["command_id"],
        control=row["command"],
        position=row["position"],
        last_position=row["last_position"],
        occurred_at=row["occurred_at"],
        actor=row["actor"],
        payload=read_payload(row["event"]),
    )
