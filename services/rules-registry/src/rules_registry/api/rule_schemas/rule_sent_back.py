"""A rule as GET answers it, changed and sent back with PUT.

What the registry alone decides may stand in the body, so that nobody has to take it out again; but only as it is, for a
caller who sends something else believes that it can be changed so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rules_registry.api.rule_schemas.rule_body import RuleBody, read_rule_body
from tripline_contracts import spelling
from tripline_contracts.event_type import EventType
from tripline_http.errors import FieldError, ProblemError, invalid_input

CHANGE_SCHEMA: Final = "RuleChangeBody"
_READ_ONLY: Final = (
    "ruleId",
    "version",
    "definitionVersion",
    "state",
    "definitionHash",
    "shadow",
    "position",
    "changedAt",
    "changedBy",
    "purpose",
)
_WRITABLE: Final = ("name", "effectiveFrom", "effectiveUntil")
_LONGEST: Final = 120
_HOW: Final = {
    "state": "; to pause or resume a rule POST to /v1/rules/{id}/pause or …/resume",
    "shadow": "; to start or end a shadow POST to or DELETE /v1/rules/{id}/shadow",
    "purpose": "; send what the rule is for to /v1/rules/{id}/purpose",
}

Json = Mapping[str, Any]


def rule_change_schema(body_schema: str) -> dict[str, Any]:
    """The body of PUT in JSON Schema: that of POST, or a rule."""
    return {
        "description": "A rule's new definition as in POST, or a rule as GET answers it, with changes in name, "
        "definition, effectiveFrom and effectiveUntil; all but the definition may be left out. Other members of a "
        "rule may stand in either form as they are; one that is not as the registry has it is refused.",
        "anyOf": [
            {"$ref": f"#/components/schemas/{body_schema}"},
            {"$ref": "#/components/schemas/Rule"},
        ],
    }


def read_rule_change(body: Json, standing: Callable[[], Json], declared: EventType | None = None) -> RuleBody:
    """Reads the body of a PUT. `standing` gives the rule as GET answers it now, and is asked only where the body has
    members that cannot be changed. Raises what it raises, and the 422 problem that names every wrong field."""
    sent = {name: body[name] for name in _READ_ONLY if name in body}
    # as in POST, null is no id
    if sent.get("ruleId", 0) is None:
        del sent["ruleId"]
    errors = list(_changed(sent, standing())) if sent else []
    # said once of what was published, and of nothing that a caller could mean to change
    ignored = {*_READ_ONLY, "warnings"} if "definition" in body else {*_READ_ONLY}
    others = {name: value for name, value in body.items() if name not in ignored}
    try:
        read = _read_representation(others, declared) if "definition" in others else None
        read = read or read_rule_body(others, declared)
    except ProblemError as problem:
        raise invalid_input([*errors, *problem.errors], problem.detail) from problem
    if errors:
        raise invalid_input(errors, "The rule has members that cannot be changed so.")
    return read


def _read_representation(body: Json, declared: EventType | None) -> RuleBody:
    definition = body["definition"]
    if not isinstance(definition, dict):
        raise invalid_input([FieldError("definition", "expected a JSON object")])
    beside = {name: value for name, value in body.items() if name in _WRITABLE}
    errors = [
        FieldError(name, "not known beside definition")
        for name in body.keys() - beside.keys() - {"definition"}
    ]
    errors += [
        FieldError(f"definition.{name}", "expected beside definition, not in it")
        for name in (*_WRITABLE, "ruleId")
        if name in definition
    ]
    try:
        read = read_rule_body({**definition, **beside}, declared)
    except ProblemError as problem:
        inner = [
            error if error.field in _WRITABLE else FieldError(f"definition.{error.field}", error.message)
            for error in problem.errors
        ]
        raise invalid_input([*errors, *inner], problem.detail) from problem
    if errors:
        raise invalid_input(errors)
    return read


def _changed(sent: Json, standing: Json) -> Iterator[FieldError]:
    for name, value in sent.items():
        # A rule file may have its id as text.
        read = spelling.whole_number(value) if name == "ruleId" else value
        if _text(read) != _text(standing[name]):
            yield FieldError(
                name,
                f"cannot be changed: it came as {_short(value)} and is {_short(standing[name])}"
                f"{_HOW.get(name, '')}",
            )


def _text(value: object) -> str:
    """Equal for equal JSON: in Python true is 1."""
    return json.dumps(value, sort_keys=True)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
