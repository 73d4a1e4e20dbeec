"""The body of POST /v1/backtests: a span, and a draft, or published rules, or all that are active."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rules_registry.api.rule_schemas.rule_body import RuleBody, read_rule_body
from rules_registry.domain.backtests.backtest import AS_IT_WAS, KNOWLEDGE, Tried
from rules_registry.domain.wording import spans
from rules_registry.service.backtests.backtests import Asked
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.definition_parser import MAX_WINDOW_SECONDS
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.fields import DECIMAL_PATTERN, MAX_ID, MAX_MS

BODY_SCHEMA: Final = "BacktestBody"
MAX_RULES: Final = 20
MAX_OTHERS: Final = 50
"""Other limits, and other windows, that a draft is tried with."""
_OF_A_DRAFT: Final = ("beside", "limits", "windows")
_WINDOW: Final = ("windowSeconds", "windowMinutes")
_DECIMAL: Final = re.compile(DECIMAL_PATTERN, re.ASCII)
_WAYS: Final = ("rule", "rules", "allActive")
_ONE_WAY: Final = "expected one of rule, rules and allActive"
_DRAFT: Final = "draft"

VersionOf = Callable[[int, int | None], tuple[int, Mapping[str, Any]]]
"""Of a rule and a version, or the present one, the number and what GET says of it."""


def backtest_body_schema(rule_body: str) -> dict[str, Any]:
    """The body in JSON Schema; `rule_body` is the schema of what POST /v1/rules takes."""
    time = {"type": "integer", "minimum": 0, "maximum": MAX_MS}
    rule_id = {"type": "integer", "minimum": 1, "maximum": MAX_ID}
    span = {
        "from": {**time, "description": "Event time in ms from which on the rules are in force"},
        "to": {**time, "description": "The end of the span, excluded"},
        "knowledge": {
            "type": "string",
            "enum": list(KNOWLEDGE),
            "default": AS_IT_WAS,
            "description": "What counts at each moment: what the engine knew then, or what is known today",
        },
    }
    draft = {
        "rule": {"$ref": f"#/components/schemas/{rule_body}"},
        "beside": {**rule_id, "description": "The rule whose live alerts the draft is compared with"},
        "limits": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_OTHERS,
            "items": {"type": "string", "pattern": DECIMAL_PATTERN},
            "description": "The draft is tried with these limits too, each as a rule of its own that is only counted",
        },
        "windows": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_OTHERS,
            "items": {"type": "integer", "minimum": 1, "maximum": MAX_WINDOW_SECONDS},
            "description": "And with these windows, in seconds, each likewise",
        },
    }
    published = {
        "type": "object",
        "additionalProperties": False,
        "required": ["ruleId"],
        "properties": {
            "ruleId": rule_id,
            "version": {**rule_id, "description": "The present one by default"},
        },
    }
    rules = {"rules": {"type": "array", "minItems": 1, "maxItems": MAX_RULES, "items": published}}
    every = {"allActive": {"type": "boolean", "enum": [True]}}
    return {
        "description": "Each published rule is compared with its own live alerts.",
        "oneOf": [
            _variant("a draft", span, draft, "rule"),
            _variant("published rules", span, rules, "rules"),
            _variant("all active rules", span, every, "allActive"),
        ],
    }


def read_backtest_body(body: Mapping[str, Any], event_type: EventType, version_of: VersionOf) -> Asked:
    """Reads the body; raises the 422 problem that names every wrong field, and what `version_of` raises."""
    named = [way for way in _WAYS if way in body]
    known = {"from", "to", "knowledge", *named, *(_OF_A_DRAFT if named == ["rule"] else ())}
    errors = [FieldError(name, "unknown field") for name in body if name not in known]
    errors += [problem for name in ("from", "to") for problem in _integer(body, name, 0, MAX_MS)]
    if body.get("knowledge", AS_IT_WAS) not in KNOWLEDGE:
        errors.append(FieldError("knowledge", f"expected {' or '.join(KNOWLEDGE)}"))
    if len(named) != 1:
        errors.append(FieldError(named[0] if named else "rule", _ONE_WAY))
    elif named == ["allActive"] and body["allActive"] is not True:
        errors.append(FieldError("allActive", "expected true"))
    elif named == ["rules"]:
        errors += _wrong_rules(body["rules"])
    elif named == ["rule"]:
        errors += _wrong_draft(body)
    if errors:
        raise invalid_input(errors)
    span = Asked(body["from"], body["to"], None, knowledge=body.get("knowledge", AS_IT_WAS))
    if named == ["allActive"]:
        return span
    if named == ["rules"]:
        return replace(span, rules=tuple(_published(wanted, version_of) for wanted in body["rules"]))
    read = _read(body["rule"], event_type)
    rule = Tried(read.name or _DRAFT, read.definition.to_json(), beside=body.get("beside"))
    return replace(span, rules=(rule, *_others(rule, body, event_type)), draft=read.definition)


def _read(rule: Mapping[str, Any], event_type: EventType) -> RuleBody:
    try:
        return read_rule_body(rule, event_type)
    except ProblemError as error:
        raise invalid_input([FieldError(f"rule.{one.field}", one.message) for one in error.errors]) from error


def _others(rule: Tried, body: Mapping[str, Any], event_type: EventType) -> Iterator[Tried]:
    """The draft with other limits, then with other windows."""
    timeless = {name: value for name, value in body["rule"].items() if name not in _WINDOW}
    others = [
        *((f"limit {limit}", {**body["rule"], "limit": limit}) for limit in body.get("limits", ())),
        *(
            (f"window {spans.span(one)}", {**timeless, "windowSeconds": one})
            for one in body.get("windows", ())
        ),
    ]
    for name, other in others:
        read = _read(other, event_type)
        yield replace(rule, name=f"{rule.name}, {name}", definition=read.definition.to_json(), counted=True)


def _wrong_draft(body: Mapping[str, Any]) -> list[FieldError]:
    errors = _integer(body, "beside", 1, MAX_ID) if "beside" in body else []
    rule = body["rule"]
    if not isinstance(rule, dict):
        errors.append(FieldError("rule", "expected a rule as POST /v1/rules takes it"))
    else:
        if "limits" in body and "limit" not in rule:
            errors.append(FieldError("limits", "the rule has no limit of its own, but several conditions"))
        if "windows" in body and not any(name in rule for name in _WINDOW):
            errors.append(FieldError("windows", "the rule has no window of its own, but several conditions"))
    for name, wrong in (("limits", _wrong_limit), ("windows", _wrong_window)):
        errors += _wrong_others(body, name, wrong)
    return errors


def _wrong_others(
    body: Mapping[str, Any], name: str, wrong: Callable[[str, object], list[FieldError]]
) -> list[FieldError]:
    if name not in body:
        return []
    others = body[name]
    if not isinstance(others, list) or not 1 <= len(others) <= MAX_OTHERS:
        return [FieldError(name, f"expected 1 to {MAX_OTHERS} {name}")]
    return [error for number, one in enumerate(others) for error in wrong(f"{name}.{number}", one)]


def _wrong_limit(field: str, limit: object) -> list[FieldError]:
    if isinstance(limit, str) and _DECIMAL.fullmatch(limit):
        return []
    return [FieldError(field, "expected a decimal number as text")]


def _wrong_window(field: str, window: object) -> list[FieldError]:
    return _integer({field: window}, field, 1, MAX_WINDOW_SECONDS)


def _published(wanted: Mapping[str, Any], version_of: VersionOf) -> Tried:
    rule_id = wanted["ruleId"]
    version, told = version_of(rule_id, wanted.get("version"))
    return Tried(told["name"], told["definition"], rule_id, version, rule_id)


def _wrong_rules(rules: object) -> list[FieldError]:
    if not isinstance(rules, list) or not 1 <= len(rules) <= MAX_RULES:
        return [FieldError("rules", f"expected 1 to {MAX_RULES} rules")]
    errors: list[FieldError] = []
    for number, rule in enumerate(rules):
        if not isinstance(rule, dict):
            errors.append(FieldError(f"rules.{number}", "expected an object with ruleId, and version"))
            continue
        path = f"rules.{number}."
        errors += [
            FieldError(path + name, "unknown field") for name in rule if name not in ("ruleId", "version")
        ]
        errors += _integer(rule, "ruleId", 1, MAX_ID, path)
        errors += _integer(rule, "version", 1, MAX_ID, path) if "version" in rule else []
    return errors


def _integer(body: Mapping[str, Any], name: str, least: int, most: int, path: str = "") -> list[FieldError]:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        return [FieldError(path + name, f"expected an integer from {least} to {most}")]
    return []


def _variant(title: str, span: Mapping[str, Any], more: Mapping[str, Any], needed: str) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "additionalProperties": False,
        "required": ["from", "to", needed],
        "properties": {**span, **more},
    }
