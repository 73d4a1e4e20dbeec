"""Rule files: what they say, and what is said of those that say it wrongly."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rules_registry.domain.rule_files.desired_rule import RuleFile, read_rules
from rules_registry.domain.rule_files.errors import InvalidRuleFiles
from tests.unit.rules_registry.support.rule_files import MUCH, TRANSACTION, desired


def test_a_document_is_a_rule() -> None:
    other = MUCH.replace("Much", "Other").replace(
        "windowMinutes: 20", "windowSeconds: 60\neffectiveFrom: 5\neffectiveUntil: 6"
    )
    first, second = desired("# a comment\n" + MUCH, other + "ruleId: 8\n")
    assert (first.name, first.rule_id, first.effective_from) == ("Much", None, None)
    assert (first.definition.limit, first.definition.window_seconds) == (Decimal("1000.5"), 1200)
    assert str(first.origin) == "rules/a.yaml:2"
    assert (second.name, second.rule_id, second.effective_from, second.effective_until) == ("Other", 8, 5, 6)
    assert (second.origin.document, second.origin.line) == (2, 10)


def test_the_body_of_a_request_has_what_the_file_says_and_no_more() -> None:
    (rule,) = desired(MUCH)
    assert rule.to_json() == {"name": "Much", **rule.definition.to_json()}
    (rule,) = desired(MUCH.replace("name: Much", "ruleId: 7\neffectiveFrom: 9\neffectiveUntil: 10"))
    assert rule.to_json() == {"effectiveFrom": 9, "effectiveUntil": 10, **rule.definition.to_json()}
    assert rule.title == "rule 7"


BAD_FILTER = "filter:\n  all:\n  - {field: paymentType, operator: =, value: NO}\n"
FIELDS = "payeeId, beneficiaryId, paymentAmount, paymentType, account"
OTHER = MUCH.replace("Much", "Other")
WRONG: list[tuple[str, str, str]] = [
    (MUCH.replace("1000.50", "many"), "6: document 1: limit",
     "expected a decimal number: -?digits[.digits][e[+-]digits]; not 'many'"),
    (MUCH.replace("payeeId", "payer"), "2: document 1: groupingKeyNames",
     f"expected any of {FIELDS}, or [] for one global group; not 'payer'"),
    (MUCH.replace("windowMinutes: 20", "windowMinutes: 0.5"), "7: document 1: windowMinutes",
     "expected a whole number from 1 to 576000 (400 days), not 0.5"),
    (MUCH + BAD_FILTER, "10: document 1: filter.all[0].value", "expected one of CSH, CRD, not 'NO'"),
    (MUCH + "limt: 5\n", "8: document 1: limt", "unknown field; expected only groupingKeyNames"),
    (MUCH + "ruleState: PAUSE\n", "8: document 1: ruleState", "expected ACTIVE in a definition, not 'PAUSE'"),
    (MUCH.replace("name: Much\n", ""), "1: document 1: name", "expected a name, by which the rule is known"),
    (MUCH.replace("Much", "5"), "1: document 1: name", "expected a text of 1 to 200 characters, not 5"),
    (MUCH + "NAME: Much\n", "8: document 1: name", "given twice, in different cases; expected once"),
    (MUCH + "ruleId: '7'\n", "8: document 1: ruleId",
     "expected the id of a rule that there is, 1 to 2147483647, not '7'"),
    (MUCH + "effectiveFrom: 2026-11-27\n", "8: document 1: effectiveFrom",
     "expected ms since the epoch, 0 to 253402300799999, not '2026-11-27'"),
    (MUCH + "effectiveUntil: soon\n", "8: document 1: effectiveUntil",
     "expected ms since the epoch, 0 to 253402300799999, not 'soon'"),
    (MUCH.replace("[payeeId]", '""'), "2: document 1: groupingKeyNames",
     "expected a list; [] is one global group"),
    ("- name: Much\n", "1: document 1",
     "expected the members of a rule (name, groupingKeyNames, limit …), not a list"),
    (MUCH + "---\n" + MUCH, "9: document 2: name", "'Much' is at rules/a.yaml:1 already; expected once"),
    (f"ruleId: 7\n{MUCH}---\nruleId: 7\n{OTHER}", "10: document 2: ruleId",
     "7 is at rules/a.yaml:1 already; expected once"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_each_problem_says_where_what_came_and_what_was_expected(text: str, where: str, message: str) -> None:
    with pytest.raises(InvalidRuleFiles) as refused:
        desired(text)
    assert f"rules/a.yaml:{where}: {message}" in str(refused.value)


def test_all_problems_of_all_files_are_told_at_once() -> None:
    files = [
        RuleFile("a.yaml", MUCH.replace("1000.50", "x").replace('">"', "!")),
        RuleFile("b.yaml", MUCH),
        RuleFile("c.yaml", "a: [\n"),
        RuleFile("d.yaml", MUCH),
    ]
    with pytest.raises(InvalidRuleFiles) as refused:
        read_rules(files, TRANSACTION)
    assert [(problem.file, problem.path) for problem in refused.value.problems] == [
        ("a.yaml", "limitOperatorType"),
        ("a.yaml", "limit"),
        ("c.yaml", ""),
        ("d.yaml", "name"),
    ]


def test_two_rules_of_one_name_are_told_apart_by_their_ids() -> None:
    assert [rule.rule_id for rule in desired(MUCH + "ruleId: 7\n", MUCH + "ruleId: 8\n")] == [7, 8]
