"""The log in memory: what is written inside a `with` that raises is gone, as on Postgres."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead, Subject
from rules_registry.domain.backfills import Backfill, BackfillEnd
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.event_record import EventRecord
from rules_registry.domain.events import SettingsChanged
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.keys.api_key import Key
from rules_registry.domain.named_value import NamedEntry, value_json
from rules_registry.domain.purposes.rule_purpose import KeptPurpose
from rules_registry.domain.quotas import Quotas, Usage
from rules_registry.domain.review.change_request import ChangeRequest
from rules_registry.domain.rule import Rule
from rules_registry.service.ports import Remembered
from rules_registry.service.registry import Registry
from tests.unit.rules_registry.support.fake_backtests import FakeBacktests
from tests.unit.rules_registry.support.fake_lists import FakeLists
from tests.unit.rules_registry.support.samples import NOW
from tripline_contracts import control_commands, event_type_loader
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import Needing


@dataclass
class FakeChanges:
    """Changes by id."""

    kept: dict[int, ChangeRequest] = field(default_factory=dict)
    editors: list[tuple[int, int, str]] = field(default_factory=list)

    def next_id(self) -> int:
        return max(self.kept, default=0) + 1

    def get(self, change_id: int) -> ChangeRequest | None:
        return self.kept.get(change_id)

    def open(self, subject: Subject) -> ChangeRequest | None:
        return next(
            (
                change
                for change in self.kept.values()
                if change.content.subject == subject and change.state in ("DRAFT", "SUBMITTED")
            ),
            None,
        )

    def keep(self, change: ChangeRequest, editor: str | None) -> None:
        self.kept[change.change_id] = change
        if editor is not None:
            self.editors.append((change.change_id, change.revision, editor))

    def was_approved(self, rule_id: int, definition_hash: str) -> bool:
        return any(
            change.content.subject == Subject("rule", str(rule_id))
            and change.decided_by is not None
            and change.content.members.get("definitionHash") == definition_hash
            for change in self.kept.values()
        )

    def new_rules(self) -> list[int]:
        """Ids of rules that wait for their approval, or did."""
        made = [change.content for change in self.kept.values() if change.content.kind == "PUBLISH_RULE"]
        return [int(content.subject.id or 0) for content in made]


@dataclass
class FakeApiKeys:
    """Keys by name."""

    kept: dict[str, Key] = field(default_factory=dict)

    def get(self, name: str) -> Key | None:
        return self.kept.get(name)

    def names(self) -> list[str]:
        return list(self.kept)

    def living(self) -> int:
        return sum(key.revoked_at is None for key in self.kept.values())

    def add(self, key: Key) -> None:
        assert key.name not in self.kept
        self.kept[key.name] = key

    def keep(self, key: Key) -> None:
        assert key.name in self.kept
        self.kept[key.name] = key


@dataclass
class FakePurposes:
    """Purposes by rule."""

    kept: dict[int, KeptPurpose] = field(default_factory=dict)

    def get(self, rule_id: int) -> KeptPurpose:
        return self.kept.get(rule_id, KeptPurpose())

    def keep(self, rule_id: int, kept: KeptPurpose) -> None:
        self.kept[rule_id] = kept


@dataclass
class FakeLog:
    """All that Postgres would hold. `whole_reads` are the questions for which it would go through all rules."""

    whole_reads: list[str] = field(default_factory=list)
    recorded: list[EventRecord] = field(default_factory=list)
    _rules: dict[int, Rule] = field(default_factory=dict)
    _named: dict[tuple[Kind, str], NamedEntry] = field(default_factory=dict)
    commands: list[IssuedCommand] = field(default_factory=list)
    audit: list[AuditEntry] = field(default_factory=list)
    _changes: FakeChanges = field(default_factory=FakeChanges)
    _api_keys: FakeApiKeys = field(default_factory=FakeApiKeys)
    _purposes: FakePurposes = field(default_factory=FakePurposes)
    backtests: FakeBacktests = field(default_factory=FakeBacktests)
    keys: dict[tuple[str, str], tuple[Remembered, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lists = FakeLists(self._named)

    def rule(self, rule_id: int) -> Rule | None:
        return self._rules.get(rule_id)

    def rules(self) -> list[Rule]:
        return [rule for _, rule in sorted(self._rules.items()) if rule.state != "DELETED"]

    def named_alike(self, name: str, without: int) -> int | None:
        alike = (
            rule for rule in self.rules() if rule.name.lower() == name.lower() and rule.rule_id != without
        )
        return next((rule.rule_id for rule in alike), None)

    @property
    def event_type(self) -> EventType:
        return event_type_loader.load()

    def needing(self, without: int) -> list[Needing]:
        self.whole_reads.append("needing")
        return [
            (rule.rule_id, rule.definition_version, rule.definition)
            for rule in self._rules.values()
            if rule.state != "DELETED" and rule.rule_id != without
        ]

    def last_widest(self) -> tuple[Mapping[str, object], ...]:
        return self.recorded[-1].widest if self.recorded else ()

    def settings(self) -> SettingsState:
        state = SettingsState()
        for recorded in self.recorded:
            if isinstance(recorded.event, SettingsChanged):
                state = SettingsState(recorded.event.version, recorded.event.settings)
        return state

    def named(self, kind: Kind, name: str) -> NamedEntry | None:
        return self._named.get((kind, name))

    def rule_usage(self) -> Usage:
        self.whole_reads.append("rule_usage")
        active = sum(rule.state == "ACTIVE" for rule in self._rules.values())
        return {"activeRules": active, "rules": len(self.rules())}

    def named_usage(self) -> Usage:
        lists = [entry for entry in self._named.values() if entry.kind == "list"]
        size = sum(
            len(json.dumps(value_json(entry.value or ()), ensure_ascii=False).encode()) for entry in lists
        )
        return {"lists": len(lists), "parameters": len(self._named) - len(lists), "listBytes": size}

    def widest_definitions(self, without: int) -> list[RuleDefinition]:
        return [rule.definition for rule in self.rules() if rule.rule_id != without]

    def known_names(self, kind: Kind, names: Collection[str]) -> frozenset[str]:
        return frozenset(name for name in names if (kind, name) in self._named)

    def keep_named(self, named: NamedEntry) -> None:
        if isinstance(named.value, tuple):
            self._lists.replace(named, named.value)
            return
        self._named[named.kind, named.name] = named

    def next_rule_id(self) -> int:
        return max([*self._rules, *self._changes.new_rules()], default=0) + 1

    def next_position(self) -> int:
        return len(self.recorded) + 1

    def append(self, recorded: EventRecord, rule: Rule | None) -> None:
        self.recorded.append(recorded)
        if rule is not None:
            self._rules[rule.rule_id] = rule

    def audit_head(self) -> ChainHead:
        return ChainHead(self.audit[-1].sequence, self.audit[-1].hash) if self.audit else ChainHead()

    def append_audit(self, entry: AuditEntry) -> None:
        self.audit.append(entry)

    @contextmanager
    def trial(self) -> Iterator[None]:
        before = copy.deepcopy(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.update(before)

    @property
    def changes(self) -> FakeChanges:
        return self._changes

    @property
    def api_keys(self) -> FakeApiKeys:
        return self._api_keys

    @property
    def lists(self) -> FakeLists:
        return self._lists

    @property
    def purposes(self) -> FakePurposes:
        return self._purposes

    def note_command(self, commanded: IssuedCommand) -> None:
        self.commands.append(commanded)

    def backfill(self, backfill_id: str) -> Backfill | None:
        started = next(
            (c for c in self.commands if (c.control, c.command_id) == ("START_BACKFILL", backfill_id)), None
        )
        if started is None:
            return None
        ends = [(c, c.payload) for c in self.commands if isinstance(c.payload, control_commands.EndBackfill)]
        end = next(
            (
                BackfillEnd(c.position, c.occurred_at, c.actor, about.complete_from)
                for c, about in ends
                if about.backfill_id == backfill_id
            ),
            None,
        )
        return Backfill(backfill_id, started.position, started.occurred_at, started.actor, end)

    def remembered(self, actor: str, key: str, now_ms: int) -> Remembered | None:
        remembered, expires_at = self.keys.get((actor, key), (None, 0))
        return remembered if expires_at > now_ms else None

    def remember(self, actor: str, key: str, remembered: Remembered, expires_at: int) -> None:
        self.keys[actor, key] = (remembered, expires_at)


@dataclass
class FakeStore:
    """Hands out the log; what a failed transaction wrote is forgotten."""

    log: FakeLog = field(default_factory=FakeLog)
    transactions: int = 0

    @contextmanager
    def writing(self) -> Iterator[FakeLog]:
        before = copy.deepcopy(self.log)
        self.transactions += 1
        try:
            yield self.log
        except BaseException:
            self.log = before
            raise

    def types(self) -> list[str]:
        """The names of the events, in order."""
        return [recorded.type for recorded in self.log.recorded]


@dataclass
class FakeClock:
    """Stands at `now` (ms) until told otherwise."""

    now: int = NOW

    def __call__(self) -> int:
        return self.now


def new_registry(store: FakeStore, clock: FakeClock | None = None, quotas: Quotas | None = None) -> Registry:
    """The use cases on the fakes; event ids count up."""
    numbers = itertools.count(1)
    return Registry(store, clock or FakeClock(), lambda: f"event-{next(numbers)}", quotas or Quotas())
