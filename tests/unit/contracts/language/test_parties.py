"""Parties: how an event type declares them, and how rules group by them and ask for sides."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from importlib import resources
from typing import Any

import pytest
import yaml

from tripline_contracts import event_type_loader
from tripline_contracts.canonical import alert_id
from tripline_contracts.errors import InvalidDefinition, InvalidEventType
from tripline_contracts.event_type import Party, Side
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.anchors import anchor_of

TRANSACTION = event_type_loader.load()
CARDS = event_type_loader.load("card-authorisation")
SUM: dict[str, Any] = {
    "groupingKeyNames": ["account"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "100",
    "windowSeconds": 86400,
}


def chain(*conditions: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"conditions": {"all": list(conditions)}, **options}


def test_an_account_is_a_party_of_payments() -> None:
    account = Party("account", (Side("payer", "payeeId"), Side("payee", "beneficiaryId")))
    assert TRANSACTION.parties == (account,)
    assert TRANSACTION.anchors == ("payeeId", "beneficiaryId", "global")
    assert TRANSACTION.all_anchors == (*TRANSACTION.anchors, "account")
    assert TRANSACTION.identity["parties"] == {"account": {"payer": "payeeId", "payee": "beneficiaryId"}}
    assert not CARDS.parties
    assert "parties" not in CARDS.identity


WRONG: list[tuple[object, str]] = [
    ([], "a mapping of names"),
    ({"account": ["payeeId", "beneficiaryId"]}, "each with its field"),
    ({"account": {"payer": 1, "payee": "beneficiaryId"}}, "names of sides"),
    ({"account": {"payer": "payeeId"}}, "at least two sides"),
    ({"account": {"payer": "payeeId", "PAYER": "beneficiaryId"}}, "a name of its own"),
    ({"account": {"payer": "payeeId", "payee": "payeeId"}}, "of its own"),
    ({"account": {"payer": "payeeId", "payee": "paymentAmount"}}, "a key or an attribute"),
    ({"account": {"payer": "payeeId", "payee": "nobody"}}, "a key or an attribute"),
    ({"account": {"payer": "payeeId", "payee": "paymentType"}}, "different kinds"),
    ({"account": {"the payer": "payeeId", "payee": "beneficiaryId"}}, "no name of a side"),
    ({"payerId": {"payer": "payeeId", "payee": "beneficiaryId"}}, "no name of a party"),
    ({"Global": {"payer": "payeeId", "payee": "beneficiaryId"}}, "no name of a party"),
    ({"side": {"payer": "payeeId", "payee": "beneficiaryId"}}, "no name of a party"),
    ({f"p{n}": {"payer": "payeeId", "payee": "beneficiaryId"} for n in range(4)}, "at most 7 sides"),
]


@pytest.mark.parametrize(("parties", "reason"), WRONG)
def test_what_is_no_party_is_refused(parties: object, reason: str) -> None:
    with pytest.raises(InvalidEventType, match=reason):
        event_type_loader.from_mapping(declared(lambda data: data.update(parties=parties)))


def test_no_field_has_the_name_of_the_side() -> None:
    def with_a_side(data: dict[str, Any]) -> None:
        data["fields"].append({"name": "Side", "role": "attribute", "kind": "string", "maxLength": 8})
        data["columns"].append("Side")

    with pytest.raises(InvalidEventType, match="no field is called side"):
        event_type_loader.from_mapping(declared(with_a_side))

    def without_parties(data: dict[str, Any]) -> None:
        with_a_side(data)
        del data["parties"]

    assert event_type_loader.from_mapping(declared(without_parties)).find("side") is not None


def declared(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    source = resources.files("tripline_contracts") / "event_types" / "transaction.yaml"
    data: dict[str, Any] = deepcopy(yaml.safe_load(source.read_text(encoding="utf-8")))
    change(data)
    return data


def test_rules_group_by_a_party_and_ask_for_a_side() -> None:
    said = {**SUM, "groupingKeyNames": ["paymentType", "ACCOUNT"], "filter": {"SIDE": "Payer"}}
    definition = rule_definition.parse(said, TRANSACTION)
    assert definition.grouping_key_names == ("account", "paymentType")
    assert definition.to_json()["filter"] == {"side": "payer"}
    assert anchor_of(definition, TRANSACTION) == "account"
    assert rule_definition.parse(definition.to_json(), TRANSACTION) == definition


def test_a_party_comes_before_the_other_anchors() -> None:
    said = {**SUM, "groupingKeyNames": ["payeeId", "account", "beneficiaryId"]}
    assert anchor_of(rule_definition.parse(said, TRANSACTION), TRANSACTION) == "account"


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({**SUM, "groupingKeyNames": ["payeeId"], "filter": {"side": "payer"}}, "groupingKeyNames", "by a party"),
    ({**SUM, "filter": {"side": "bank"}}, "filter.side", "one of payer, payee; not 'bank'"),
    ({**SUM, "filter": {"side": ["payer"]}}, "filter.side", "one of payer, payee"),
    ({**SUM, "filter": {"side": "payer", "field": "payeeId"}}, "filter", "field with side"),
    ({**SUM, "filter": {"field": "account", "operator": "=", "value": "25"}}, "filter.field", "not 'account'"),
    ({**SUM, "filter": {"field": "side", "operator": "=", "value": "payer"}}, "filter.field", "not 'side'"),
    ({**SUM, "lateEvents": "reevaluate"}, "lateEvents", "a party"),
    ({**SUM, "resetOnAlert": True}, "resetOnAlert", "a party"),
    ({**SUM, "groupingKeyNames": ["account", "Account"]}, "groupingKeyNames", "named twice"),
    ({**SUM, "groupingKeyNames": ["side"]}, "groupingKeyNames", "payeeId, beneficiaryId"),
    (
        {**SUM, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "account"},
        "aggregateFieldName",
        "expected one of payeeId",
    ),
    (chain(SUM, {**SUM, "groupingKeyNames": ["account", "payeeId"]}, {**SUM, "groupingKeyNames": ["payeeId"]}),
     "conditions", "all share a field"),
    (chain({**SUM, "groupingKeyNames": ["account", "payeeId"]}, {**SUM, "groupingKeyNames": ["payeeId"]}),
     "conditions", "one party in all groupings"),
    (chain({**SUM, "groupingKeyNames": ["payeeId"], "filter": {"side": "payer"}}), "conditions", "by a party"),
    (chain({**SUM, "groupingKeyNames": ["payeeId"]}, filter={"side": "payer"}), "conditions", "by a party"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "field", "reason"), REFUSED)
def test_what_contradicts_itself_is_refused(said: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        rule_definition.parse(said, TRANSACTION)
    assert any(problem.field == field and reason in problem.message for problem in refused.value.problems), (
        refused.value.problems
    )


def test_a_type_without_parties_has_no_sides() -> None:
    said = {
        **SUM,
        "groupingKeyNames": ["cardId"],
        "aggregateFieldName": "amount",
        "filter": {"side": "payer"},
    }
    with pytest.raises(InvalidDefinition, match="the event type has no parties"):
        rule_definition.parse(said, CARDS)


def test_sides_that_belong_to_another_party_are_refused() -> None:
    def two(data: dict[str, Any]) -> None:
        data["parties"]["business"] = {"buyer": "payeeId", "seller": "beneficiaryId"}

    both = event_type_loader.from_mapping(declared(two))
    read = rule_definition.parse({**SUM, "filter": {"side": "payee"}}, both)
    assert anchor_of(read, both) == "account"
    with pytest.raises(InvalidDefinition, match="a side of account, one of payer, payee; not buyer"):
        rule_definition.parse({**SUM, "filter": {"side": "buyer"}}, both)
    with pytest.raises(InvalidDefinition, match="one party in all groupings"):
        rule_definition.parse({**SUM, "groupingKeyNames": ["account", "business"]}, both)


def test_the_side_is_the_sixth_member_of_an_alert_s_identity() -> None:
    of_a_field = alert_id(1, 2, {"account": "25"}, "t", 3)
    sides = {alert_id(1, 2, {"account": "25"}, "t", 3, side) for side in ("payer", "payee")}
    assert len({of_a_field, *sides}) == 3
