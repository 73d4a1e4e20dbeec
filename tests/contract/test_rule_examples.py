"""The rules that the source articles and their demo ship, the specification's, and ours, read as they stand."""

from __future__ import annotations

from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from tripline_contracts import event_type_loader, exact_json, schemas
from tripline_contracts.errors import SchemaViolation
from tripline_contracts.filters.filter_parser import All, Comparison, Membership, Not
from tripline_contracts.rules import legacy, rule_definition
from tripline_contracts.rules.conditions import AllOf, Condition, NotOf
from tripline_contracts.rules.rule_definition import RuleDefinition

pytestmark = pytest.mark.contract

RULES = Path(str(resources.files("tripline_contracts"))) / "examples" / "rules"
TRANSACTION = event_type_loader.load()
PAIR = ("beneficiaryId", "payeeId")
DAY = 24 * 60 * 60

READ: dict[str, tuple[str, int, RuleDefinition]] = {
    "articles-1000000-in-7-days.json": (
        "ACTIVE",
        1,
        RuleDefinition(PAIR, "SUM", "paymentAmount", ">", Decimal(1_000_000), 7 * DAY),
    ),
    "articles-200000-in-24-hours.json": (
        "ACTIVE",
        2,
        RuleDefinition(PAIR, "SUM", "paymentAmount", ">", Decimal(200_000), DAY),
    ),
    "specification-plain.txt": (
        "ACTIVE",
        1,
        RuleDefinition(PAIR, "SUM", "paymentAmount", ">", Decimal(20_000_000), 30 * DAY),
    ),
    **{
        f"demo-1.{form}": (
            "ACTIVE",
            1,
            RuleDefinition(PAIR, "SUM", "paymentAmount", ">", Decimal(20_000_000), 30 * DAY),
        )
        for form in ("json", "txt")
    },
    **{
        f"demo-2.{form}": (
            "PAUSE",
            2,
            RuleDefinition(("paymentType",), "COUNT", None, "<", Decimal(300), DAY),
        )
        for form in ("json", "txt")
    },
    **{
        f"demo-3.{form}": (
            "ACTIVE",
            3,
            RuleDefinition(("beneficiaryId",), "SUM", "paymentAmount", ">=", Decimal(10_000_000), DAY),
        )
        for form in ("json", "txt")
    },
    **{
        f"demo-4.{form}": (
            "ACTIVE",
            4,
            RuleDefinition(("paymentType",), "COUNT", None, ">=", Decimal(100), DAY, reset_on_alert=True),
        )
        for form in ("json", "txt")
    },
    "cash-in-small-parts.json": (
        "ACTIVE",
        5,
        RuleDefinition(
            ("payeeId",),
            "SUM",
            "paymentAmount",
            ">",
            Decimal(10_000),
            DAY,
            firing="crossing",
            late_events="store",
            filter=All(
                (
                    Comparison("paymentType", "=", "CSH"),
                    Comparison("paymentAmount", "<", "1000"),
                    Not(Membership("beneficiaryId", ("17", "900"))),
                )
            ),
        ),
    ),
    "card-testing-resets.json": (
        "ACTIVE",
        6,
        RuleDefinition(
            ("beneficiaryId",),
            "COUNT",
            None,
            ">=",
            Decimal(20),
            600,
            filter=All((Comparison("paymentType", "=", "CRD"), Comparison("paymentAmount", "<=", "1"))),
            reset_on_alert=True,
        ),
    ),
    "many-payers-to-one.json": (
        "ACTIVE",
        7,
        RuleDefinition(
            ("beneficiaryId",), "COUNT_DISTINCT", "payeeId", ">", Decimal(20), 3600, cooldown_seconds=3600
        ),
    ),
    "late-ones-weighed-in.json": (
        "ACTIVE",
        8,
        RuleDefinition(PAIR, "SUM", "paymentAmount", ">", Decimal(1000), 1200, late_events="reevaluate"),
    ),
    "much-to-many-unusually.json": (
        "ACTIVE",
        9,
        RuleDefinition.chained(
            AllOf(
                (
                    Condition(("payeeId",), "SUM", "paymentAmount", ">", Decimal(5000), 3600),
                    Condition(("payeeId",), "COUNT_DISTINCT", "beneficiaryId", ">", Decimal(3), 3600),
                    NotOf(
                        Condition(
                            PAIR,
                            "AVG",
                            "paymentAmount",
                            ">=",
                            Decimal(1500),
                            30 * DAY,
                            Comparison("paymentType", "=", "CRD"),
                        )
                    ),
                )
            ),
            firing="crossing",
        ),
    ),
}
CONTROL = "articles-clear-state.json"


def _record(name: str) -> legacy.LegacyRecord:
    return legacy.read_line((RULES / name).read_text(encoding="utf-8"))


def test_every_example_is_tested() -> None:
    assert {path.name for path in RULES.iterdir()} == {*READ, CONTROL}


@pytest.mark.parametrize("name", READ)
def test_read_as_meant(name: str) -> None:
    state, rule_id, meant = READ[name]
    record = _record(name)
    assert (record.state, record.rule_id) == (state, rule_id)
    assert record.definition is not None
    definition = rule_definition.parse(record.definition, TRANSACTION)
    assert definition == meant
    schemas.validator("rule-definition")(definition.to_json())


@pytest.mark.parametrize("name", [name for name in READ if name.endswith(".json")])
def test_json_keeps_the_schema_of_what_is_let_in(name: str) -> None:
    validate = schemas.validator("rule-definition-input")
    example: Any = exact_json.loads((RULES / name).read_bytes())
    validate(example)
    # and each of its members is under a constraint: none passes as something that no member may be
    for member in [*example, "unknown"]:
        with pytest.raises(SchemaViolation):
            validate({**example, member: [[]]})


def test_a_control_needs_nothing_but_its_type() -> None:
    record = _record(CONTROL)
    assert (record.state, record.control_type, record.rule_id) == ("CONTROL", "CLEAR_STATE_ALL", None)
    assert record.definition is None
