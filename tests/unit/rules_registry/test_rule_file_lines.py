"""What the lines of a rule file ask for, and what is said of those that cannot be read."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_registry.domain.rule_import import ImportedControl, ImportedRule
from rules_registry.service.rule_file_lines import ReadLine, read_records, read_text
from tests.unit.rules_registry.support.samples import BODY, NOW, SUM, chained
from tripline_http.fields import is_storable

PLAIN = "(7),(active),(payeeId&beneficiaryId),(),(paymentAmount),(SUM),(>),(1000.01),(20)"
EXAMPLES = Path(__file__).parents[3] / "contracts" / "src" / "tripline_contracts" / "examples" / "rules"

WHOLE = (
    '{"ruleId": "7", "ruleState": "active", "groupingKeyNames": ["payeeId", "beneficiaryId"], "aggregateFieldName":'
    ' "paymentAmount", "aggregatorFunctionType": "SUM", "limitOperatorType": "GREATER", "limit": "1000.01",'
    f' "windowMinutes": "20", "unique": null, "name": "n", "EffectiveFrom": {NOW}}}'
)
READ: list[tuple[str, Any, str]] = [
    (PLAIN, ImportedRule("ACTIVE", 7, None, SUM), "the plain form"),
    (PLAIN.replace("active", "PAUSE"), ImportedRule("PAUSE", 7, None, SUM), "a pause that brings its rule"),
    ("7,pause", ImportedRule("PAUSE", 7), "an id is enough"),
    ("(7),(delete),(payeeId)", ImportedRule("DELETE", 7), "the rest is left aside"),
    (
        WHOLE,
        ImportedRule("ACTIVE", 7, "n", SUM, NOW),
        "JSON with the registry's own fields",
    ),
    (
        json.dumps(
            {
                "ruleId": 7,
                "ruleState": "ACTIVE",
                "name": "n",
                "conditions": {
                    "all": [
                        {**BODY, "windowSeconds": 60, "groupingKeyNames": ["payeeId"]},
                        {**BODY, "windowSeconds": 90, "groupingKeyNames": "(payeeId & paymentType)"},
                    ]
                },
            }
        ),
        ImportedRule("ACTIVE", 7, "n", chained((60, ()), (90, ("paymentType",)))),
        "several conditions",
    ),
    (
        '{"ruleState": "CONTROL", "controlType": "CLEAR_STATE_ALL"}',
        ImportedControl("CLEAR_STATE_ALL"),
        "a control",
    ),
    (
        '{"ruleId": 7, "ruleState": "PAUSE", "name": "n"}',
        ImportedRule("PAUSE", 7),
        "a name alone brings no rule",
    ),
    (
        '{"ruleId": 7, "ruleState": "DELETE", "name": 5}',
        ImportedRule("DELETE", 7),
        "of DELETE an id is enough",
    ),
]


@pytest.mark.parametrize(("line", "wanted", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(line: str, wanted: Any, reason: str) -> None:
    (read,) = read_text(line)
    assert (read.number, read.wanted, read.problems) == (1, wanted, ()), reason


REFUSED: list[tuple[str, set[str], str]] = [
    ("hello", {"record"}, "no record"),
    ('{"ruleId": 1', {"record"}, "broken JSON"),
    ("(7),(asleep)", {"record"}, "an unknown state"),
    ("(1000000001),(pause)", {"ruleId"}, "an id that would use up those that follow"),
    (PLAIN.replace("payeeId", "payeId").replace("1000.01", "much"), {"groupingKeyNames", "limit"}, "all that is wrong"),
    (PLAIN.replace("(7)", "(1000000001)").replace("SUM", "SIM"), {"ruleId", "aggregatorFunctionType"}, "id and rule"),
    ('{"ruleId": 7, "ruleState": "ACTIVE", "name": "", "effectiveFrom": -1}',
     {"name", "effectiveFrom", "groupingKeyNames", "limit", "limitOperatorType", "windowSeconds",
      "aggregatorFunctionType"}, "nothing but a state"),
    ('{"ruleId": 7, "ruleState": "PAUSE", "name": "a\\u0000b"}', {"name"}, "what Postgres cannot hold"),
    ('{"ruleId": 7, "ruleState": "PAUSE", "effectiveFrom": true}', {"effectiveFrom"}, "true is no time"),
    ('{"ruleId": 7, "ruleState": "PAUSE", "effectiveUntil": "5"}', {"effectiveUntil"}, "a text is no time"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "fields", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(line: str, fields: set[str], reason: str) -> None:
    (read,) = read_text(line)
    assert read.wanted is None
    assert fields <= {problem.field for problem in read.problems}, reason
    assert all(problem.message for problem in read.problems)


def test_a_text_in_a_filter_has_to_be_storable_too() -> None:
    record = {
        **BODY,
        "ruleId": 7,
        "ruleState": "ACTIVE",
        "filter": {"any": [{"field": "payeeId", "operator": "=", "value": "a\x00"}]},
    }
    (read,) = read_records([record])
    assert read.wanted is None
    assert "U+0000" in " ".join(problem.message for problem in read.problems)


def test_lines_keep_their_numbers_and_empty_ones_say_nothing() -> None:
    lines = read_text(f"\n{PLAIN}\r\n   \n7,delete\n\n")
    assert [(line.number, type(line.wanted)) for line in lines] == [(2, ImportedRule), (4, ImportedRule)]


def test_json_records_are_numbered_from_one() -> None:
    record = {**BODY, "limit": Decimal("1000.01"), "ruleId": 7, "ruleState": "ACTIVE"}
    first, second, third = read_records([record, 5, {"ruleState": "PAUSE", "ruleId": 1}])
    assert first.wanted == ImportedRule("ACTIVE", 7, None, SUM)
    assert (second.number, second.wanted, second.problems[0].field) == (2, None, "record")
    assert third.wanted == ImportedRule("PAUSE", 1)


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: str(path.name))
def test_the_rules_of_articles_and_demo_are_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        # As records the examples stand on lines of their own.
        text = " ".join(text.splitlines())
    for read in read_text(text):
        assert read.problems == ()
        assert read.wanted is not None


ODD = st.text(max_size=12) | st.sampled_from(
    ["ruleId", "name", "limit", "\x00", "\ud800", "RULEID", "filter"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
    max_leaves=6,
)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in read_text(text):
        assert (read.wanted is None) == bool(read.problems)
        _assert_storable(read)


@given(st.dictionaries(ODD, VALUES, max_size=5), st.sampled_from(["ACTIVE", "PAUSE"]))
def test_any_record_is_read_or_refused(values: dict[str, Any], state: str) -> None:
    (read,) = read_records([{"ruleId": 7, **values, "ruleState": state}])
    assert (read.wanted is None) == bool(read.problems)
    _assert_storable(read)


def _assert_storable(read: ReadLine) -> None:
    """What is said of a line is kept under its Idempotency-Key: in Postgres, which takes neither U+0000 nor halves."""
    for problem in read.problems:
        assert is_storable(problem.field), problem
        assert is_storable(problem.message), problem


def test_a_name_that_hides_something_is_refused_and_the_character_named() -> None:
    (line,) = read_records([{"ruleId": 1, "ruleState": "PAUSE", "name": "adm\u200bin"}])
    assert line.wanted is None
    (problem,) = line.problems
    assert problem.field == "name"
    assert problem.message.endswith("; it has U+200B")
