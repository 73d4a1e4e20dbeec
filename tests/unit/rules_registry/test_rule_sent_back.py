"""A rule that GET answered, sent back with PUT: what is read, and that no member that differs is passed over."""

from __future__ import annotations

from typing import Any

import pytest

from rules_registry.api.rule_schemas.rule_body import RuleBody
from rules_registry.api.rule_schemas.rule_sent_back import read_rule_change
from tests.unit.rules_registry.support.samples import BODY, NOW, SUM
from tripline_http.errors import ProblemError

STANDING: dict[str, Any] = {
    "ruleId": 7,
    "version": 3,
    "definitionVersion": 1,
    "state": "ACTIVE",
    "name": "Seven",
    "definition": SUM.to_json(),
    "definitionHash": SUM.hash,
    "effectiveFrom": NOW,
    "effectiveUntil": None,
    "position": 12,
    "changedAt": NOW,
    "changedBy": "ada",
}


def read(body: dict[str, Any]) -> RuleBody:
    return read_rule_change(body, lambda: STANDING)


READ: list[tuple[dict[str, Any], RuleBody, str]] = [
    (STANDING, RuleBody("Seven", NOW, SUM), "as it came"),
    ({**STANDING, "name": "Other"}, RuleBody("Other", NOW, SUM), "another name"),
    ({"definition": SUM.to_json()}, RuleBody(None, None, SUM), "the definition alone"),
    ({**BODY, "version": 3, "state": "ACTIVE"}, RuleBody(None, None, SUM), "beside the members of a definition"),
    ({**BODY, "ruleId": "7", "ruleState": "ACTIVE"}, RuleBody(None, None, SUM), "a rule file"),
    ({**BODY, "ruleId": None}, RuleBody(None, None, SUM), "null is no id"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(body: dict[str, Any], expected: RuleBody, reason: str) -> None:
    assert read(body) == expected, reason


def test_the_rule_is_not_asked_for_where_nothing_has_to_be_compared() -> None:
    assert read_rule_change(dict(BODY), lambda: pytest.fail("asked")).definition == SUM


WRONG: list[tuple[dict[str, Any], set[str], str]] = [
    *(
        ({**STANDING, name: value}, {name}, f"another {name}")
        for name, value in {
            "ruleId": 8, "version": 2, "definitionVersion": True, "state": "PAUSED", "definitionHash": None,
            "position": "12", "changedAt": 0, "changedBy": "bob",
        }.items()
    ),
    ({**BODY, "ruleId": 8}, {"ruleId"}, "the rule of another file"),
    ({**STANDING, "version": 2, "changedBy": "bob", "nmae": 1}, {"version", "changedBy", "nmae"}, "all at once"),
    ({**STANDING, "limit": "5"}, {"limit"}, "a member of the definition beside it"),
    ({**STANDING, "definition": None}, {"definition"}, "no definition"),
    ({**STANDING, "definition": {**BODY, "name": "x"}}, {"definition.name"}, "the name in the definition"),
    ({**STANDING, "definition": {**BODY, "limit": "x"}, "name": ""}, {"definition.limit", "name"}, "wrong values"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(body: dict[str, Any], fields: set[str], reason: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read(body)
    assert refused.value.status == 422
    assert {error.field for error in refused.value.errors} == fields, reason


def test_both_values_are_told() -> None:
    with pytest.raises(ProblemError) as refused:
        read({**STANDING, "changedBy": "b" * 500})
    [error] = refused.value.errors
    assert error.message.startswith('cannot be changed: it came as "bbb')
    assert error.message.endswith('… and is "ada"')
