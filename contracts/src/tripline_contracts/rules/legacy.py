"""Rule records as the source articles and their demo spell them, one per line: the plain form and the JSON.

    (1),(active),(oneKey&anotherKey),(),(measure),(SUM),(>),(20000000),(43200)
    {"ruleId": 1, "ruleState": "ACTIVE", "groupingKeyNames": ["oneKey", "anotherKey"], ...}

This reads what kind of record a line is and whom it concerns; what the definition means, and whether it may be
used, `rule_definition.parse` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, cast, get_args

from tripline_contracts import exact_json, spelling
from tripline_contracts.errors import InvalidJson, InvalidRecord

State = Literal["ACTIVE", "PAUSE", "DELETE", "CONTROL"]
ControlType = Literal["CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "DELETE_RULES_ALL", "EXPORT_RULES_CURRENT"]

MAX_RULE_ID: Final = 2**53 - 1
"""What JSON carries exactly; the least id is 1."""

_PLAIN_FIELDS: Final = (
    "groupingKeyNames",
    "unique",
    "aggregateFieldName",
    "aggregatorFunctionType",
    "limitOperatorType",
    "limit",
    "windowMinutes",
)
_OPENING, _CLOSING = "([", ")]"


@dataclass(frozen=True, slots=True)
class LegacyRecord:
    """One record; `definition` has JSON names and the values as they stood.

    `rule_id` may be None for a CONTROL only, `control_type` is there for a CONTROL only. An ACTIVE always has
    a definition and a PAUSE may: the demo brings its second rule in by pausing it.
    """

    state: State
    rule_id: int | None
    control_type: ControlType | None = None
    definition: Mapping[str, object] | None = field(default=None, hash=False)


def read_line(line: str) -> LegacyRecord:
    """The record that one line holds, in either form, in any case, with brackets or none.

    Of PAUSE and DELETE an id is enough, of CONTROL its type.
    Raises InvalidRecord naming what is missing or wrong.
    """
    text = line.strip()
    return _read_json(text) if text.startswith("{") else _read_plain(text)


def _read_json(text: str) -> LegacyRecord:
    try:
        data = exact_json.loads(text)
    except InvalidJson as error:
        raise InvalidRecord(str(error)) from error
    return read_object(data)


def read_object(data: object) -> LegacyRecord:
    """The record that a JSON value holds, in any case; numbers as `exact_json` reads them.

    Raises InvalidRecord naming what is missing or wrong.
    """
    if not isinstance(data, Mapping):
        raise InvalidRecord("expected one JSON object")
    head: dict[str, object] = {}
    definition: dict[str, object] = {}
    for key, value in data.items():
        folded = key.casefold()
        if folded not in ("ruleid", "rulestate", "controltype"):
            definition[key] = value
        elif folded in head:
            raise InvalidRecord(f"{key} is given twice, in different cases; expected once")
        else:
            head[folded] = value
    return _record(head.get("ruleid"), head.get("rulestate"), head.get("controltype"), definition)


def _read_plain(text: str) -> LegacyRecord:
    tokens = [spelling.bare(token) for token in _split(text)]
    if len(tokens) < 2:
        raise InvalidRecord("expected an id and a state at least: (1),(active),…")
    rule_id, state, *rest = tokens
    if spelling.keyword(state) == "CONTROL":
        return _record(rule_id or None, state, next(filter(None, rest), None), {})
    if spelling.keyword(state) == "ACTIVE" and len(rest) != len(_PLAIN_FIELDS):
        raise InvalidRecord(f"expected {len(_PLAIN_FIELDS) + 2} fields for an active rule, not {len(tokens)}")
    definition: dict[str, object] = dict(zip(_PLAIN_FIELDS, rest, strict=False))
    return _record(rule_id, state, None, definition)


def _split(text: str) -> list[str]:
    """The fields between the commas that stand outside of brackets."""
    ends, depth = [-1], 0
    for index, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0:
            break
        if character == "," and depth == 0:
            ends.append(index)
    if depth != 0:
        raise InvalidRecord("brackets that don't match")
    return [text[before + 1 : end] for before, end in pairwise([*ends, len(text)])]


def _record(
    raw_id: object, raw_state: object, raw_control: object, definition: Mapping[str, object]
) -> LegacyRecord:
    state = spelling.keyword(raw_state)
    if state not in get_args(State):
        raise InvalidRecord(
            f"expected a state of {', '.join(get_args(State))}; not {spelling.shown(raw_state)}"
        )
    rule_id = spelling.whole_number(raw_id)
    if state == "CONTROL":
        control = spelling.keyword(raw_control)
        if control not in get_args(ControlType):
            types = ", ".join(get_args(ControlType))
            raise InvalidRecord(f"expected a control type of {types}; not {spelling.shown(raw_control)}")
        return LegacyRecord("CONTROL", rule_id, control_type=cast("ControlType", control))
    if rule_id is None or not 1 <= rule_id <= MAX_RULE_ID:
        raise InvalidRecord(f"expected a rule id from 1 to {MAX_RULE_ID}, not {spelling.shown(raw_id)}")
    if state == "DELETE" or (state == "PAUSE" and not any(definition.values())):
        return LegacyRecord(cast("State", state), rule_id)
    return LegacyRecord(cast("State", state), rule_id, definition=definition)
