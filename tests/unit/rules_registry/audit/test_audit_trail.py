"""The audit trail: what each event says in it, and what a check of its chain finds."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead, Happening, Subject, entry_after
from rules_registry.domain.audit.chain_check import ChainCheck
from rules_registry.domain.commands import (
    ChangeNamed,
    ChangeRule,
    ChangeSettings,
    DeleteRule,
    PauseRule,
    PublishRule,
)
from rules_registry.domain.engine_settings import EngineSettings
from rules_registry.errors import StaleVersion
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Registry
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW, SUM, definition

ADA = Actor("ada", "analyst", "request-1", "a burst of small ones")


def told(_: object) -> Answer:
    return Answer(200, {}, {})


def publish(registry: Registry, actor: Actor = ADA) -> None:
    registry.publish(actor, lambda rule_id: PublishRule(rule_id, None, SUM, None), told)


def entries_of(store: FakeStore) -> list[dict[str, Any]]:
    return [json.loads(entry.text) for entry in store.log.audit]


def test_an_entry_says_who_when_why_and_from_what_to_what() -> None:
    store = FakeStore()
    registry = new_registry(store)
    publish(registry)
    registry.change(Actor("bob"), ChangeRule(1, None, "B", definition(60), NOW + 5), told)
    first, second = entries_of(store)
    after = {
        "version": 1,
        "definitionVersion": 1,
        "state": "ACTIVE",
        "name": "Rule 1",
        "definition": SUM.to_json(),
        "definitionHash": SUM.hash,
        "effectiveFrom": NOW,
    }
    assert first == {
        "sequence": 1,
        "previousHash": "0" * 64,
        "type": "RulePublished",
        "occurredAt": NOW,
        "actor": "ada",
        "role": "analyst",
        "requestId": "request-1",
        "reason": "a burst of small ones",
        "subject": {"kind": "rule", "id": "1"},
        "position": 1,
        "before": None,
        "after": after,
    }
    assert (second["actor"], second["role"], second["reason"], second["position"]) == ("bob", None, None, 2)
    assert second["before"] == after
    assert (second["after"]["name"], second["after"]["effectiveFrom"]) == ("B", NOW + 5)
    assert second["previousHash"] == store.log.audit[0].hash


def test_every_kind_of_change_is_in_it() -> None:
    store = FakeStore()
    registry = new_registry(store)
    publish(registry)
    registry.change_named(ADA, ChangeNamed("list", "shops", None, ("a", "b")), told)
    registry.change_named(ADA, ChangeNamed("list", "shops", None, ("a", "b")), told)
    registry.change_named(ADA, ChangeNamed("list", "shops", None, ("a",)), told)
    registry.change_named(ADA, ChangeNamed("parameter", "most", None, Decimal("1.50")), told)
    registry.change_settings(ADA, ChangeSettings(None, EngineSettings(max_disorder_seconds=1)))
    registry.change(ADA, PauseRule(1, None), told)
    registry.command(ADA, "DELETE_RULES_ALL", told)
    shown = [(entry["type"], entry["subject"]["kind"], entry["subject"]["id"]) for entry in entries_of(store)]
    command_id = store.log.commands[0].command_id
    assert shown == [
        ("RulePublished", "rule", "1"),
        ("ListChanged", "list", "shops"),
        ("ListChanged", "list", "shops"),
        ("ParameterChanged", "parameter", "most"),
        ("SettingsChanged", "settings", None),
        ("RulePaused", "rule", "1"),
        ("ControlCommand", "command", command_id),
        ("RuleDeleted", "rule", "1"),
    ]
    entries = entries_of(store)
    assert entries[1]["before"] is None
    assert (entries[2]["before"]["entries"], entries[2]["after"]["entries"]) == (2, 1)
    assert entries[3]["after"] == {"version": 1, "value": "1.5"}
    assert entries[4]["before"] is None, "the defaults are nobody's change"
    assert (entries[5]["before"]["state"], entries[5]["after"]["state"]) == ("ACTIVE", "PAUSED")
    assert entries[6]["after"] == {"command": "DELETE_RULES_ALL"}
    assert [entry["position"] for entry in entries] == [recorded.position for recorded in store.log.recorded]


def test_what_is_refused_leaves_no_entry() -> None:
    store = FakeStore()
    registry = new_registry(store)
    publish(registry)
    with pytest.raises(StaleVersion):
        registry.change(ADA, DeleteRule(1, frozenset({9})), told)
    assert len(store.log.audit) == 1


def chain(length: int) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    for number in range(length):
        head = ChainHead(entries[-1].sequence, entries[-1].hash) if entries else ChainHead()
        subject = Subject("rule", str(number))
        happening = Happening("RulePublished", NOW, ADA, subject, number + 1, None, {"version": number})
        entries.append(entry_after(head, happening))
    return entries


def problems(entries: list[AuditEntry], since: ChainHead | None = None) -> list[str]:
    return list(ChainCheck(since).problems(entries))


def test_an_untouched_chain_has_no_problems() -> None:
    entries = chain(5)
    check = ChainCheck()
    assert list(check.problems(entries)) == []
    assert check.head == ChainHead(5, entries[-1].hash)
    assert problems(entries[2:], ChainHead(2, entries[1].hash)) == [], (
        "a part follows on a head that was kept"
    )


@given(st.integers(2, 8), st.data())
def test_whatever_is_done_to_a_chain_shows(length: int, data: st.DataObject) -> None:
    entries = chain(length)
    index = data.draw(
        st.integers(0, length - 2), "not the last: an end that is cut off is what heads are kept for"
    )
    entry = entries[index]
    text = entry.text.replace("ada", "bob")
    forged = entry_after(
        ChainHead(entry.sequence - 1, json.loads(text)["previousHash"]),
        replace(Happening("RulePublished", NOW, ADA, Subject("rule", "x"), 1, None, None)),
    )
    tampered = data.draw(
        st.sampled_from(
            [
                [*entries[:index], replace(entry, text=text), *entries[index + 1 :]],
                [*entries[:index], forged, *entries[index + 1 :]],
                [*entries[:index], *entries[index + 1 :]],
                [*entries[:index], entry, *entries[index:]],
                [*entries[:index], entries[index + 1], entry, *entries[index + 2 :]],
                [*entries[:index], replace(entry, text="{"), *entries[index + 1 :]],
            ]
        )
    )
    assert problems(tampered)


def test_a_cut_end_shows_by_a_kept_head() -> None:
    entries = chain(4)
    check = ChainCheck()
    assert list(check.problems(entries[:3])) == []
    assert check.head != ChainHead(4, entries[-1].hash)
