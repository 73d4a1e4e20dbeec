"""Commands of operators: clear one rule or group, void a transaction, open and close a backfill (decision 0039)."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, get_args

import pytest

from rules_registry.api.control.control_body import control_body_schema, read_control_body
from rules_registry.api.rule_schemas.representations import command_json
from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import (
    ClearGroup,
    ClearRule,
    Control,
    DeleteRule,
    EndBackfill,
    PauseRule,
    PublishRule,
    VoidTransaction,
)
from rules_registry.domain.event_record import to_json
from rules_registry.domain.events import Command
from rules_registry.errors import (
    BackfillHasEnded,
    BackfillNotFound,
    DomainError,
    GroupNotCleared,
    RuleIsDeleted,
    RuleNotFound,
)
from rules_registry.service.ports import Answer
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import SUM, chained
from tests.unit.rules_registry.test_controls import issued, with_rules
from tripline_contracts import control_commands, event_type_loader, schemas
from tripline_contracts.control_commands import Payload, payload_json, read_payload
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_http.errors import ProblemError

TRANSACTION = event_type_loader.load()
PAIR = {"payeeId": "25", "beneficiaryId": "12"}
BACKFILL = "7f0c52a2-3a86-4c8e-8d9a-5d1e7c1b2a04"


def told(_done: object) -> Answer:
    return Answer(201, {}, {})


def with_rule(definition: RuleDefinition) -> FakeStore:
    store = FakeStore()
    new_registry(store).publish(
        Actor("ada"), lambda rule_id: PublishRule(rule_id, None, definition, None), told
    )
    return store


def started(store: FakeStore, backfill_id: str = BACKFILL) -> None:
    """A backfill of that name: the fakes count their ids, and the contract wants a UUID."""
    issued(store, "START_BACKFILL")
    store.log.commands[-1] = replace(store.log.commands[-1], command_id=backfill_id)


TAKEN: list[tuple[Control, Command, Payload | None, dict[str, Any]]] = [
    (ClearRule(1), "CLEAR_RULE", control_commands.ClearRule(1), {"ruleId": 1}),
    (
        ClearGroup(1, PAIR),
        "CLEAR_GROUP",
        control_commands.ClearGroup(1, (("beneficiaryId", "12"), ("payeeId", "25"))),
        {"ruleId": 1, "group": PAIR},
    ),
    (
        VoidTransaction("t-3", 5),
        "VOID_TRANSACTION",
        control_commands.VoidTransaction("t-3", 5),
        {"transactionId": "t-3", "eventTime": 5},
    ),
    ("START_BACKFILL", "START_BACKFILL", None, {}),
    (
        EndBackfill(BACKFILL),
        "END_BACKFILL",
        control_commands.EndBackfill(BACKFILL, None),
        {"backfillId": BACKFILL},
    ),
    (
        EndBackfill(BACKFILL, 0),
        "END_BACKFILL",
        control_commands.EndBackfill(BACKFILL, 0),
        {"backfillId": BACKFILL, "completeFrom": 0},
    ),
]


@pytest.mark.parametrize(
    ("control", "command", "payload", "members"), TAKEN, ids=[str(case[0])[:40] for case in TAKEN]
)
def test_a_command_is_one_event_with_its_payload(
    control: Control, command: Command, payload: Payload | None, members: dict[str, Any]
) -> None:
    store = with_rules(2)
    started(store)
    done = issued(store, control)
    assert (done.control, done.payload, done.position, done.last_position) == (command, payload, 4, 4)
    value = to_json(store.log.recorded[-1])
    assert value["widestWindows"] == to_json(store.log.recorded[1])["widestWindows"]
    head = {"eventId", "type", "position", "occurredAt", "actor", "widestWindows", "command", "commandId"}
    assert {name: value[name] for name in value.keys() - head} == members
    identified = {"eventId": str(uuid.UUID(int=1)), "commandId": str(uuid.UUID(int=2))}
    schemas.validator("rules.v1")({**value, **identified})
    answer = command_json(done)
    assert {name: answer[name] for name in members} == members
    others = {"ruleId", "traceUntil", "group", "transactionId", "eventTime", "backfillId", "completeFrom"}
    assert {answer[name] for name in others - members.keys()} == {None}


@pytest.mark.parametrize("payload", [control_commands.TraceRule(1, 5), *(case[2] for case in TAKEN)], ids=str)
def test_the_payload_is_read_back_from_the_event(payload: Payload | None) -> None:
    (command,) = {
        case[1]
        for case in [*TAKEN, (None, "TRACE_RULE", control_commands.TraceRule(1, 5), {})]
        if type(case[2]) is type(payload)
    }
    event = {"command": command, "commandId": BACKFILL, **payload_json(payload)}
    assert read_payload(event) == payload


@pytest.mark.parametrize("command", [ClearRule(5), ClearGroup(5, PAIR)])
def test_of_a_rule_that_is_not_there_nothing_is_cleared(command: ClearRule | ClearGroup) -> None:
    store = with_rules(1)
    with pytest.raises(RuleNotFound, match="no rule 5"):
        issued(store, command)
    new_registry(store).change(Actor("ada"), DeleteRule(1, None), told)
    with pytest.raises(RuleIsDeleted, match="Rule 1 was deleted"):
        issued(store, replace(command, rule_id=1))
    assert "ControlCommand" not in store.types()


def test_a_paused_rule_is_cleared() -> None:
    store = with_rules(1)
    new_registry(store).change(Actor("ada"), PauseRule(1, None), told)
    assert issued(store, ClearRule(1)).payload == control_commands.ClearRule(1)
    assert issued(store, ClearGroup(1, PAIR)).payload is not None


BY_ACCOUNT = replace(SUM, grouping_key_names=("account",))
NOT_CLEARED: list[tuple[RuleDefinition, dict[str, str], str, str]] = [
    (chained((60, ())), {"payeeId": "25"}, "ruleId", "several conditions"),
    (replace(SUM, bucket_seconds=60), PAIR, "ruleId", "is bucketed"),
    (
        replace(SUM, grouping_key_names=("paymentAmount~100",)),
        {"paymentAmount": "100"},
        "ruleId",
        "amounts in steps",
    ),
    (SUM, {"payeeId": "25"}, "group", "groups by beneficiaryId, payeeId, not by payeeId"),
    (SUM, {**PAIR, "paymentType": "CSH"}, "group", "not by beneficiaryId, payeeId, paymentType"),
    (SUM, {}, "group", "not by no field"),
    (SUM, {"account": "25"}, "group", "groups by beneficiaryId, payeeId, not by account"),
    (BY_ACCOUNT, {"payeeId": "25"}, "group", "groups by account, not by payeeId"),
    (replace(SUM, grouping_key_names=()), PAIR, "group", "groups by no field"),
]


@pytest.mark.parametrize(
    ("definition", "group", "field", "said"), NOT_CLEARED, ids=[case[-1] for case in NOT_CLEARED]
)
def test_a_group_that_is_not_cleared_alone(
    definition: RuleDefinition, group: dict[str, str], field: str, said: str
) -> None:
    store = with_rule(definition)
    with pytest.raises(GroupNotCleared, match=said) as refused:
        issued(store, ClearGroup(1, group))
    assert refused.value.field == field
    assert "ControlCommand" not in store.types()
    assert issued(store, ClearRule(1)).payload == control_commands.ClearRule(1)


def test_the_one_group_of_a_rule_without_grouping_is_cleared() -> None:
    assert issued(
        with_rule(replace(SUM, grouping_key_names=())), ClearGroup(1, {})
    ).payload == control_commands.ClearGroup(1, ())


def test_a_party_s_group_is_cleared_by_its_value_on_whichever_side() -> None:
    payload = issued(with_rule(BY_ACCOUNT), ClearGroup(1, {"account": "25"})).payload
    assert payload == control_commands.ClearGroup(1, (("account", "25"),))


def test_a_backfill_is_ended_once() -> None:
    store = with_rules(1)
    with pytest.raises(BackfillNotFound, match=BACKFILL):
        issued(store, EndBackfill(BACKFILL))
    other = str(uuid.UUID(int=7))
    started(store)
    started(store, other)
    issued(store, EndBackfill(BACKFILL))
    with pytest.raises(BackfillHasEnded, match="ended already"):
        issued(store, EndBackfill(BACKFILL, 5))
    assert issued(store, EndBackfill(other)).payload == control_commands.EndBackfill(other, None)


def test_only_a_start_is_a_backfill() -> None:
    store = with_rules(1)
    clear = issued(store, "CLEAR_STATE_ALL")
    with pytest.raises(DomainError, match="no backfill"):
        issued(store, EndBackfill(clear.command_id))


READ: list[tuple[dict[str, Any], Control]] = [
    ({"command": "CLEAR_RULE", "ruleId": 12}, ClearRule(12)),
    ({"command": "CLEAR_GROUP", "ruleId": 12, "group": PAIR}, ClearGroup(12, PAIR)),
    ({"command": "CLEAR_GROUP", "ruleId": 12, "group": {}}, ClearGroup(12, {})),
    (
        {"command": "CLEAR_GROUP", "ruleId": 1, "group": {"paymentAmount": "-010.50", "paymentType": "CSH"}},
        ClearGroup(1, {"paymentAmount": "-10.5", "paymentType": "CSH"}),
    ),
    ({"command": "VOID_TRANSACTION", "transactionId": "t", "eventTime": 0}, VoidTransaction("t", 0)),
    ({"command": "START_BACKFILL"}, "START_BACKFILL"),
    ({"command": "END_BACKFILL", "backfillId": BACKFILL.upper()}, EndBackfill(BACKFILL)),
    ({"command": "END_BACKFILL", "backfillId": BACKFILL, "completeFrom": 1}, EndBackfill(BACKFILL, 1)),
    (
        {"command": "CLEAR_GROUP", "ruleId": 12, "group": {"account": "25", "paymentType": "CRD"}},
        ClearGroup(12, {"account": "25", "paymentType": "CRD"}),
    ),
]


@pytest.mark.parametrize(("body", "meant"), READ, ids=[str(case[0])[:60] for case in READ])
def test_a_body_is_read(body: dict[str, Any], meant: Control) -> None:
    assert read_control_body(body, TRANSACTION) == meant


def _changed(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**body, **changes}.items() if value is not ...}


GROUP, VOID, END = READ[1][0], READ[4][0], READ[7][0]
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"command": "CLEAR_RULE"}, "ruleId", "expected"),
    ({"command": "CLEAR_RULE", "ruleId": "12"}, "ruleId", "an integer"),
    ({"command": "CLEAR_RULE", "ruleId": 12, "group": PAIR}, "group", "goes with CLEAR_GROUP only"),
    ({"command": "CLEAR_RULE", "ruleId": 12, "seconds": 5}, "seconds", "goes with TRACE_RULE only"),
    (_changed(GROUP, group=...), "group", "expected"),
    (_changed(GROUP, group=[]), "group", "expected an object"),
    (_changed(GROUP, group={"iban": "1"}), "group.iban", "paymentType, account"),
    (_changed(GROUP, group={"account": 25}), "group.account", "a text of 1 to 64"),
    (_changed(GROUP, group={"payer": "25"}), "group.payer", "unknown field or party"),
    (_changed(GROUP, group={"payeeId": 25}), "group.payeeId", "a text of 1 to 64"),
    (_changed(GROUP, group={"payeeId": ""}), "group.payeeId", "a text of 1 to 64"),
    (_changed(GROUP, group={"payeeId": "x" * 65}), "group.payeeId", "a text of 1 to 64"),
    (_changed(GROUP, group={"paymentType": "csh"}), "group.paymentType", "one of CSH, CRD"),
    (_changed(GROUP, group={"paymentAmount": "1e3"}), "group.paymentAmount", "a decimal number"),
    (_changed(GROUP, group={"paymentAmount": 5}), "group.paymentAmount", "a decimal number"),
    (_changed(VOID, transactionId=...), "transactionId", "expected"),
    (_changed(VOID, transactionId=5), "transactionId", "a text"),
    (_changed(VOID, transactionId=""), "transactionId", "a text"),
    (_changed(VOID, eventTime=...), "eventTime", "expected"),
    (_changed(VOID, eventTime=-1), "eventTime", "from 0"),
    (_changed(VOID, eventTime="0"), "eventTime", "an integer"),
    ({"command": "START_BACKFILL", "backfillId": BACKFILL}, "backfillId", "goes with END_BACKFILL only"),
    (_changed(END, backfillId=...), "backfillId", "expected"),
    (_changed(END, backfillId="the one of May"), "backfillId", "a UUID"),
    (_changed(END, backfillId=5), "backfillId", "a UUID"),
    (_changed(END, completeFrom=1.5), "completeFrom", "an integer"),
    (_changed(END, completeFrom=None), "completeFrom", "an integer"),
    (_changed(END, reason="x"), "reason", "unknown field"),
]


@pytest.mark.parametrize(("body", "field", "said"), WRONG, ids=[f"{case[1]} {case[2]}" for case in WRONG])
def test_what_is_wrong_with_a_body_is_named(body: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read_control_body(body, TRANSACTION)
    (wrong,) = refused.value.errors
    assert (wrong.field, said in wrong.message) == (field, True), wrong


def test_the_description_has_every_command_once() -> None:
    described = [
        name
        for variant in control_body_schema(TRANSACTION)["anyOf"]
        for name in variant["properties"]["command"]["enum"]
    ]
    assert sorted(described) == sorted(get_args(Command))
