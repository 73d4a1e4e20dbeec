"""A stand-in for the rules registry: it numbers events and writes them as rules.v1 has them."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from tests.oracle.builders.drafts import Draft, definition_document, grouping_document, measures_of
from tests.oracle.parsers.operator_commands import (
    CLEAR_GROUP,
    CLEAR_RULE,
    END_BACKFILL,
    START_BACKFILL,
    VOID_TRANSACTION,
)
from tests.oracle.parsers.rule_events import TRACE_RULE, Settings
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as the registry knows it."""

    rule_id: int
    version: int
    definition_version: int
    state: str
    name: str
    draft: Draft
    effective_from: int
    effective_until: int | None = None


class Registry:
    """Every method that changes something returns the raw event; times in ms.

    `drafts` are all that a rule ever had, in order.
    """

    def __init__(self) -> None:
        self.position = 0
        self.rules: dict[int, Rule] = {}
        self.shadows: dict[int, Rule] = {}
        self.percents: dict[int, int] = {}
        self.drafts: dict[int, list[Draft]] = {}
        self._changes: Counter[tuple[str, str]] = Counter()

    def alive(self) -> list[Rule]:
        """Every rule that is not deleted."""
        return [rule for rule in self.rules.values() if rule.state != "DELETED"]

    def publish(
        self,
        rule_id: int,
        draft: Draft,
        effective_from: int,
        now: int,
        *,
        paused: bool = False,
        effective_until: int | None = None,
    ) -> bytes:
        """First or next definition; a paused rule stays paused, a new one may begin so."""
        old = self.rules.get(rule_id)
        version = old.version + 1 if old else 1
        state = old.state if old else "PAUSED" if paused else "ACTIVE"
        name = f"rule {rule_id} as of {version}"
        rule = Rule(rule_id, version, version, state, name, draft, effective_from, effective_until)
        self.drafts.setdefault(rule_id, []).append(draft)
        self.shadows.pop(rule_id, None)
        return self._rule_event("RulePublished", rule, now)

    def start_shadow(self, rule_id: int, draft: Draft, effective_from: int, now: int) -> bytes:
        """A version that runs beside the others of the rule; in place of the one that did, if there was one."""
        old = self.rules[rule_id]
        version = old.version + 1
        name = f"rule {rule_id} as of {version}"
        shadow = Rule(rule_id, version, version, old.state, name, draft, effective_from)
        self.shadows[rule_id], self.percents[rule_id] = shadow, 0
        raw = self._rule_event("RuleShadowStarted", shadow, now)
        self.rules[rule_id] = replace(old, version=version)
        return raw

    def roll_out_shadow(self, rule_id: int, percent: int, now: int) -> bytes:
        """It counts for that share of groups."""
        old, shadow = self.rules[rule_id], self.shadows[rule_id]
        self.percents[rule_id] = percent
        rolled_out = replace(shadow, version=old.version + 1, state=old.state)
        raw = self._rule_event("RuleShadowRolledOut", rolled_out, now, {"percent": percent})
        self.rules[rule_id] = replace(old, version=old.version + 1)
        return raw

    def end_shadow(self, rule_id: int, now: int) -> bytes:
        """It is gone."""
        self.shadows.pop(rule_id, None)
        old = self.rules[rule_id]
        return self._rule_event("RuleShadowEnded", replace(old, version=old.version + 1), now)

    def promote_shadow(self, rule_id: int, now: int) -> bytes:
        """It is the rule's newest version from now on."""
        old, shadow = self.rules[rule_id], self.shadows.pop(rule_id)
        promoted = replace(shadow, version=old.version + 1, state=old.state)
        return self._rule_event("RuleShadowPromoted", promoted, now)

    def move(self, kind: str, state: str, rule_id: int, now: int) -> bytes:
        """Pause, resume or delete."""
        old = self.rules[rule_id]
        if kind == "RuleDeleted":
            self.shadows.pop(rule_id, None)
        return self._rule_event(kind, replace(old, version=old.version + 1, state=state), now)

    def change_settings(self, settings: Settings, now: int) -> bytes:
        """All four settings at once."""
        document: dict[str, Json] = {
            "allowedLatenessSeconds": settings.allowed_lateness // 1000,
            "maxFutureSkewSeconds": settings.max_future_skew // 1000,
            "maxDisorderSeconds": settings.max_disorder // 1000,
            "idlePartitionSeconds": 30,
        }
        return self._event("SettingsChanged", {"settings": document}, now)

    def change_list(self, name: str, values: Sequence[Json], now: int) -> bytes:
        """A list as it is from now on; its values are written as they are given."""
        return self._change("ListChanged", name, {"values": list(values)}, now)

    def change_entries(
        self, name: str, added: Sequence[Json], removed: Sequence[Json], now: int, until: Json = None
    ) -> bytes:
        """Values that a list has too from now on, and values that it has no more; `until` as an entry may have it."""
        end: dict[str, Json] = {} if until is None else {"until": until}
        entries: list[Json] = [{"value": value, **end} for value in added]
        self._changes["ListChanged", name] += 1
        version = self._changes["ListChanged", name]
        members: dict[str, Json] = {"added": entries, "removed": list(removed)}
        return self._event("ListEntriesChanged", {"name": name, "version": version, **members}, now)

    def change_parameter(self, name: str, value: Json, now: int) -> bytes:
        """A parameter as it is from now on."""
        return self._change("ParameterChanged", name, {"value": value}, now)

    def _change(self, kind: str, name: str, what: dict[str, Json], now: int) -> bytes:
        self._changes[kind, name] += 1
        return self._event(kind, {"name": name, "version": self._changes[kind, name], **what}, now)

    def control(self, command: str, now: int, more: Mapping[str, Json] = MappingProxyType({})) -> bytes:
        """A command to the engine, with what it takes beside its name."""
        command_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"command {self.position} {now}"))
        return self._event("ControlCommand", {"command": command, "commandId": command_id, **more}, now)

    def trace(self, rule_id: int, until: int, now: int) -> bytes:
        """The command that traces a rule, which need not exist."""
        return self.control(TRACE_RULE, now, {"ruleId": rule_id, "traceUntil": until})

    def clear_rule(self, rule_id: int, now: int = 0) -> bytes:
        """The command that clears a rule, which need not exist."""
        return self.control(CLEAR_RULE, now, {"ruleId": rule_id})

    def clear_group(self, rule_id: int, group: Mapping[str, Json], now: int = 0) -> bytes:
        """The command that clears one group of it."""
        return self.control(CLEAR_GROUP, now, {"ruleId": rule_id, "group": {**group}})

    def void(self, transaction_id: str, event_time: int, now: int = 0) -> bytes:
        """The command that voids a transaction, which need not have been accepted."""
        return self.control(VOID_TRANSACTION, now, {"transactionId": transaction_id, "eventTime": event_time})

    def start_backfill(self, now: int = 0) -> tuple[bytes, str]:
        """The command that opens a backfill, and its id."""
        raw = self.control(START_BACKFILL, now)
        backfill_id: str = json.loads(raw)["commandId"]
        return raw, backfill_id

    def end_backfill(self, backfill_id: str, complete_from: int | None = None, now: int = 0) -> bytes:
        """The command that closes one."""
        more: dict[str, Json] = {} if complete_from is None else {"completeFrom": complete_from}
        return self.control(END_BACKFILL, now, {"backfillId": backfill_id, **more})

    def _rule_event(
        self, kind: str, rule: Rule, now: int, more: Mapping[str, Json] = MappingProxyType({})
    ) -> bytes:
        self.rules[rule.rule_id] = rule
        definition = definition_document(rule.draft)
        fields: dict[str, Json] = {
            "ruleId": rule.rule_id,
            "version": rule.version,
            "definitionVersion": rule.definition_version,
            "state": rule.state,
            "name": rule.name,
            "definition": definition,
            "definitionHash": definition_hash(definition),
            "effectiveFrom": rule.effective_from,
            **({} if rule.effective_until is None else {"effectiveUntil": rule.effective_until}),
            **more,
        }
        return self._event(kind, fields, now)

    def _event(self, kind: str, fields: dict[str, Json], now: int) -> bytes:
        self.position += 1
        event: dict[str, Json] = {
            "eventId": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.position} {now}")),
            "type": kind,
            "position": self.position,
            "occurredAt": now,
            "actor": "analyst",
            "widestWindows": [] if kind == "ControlCommand" else self._widest_windows(),
            **fields,
        }
        return json.dumps(event).encode()

    def _widest_windows(self) -> list[Json]:
        widest: dict[str, Rule] = {}
        for rule in self.alive():
            # The window of a chained rule is the widest of its conditions, for each of their groupings.
            groupings = (json.dumps(grouping_document(measure)) for measure in measures_of(rule.draft))
            for grouping in dict.fromkeys(groupings):
                widest_rule = widest.get(grouping)
                if widest_rule is None or rule.draft.window > widest_rule.draft.window:
                    widest[grouping] = rule
        return [
            {
                "groupingKeyNames": json.loads(grouping),
                "windowSeconds": rule.draft.window,
                "ruleId": rule.rule_id,
                "version": rule.definition_version,
            }
            for grouping, rule in sorted(widest.items())
        ]
