"""The body of POST and PUT: what is read, that every wrong field is named, and that the schema says the same."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules_registry.api.rule_schemas.rule_body import RuleBody, read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.rule_schemas.rule_components import rule_components
from tests.unit.rules_registry.support.samples import BODY, NOW, SUM
from tripline_contracts import event_type_loader
from tripline_http.errors import ProblemError

SCHEMA = Draft202012Validator(
    {
        "$ref": f"#/components/schemas/{BODY_SCHEMA}",
        "components": {"schemas": rule_components(event_type_loader.load())},
    }
)
WITHOUT_WINDOW = {name: value for name, value in BODY.items() if name != "windowSeconds"}

READ: list[tuple[dict[str, Any], RuleBody, str]] = [
    (BODY, RuleBody(None, None, SUM), "the least"),
    ({**BODY, "name": "n", "effectiveFrom": 0}, RuleBody("n", 0, SUM), "since the epoch"),
    ({**BODY, "effectiveFrom": NOW * 2}, RuleBody(None, NOW * 2, SUM), "in the future"),
    ({**BODY, "effectiveUntil": NOW}, RuleBody(None, None, SUM, NOW), "with an end"),
    ({**BODY, "effectiveUntil": None}, RuleBody(None, None, SUM), "null is no end"),
    ({**BODY, "name": None, "effectiveFrom": None}, RuleBody(None, None, SUM), "null is absent"),
    ({**BODY, "ruleId": 5, "ruleState": "ACTIVE", "unique": []}, RuleBody(None, None, SUM), "a rule file"),
    ({**WITHOUT_WINDOW, "windowMinutes": "20"}, RuleBody(None, None, SUM), "minutes, quoted"),
    ({**BODY, "limitOperatorType": "GREATER"}, RuleBody(None, None, SUM), "the operator by name"),
]


@pytest.mark.parametrize(("body", "expected", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(body: dict[str, Any], expected: RuleBody, reason: str) -> None:
    assert read_rule_body(body) == expected, reason
    SCHEMA.validate(body)


WRONG: list[tuple[dict[str, Any], set[str], str]] = [
    ({"name": ""}, {"name"}, "an empty name"),
    ({"name": "n" * 201}, {"name"}, "too long"),
    ({"name": 5}, {"name"}, "no text"),
    ({"name": "a\r\nb"}, {"name"}, "two lines"),
    ({"name": "\u202egnp.exe"}, {"name"}, "read from the right"),
    ({"name": "adm\u200bin"}, {"name"}, "looks like another"),
    ({"effectiveFrom": -1}, {"effectiveFrom"}, "before the epoch"),
    ({"effectiveFrom": 253_402_300_800_000}, {"effectiveFrom"}, "after the year 9999"),
    ({"effectiveFrom": True}, {"effectiveFrom"}, "true is no time"),
    ({"effectiveFrom": "1763700000000"}, {"effectiveFrom"}, "a text is no time"),
    ({"effectiveUntil": "tomorrow", "effectiveFrom": -1}, {"effectiveUntil", "effectiveFrom"}, "no times"),
    ({"ruleId": "x"}, {"ruleId"}, "no id"),
    ({"ruleState": "PAUSE"}, {"ruleState"}, "pausing is another request"),
    ({"groupingKeyNames": " "}, {"groupingKeyNames"}, "no key is said by a list"),
    ({"name": "", "limit": "x", "nmae": 1, "windowSeconds": 0}, {"name", "limit", "nmae", "windowSeconds"}, "all"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(changes: dict[str, Any], fields: set[str], reason: str) -> None:
    with pytest.raises(ProblemError) as refused:
        read_rule_body({**BODY, **changes})
    assert refused.value.status == 422
    assert {error.field for error in refused.value.errors} == fields, reason
    assert not SCHEMA.is_valid({**BODY, **changes}), reason
