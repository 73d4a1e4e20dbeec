"""Lines of the articles' two forms: what kind of record, whom it concerns, and what it means."""

from __future__ import annotations

from typing import Any

import pytest

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidRecord
from tripline_contracts.rules import legacy, rule_definition
from tripline_contracts.rules.aggregate import Aggregate, read_aggregate
from tripline_contracts.rules.legacy import LegacyRecord

TRANSACTION = event_type_loader.load()
MEANT = rule_definition.parse(
    {
        "groupingKeyNames": ["beneficiaryId", "payeeId"],
        "aggregatorFunctionType": "SUM",
        "aggregateFieldName": "paymentAmount",
        "limitOperatorType": ">",
        "limit": "20000000",
        "windowSeconds": 2592000,
    },
    TRANSACTION,
)

QUOTED = (
    '{"ruleId":"1","RULESTATE":"active","groupingKeyNames":["payeeId","beneficiaryId"],"aggregateFieldName":'
    '"paymentAmount","aggregatorFunctionType":"SUM","limitOperatorType":"GREATER","limit":20000000.0,'
    '"windowMinutes":"43200","controlType":null}'
)
ACTIVE: list[tuple[str, str]] = [
    (
        "(1),(active),(payeeId&beneficiaryId),(),(paymentAmount),(SUM),(>),(20000000),(43200)",
        "the specification's",
    ),
    (
        "1,(active),(payeeId & beneficiaryId),,(paymentAmount),(sum),(>),(20000000),(43200)",
        "nothing for unique",
    ),
    ("1,active,payerId&beneficiaryId,,paymentAmount,Sum,GREATER,20000000,43200", "no brackets at all"),
    ("  ( 1 ) , ( ACTIVE ),[payeeId,beneficiaryId],(),(paymentAmount),(SUM),(>),(2e7),(43200) \n", "spaces"),
    (QUOTED, "JSON, quoted numbers, a fraction of nothing"),
]


@pytest.mark.parametrize(("line", "reason"), ACTIVE, ids=[case[-1] for case in ACTIVE])
def test_active(line: str, reason: str) -> None:
    record = legacy.read_line(line)
    assert (record.state, record.rule_id, record.control_type) == ("ACTIVE", 1, None), reason
    assert record.definition is not None
    assert rule_definition.parse(record.definition, TRANSACTION) == MEANT, reason


OTHERS: list[tuple[str, LegacyRecord, str]] = [
    ("(7),(pause)", LegacyRecord("PAUSE", 7), "an id is enough"),
    ("7,DELETE,,,,,,,", LegacyRecord("DELETE", 7), "nothing in the other fields"),
    ("7,(delete),(payeeId),,(paymentAmount),(SUM),(>),(1),(2)", LegacyRecord("DELETE", 7), "the rest is left aside"),
    ('{"ruleId": 7, "ruleState": "Delete", "limit": null}', LegacyRecord("DELETE", 7), "nulls"),
    ('{"ruleState": "PAUSE", "ruleId": "7", "unique": null}', LegacyRecord("PAUSE", 7), "a quoted id"),
    ('{"ruleState": "CONTROL", "controlType": "CLEAR_STATE_ALL"}',
     LegacyRecord("CONTROL", None, "CLEAR_STATE_ALL"), "a control concerns no rule"),
    ('{"ruleId": 0, "ruleState": "control", "controlType": "(clear_state_all_stop)", "limit": null}',
     LegacyRecord("CONTROL", 0, "CLEAR_STATE_ALL_STOP"), "whatever its id, in any case"),
    ("(1),(control),(),(),(DELETE_RULES_ALL)", LegacyRecord("CONTROL", 1, "DELETE_RULES_ALL"), "a plain control"),
    (",control,export_rules_current", LegacyRecord("CONTROL", None, "EXPORT_RULES_CURRENT"), "without an id"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected", "reason"), OTHERS, ids=[case[-1] for case in OTHERS])
def test_other_states(line: str, expected: LegacyRecord, reason: str) -> None:
    assert legacy.read_line(line) == expected, reason


def test_a_pause_may_bring_its_rule() -> None:
    record = legacy.read_line("2,(pause),(paymentType),,(COUNT_FLINK),(SUM),(LESS),(300),(1440)")
    assert record.state == "PAUSE"
    assert record.definition is not None
    assert rule_definition.parse(record.definition, TRANSACTION).function == "COUNT"


WRONG: list[tuple[str, str, str]] = [
    ("", "expected an id and a state", "an empty line"),
    ("1", "expected an id and a state", "an id alone"),
    ("(1),(asleep)", "expected a state of ACTIVE", "an unknown state"),
    ("(1),(active),(payeeId),(),(paymentAmount),(SUM),(>),(5)", "expected 9 fields", "a field short"),
    (
        "(1),(active),(payeeId),(),(paymentAmount),(SUM),(>),(5),(6),(7)",
        "expected 9 fields",
        "a field too many",
    ),
    (
        "(x),(active),(payeeId),(),(paymentAmount),(SUM),(>),(5),(6)",
        "expected a rule id",
        "an id that is no number",
    ),
    ("(0),(pause)", "expected a rule id", "ids start with 1"),
    ("(9007199254740992),(pause)", "expected a rule id", "an id that JSON readers round"),
    ("(1),(active),((payeeId),(),(paymentAmount),(SUM),(>),(5),(6)", "brackets", "one opened too many"),
    ("1),(active)", "brackets", "one closed too many"),
    ("(1),(control)", "expected a control type", "a control of what"),
    ("(1),(control),(EXPLODE)", "not 'EXPLODE'", "an unknown control"),
    ('{"ruleId": 1', "not JSON", "broken JSON"),
    ('{"ruleId": 1}', "expected a state", "no state"),
    ('{"ruleState": "PAUSE"}', "expected a rule id", "no id"),
    ('{"ruleId": 1, "RuleId": 2, "ruleState": "PAUSE"}', "given twice", "two ids in two cases"),
    ('{"ruleId": true, "ruleState": "PAUSE"}', "expected a rule id", "true is not 1"),
    ('{"ruleId": 1, "ruleState": "PAUSE", "limit": NaN}', "NaN is not JSON", "a literal that is not JSON"),
]


@pytest.mark.parametrize(("line", "said", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(line: str, said: str, reason: str) -> None:
    with pytest.raises(InvalidRecord) as refused:
        legacy.read_line(line)
    assert said in str(refused.value), reason


PAYERS = Aggregate("COUNT_DISTINCT", "payeeId")
AGGREGATES: list[tuple[Any, Any, Any, Aggregate, str]] = [
    ("SUM", "COUNT_FLINK", None, Aggregate("COUNT", None), "the demo's count"),
    ("SUM", "COUNT_WITH_RESET_FLINK", None, Aggregate("COUNT", None, True), "the demo's count that starts anew"),
    ("avg", "paymentamount", [], Aggregate("AVG", "paymentAmount"), "an average"),
    ("COUNT_DISTINCT", "payeeId", None, PAYERS, "as it is kept"),
    ("count_distinct", "(PAYERID)", "()", PAYERS, "in any case, by the other name"),
    ("COUNT_DISTINCT(payeeId)", None, None, PAYERS, "the field inside"),
    (" ( Count_Distinct ( payerid ) ) ", "", [], PAYERS, "the field inside, with spaces and brackets"),
    ("COUNT_DISTINCT(payeeId)", "payerId", None, PAYERS, "the field said twice"),
    ("COUNT_DISTINCT", None, ["payerId"], PAYERS, "with unique"),
    ("COUNT_DISTINCT()", "()", "(payeeId)", PAYERS, "with unique, and brackets around nothing"),
    ("COUNT_DISTINCT(payeeId)", "payeeId", ["payeeId"], PAYERS, "said three times"),
    ("COUNT", None, ["payerId"], PAYERS, "a count with unique"),
    ("COUNT", "", "payeeId", PAYERS, "a count of nothing else with unique"),
    ("COUNT", "paymentAmount", ["payeeId"], PAYERS, "beside a field that says nothing in a count"),
    ("SUM", "COUNT_FLINK", "(payeeId)", PAYERS, "the demo's count with unique"),
    (None, "(count_flink)", ["payeeId"], PAYERS, "the same said by the field alone"),
    ("COUNT", "COUNT_WITH_RESET_FLINK", ["payeeId"], Aggregate("COUNT_DISTINCT", "payeeId", True), "and starts anew"),
    ("CHANGED", "payerId", [], Aggregate("CHANGED", "payeeId"), "whether the payer changed"),
    ("((changed (PAYEEID)))", "()", None, Aggregate("CHANGED", "payeeId"), "that field inside"),
    ("Seconds_Since_First", "()", "()", Aggregate("SECONDS_SINCE_FIRST", None), "a time"),
    *(("COUNT_DISTINCT", name, None, Aggregate("COUNT_DISTINCT", name), f"of {name}")
      for name in ("beneficiaryId", "paymentAmount", "paymentType")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "field", "unique", "expected", "reason"), AGGREGATES, ids=[case[-1] for case in AGGREGATES]
)
def test_what_an_aggregate_means(
    function: Any, field: Any, unique: Any, expected: Aggregate, reason: str
) -> None:
    assert read_aggregate(function, field, unique, TRANSACTION) == (expected, []), reason


NO_AGGREGATES: list[tuple[Any, Any, Any, set[str], str]] = [
    ("COUNT_DISTINCT", None, None, {"aggregateFieldName"}, "of what"),
    ("COUNT_DISTINCT", "()", [], {"aggregateFieldName"}, "of nothing"),
    ("COUNT_DISTINCT", "transactionId", None, {"aggregateFieldName"}, "the id is always another one"),
    ("COUNT_DISTINCT", "eventTime", None, {"aggregateFieldName"}, "a time is no key"),
    ("COUNT_DISTINCT", 5, None, {"aggregateFieldName"}, "no text"),
    ("COUNT_DISTINCT(iban)", None, None, {"aggregatorFunctionType"}, "an undeclared field inside"),
    ("COUNT_DISTINCT(payeeId, paymentType)", None, None, {"aggregatorFunctionType"}, "two fields inside"),
    ("COUNT_DISTINCT(payeeId", None, None, {"aggregatorFunctionType", "aggregateFieldName"}, "a bracket is open"),
    ("COUNT_DISTINCT(payeeId)", "beneficiaryId", None, {"aggregateFieldName"}, "inside and beside differ"),
    ("COUNT_DISTINCT(payeeId)", None, ["beneficiaryId"], {"aggregateFieldName"}, "inside and unique differ"),
    ("COUNT_DISTINCT", "paymentAmount", ["payeeId"], {"aggregateFieldName"}, "beside and unique differ"),
    ("COUNT_DISTINCT", "COUNT_FLINK", ["payeeId"], {"aggregatorFunctionType"}, "the demo's field is a count"),
    ("COUNT_DISTINCT", None, ["payeeId", "paymentType"], {"unique"}, "combinations have no one value"),
    ("SUM", "COUNT_FLINK", "(payeeId & paymentType)", {"unique"}, "combinations in the demo's way"),
    ("COUNT", None, ["iban"], {"unique"}, "an undeclared field"),
    ("COUNT", None, ["eventTime"], {"unique"}, "a time"),
    ("COUNT", None, [""], {"unique"}, "a field without a name"),
    ("COUNT", None, 5, {"unique"}, "no list"),
    ("COUNT", "beneficiaryId", ["payeeId"], {"aggregateFieldName"}, "a field that may be null beside a count"),
    ("MAX", "paymentAmount", ["payeeId"], {"unique"}, "unique without a count"),
    ("CHANGED", None, None, {"aggregateFieldName"}, "a change of nothing"),
    ("CHANGED()", None, None, {"aggregateFieldName"}, "a change of nothing inside"),
    ("CHANGED(iban)", None, None, {"aggregatorFunctionType"}, "a change of an undeclared field"),
    ("CHANGED", "COUNT_FLINK", None, {"aggregatorFunctionType"}, "a change of a count"),
    ("SECONDS_SINCE_PREVIOUS", "eventTime", None, {"aggregateFieldName"}, "event times need not be said"),
    ("SECONDS_SINCE_FIRST(eventTime)", None, None, {"aggregatorFunctionType", "aggregateFieldName"}, "nor inside"),
    ("SECONDS_SINCE_FIRST", None, ["payeeId"], {"unique"}, "different ones"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "field", "unique", "named", "reason"),
    NO_AGGREGATES,
    ids=[case[-1] for case in NO_AGGREGATES],
)
def test_what_is_no_aggregate(function: Any, field: Any, unique: Any, named: set[str], reason: str) -> None:
    aggregate, problems = read_aggregate(function, field, unique, TRANSACTION)
    assert aggregate is None, reason
    assert {problem.field for problem in problems} == named, problems


def test_what_was_written_is_shown_as_it_was_written() -> None:
    _, problems = read_aggregate("COUNT_DISTINCT(iBan)", None, None, TRANSACTION)
    assert ["'iBan'" in problem.message for problem in problems] == [True]


def test_the_plain_form_counts_different_values_by_unique() -> None:
    record = legacy.read_line("7,(active),(beneficiaryId),(payerId),(COUNT_FLINK),(SUM),(>),(20),(60)")
    assert record.definition is not None
    definition = rule_definition.parse(record.definition, TRANSACTION)
    assert (definition.function, definition.aggregate_field) == ("COUNT_DISTINCT", "payeeId")


def test_a_json_value_is_a_record_too() -> None:
    assert legacy.read_object({"RuleId": 7, "ruleState": "delete"}) == LegacyRecord("DELETE", 7)
    with pytest.raises(InvalidRecord, match="one JSON object"):
        legacy.read_object([7])


def test_the_demo_s_reset_is_a_count_that_resets_on_alert() -> None:
    record = legacy.read_line("4,(active),(paymentType),,(COUNT_WITH_RESET_FLINK),(SUM),(>=),(100),(1440)")
    assert record.definition is not None
    definition = rule_definition.parse(record.definition, TRANSACTION)
    assert (definition.function, definition.aggregate_field, definition.reset_on_alert) == (
        "COUNT",
        None,
        True,
    )
