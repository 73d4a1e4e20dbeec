"""Rule files, line by line: what each asks for, or what is wrong with it.

    (1),(active),(oneKey&anotherKey),(),(measure),(SUM),(>),(20000000),(43200)
    {"ruleId": 2, "ruleState": "PAUSE"}

The grammar is the contracts'. Of the registry's own, JSON records may have `name`, `effectiveFrom` and
`effectiveUntil` (ms).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from rules_registry.domain.rule import MAX_NAME
from rules_registry.domain.rule_import import MAX_IMPORTED_ID, ImportedControl, ImportedRule
from tripline_contracts import display_text, event_type_loader
from tripline_contracts.errors import InvalidDefinition, InvalidRecord, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import legacy
from tripline_contracts.rules.legacy import LegacyRecord
from tripline_contracts.rules.rule_definition import parse
from tripline_http.fields import MAX_MS

_OWN = {"name": "name", "effectivefrom": "effectiveFrom", "effectiveuntil": "effectiveUntil"}
EFFECTIVE_TIMES: Final = ("effectiveFrom", "effectiveUntil")
TIME_EXPECTED: Final = f"expected ms since the epoch, 0 to {MAX_MS}"


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line that says something: its number, from 1, and either what it asks for or why it cannot be read."""

    number: int
    wanted: ImportedRule | ImportedControl | None
    problems: tuple[Problem, ...] = ()


def read_text(text: str, declared: EventType | None = None) -> list[ReadLine]:
    """Every line of a text but the empty ones; rules are of the default event type or another one."""
    return [_read(number, line, declared or event_type_loader.load()) for number, line in _lines(text)]


def count_lines(text: str) -> int:
    """How many `read_text` would read: a hundred times as fast, for those that are too many."""
    return len(_lines(text))


def _lines(text: str) -> list[tuple[int, str]]:
    # Not splitlines: that also breaks at characters that may stand inside of JSON texts.
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def read_records(records: Sequence[object], declared: EventType | None = None) -> list[ReadLine]:
    """Records that came as JSON values, numbered from 1."""
    return [
        _read(number, record, declared or event_type_loader.load())
        for number, record in enumerate(records, start=1)
    ]


def _read(number: int, line: object, declared: EventType) -> ReadLine:
    try:
        record = legacy.read_line(line) if isinstance(line, str) else legacy.read_object(line)
        problems, imported = _understand(record, declared)
    except InvalidRecord as invalid:
        return ReadLine(number, None, (Problem("record", str(invalid)),))
    return ReadLine(number, None if problems else imported, tuple(problems))


def _understand(
    record: LegacyRecord, declared: EventType
) -> tuple[list[Problem], ImportedRule | ImportedControl | None]:
    if record.control_type is not None:
        return [], ImportedControl(record.control_type)
    assert record.rule_id is not None  # of all but CONTROL
    assert record.state != "CONTROL"
    registry_fields, definition = _apart(record.definition or {})
    problems = list(_own_problems(record.rule_id, registry_fields))
    imported = ImportedRule(record.state, record.rule_id)
    # A PAUSE that brings nothing but a name brings no rule.
    if record.state != "DELETE" and (record.state == "ACTIVE" or any(definition.values())):
        try:
            read = parse(definition, declared)
            name, since, until = (registry_fields.get(name) for name in _OWN.values())
            imported = ImportedRule(
                record.state,
                record.rule_id,
                cast("str | None", name),
                read,
                cast("int | None", since),
                cast("int | None", until),
            )
        except InvalidDefinition as invalid:
            problems += invalid.problems
    return problems, imported


def _apart(values: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """The registry's own fields, and the definition's."""
    registry_fields = {_OWN[key.casefold()]: value for key, value in values.items() if key.casefold() in _OWN}
    return registry_fields, {key: value for key, value in values.items() if key.casefold() not in _OWN}


def _own_problems(rule_id: int, registry_fields: Mapping[str, object]) -> Iterator[Problem]:
    if rule_id > MAX_IMPORTED_ID:
        yield Problem("ruleId", f"expected an id from 1 to {MAX_IMPORTED_ID}")
    name = registry_fields.get("name")
    if name is not None and (message := problem_of_name(name)):
        yield Problem("name", message)
    for member in EFFECTIVE_TIMES:
        if not is_time_or_absent(registry_fields.get(member)):
            yield Problem(member, TIME_EXPECTED)


def is_time_or_absent(value: object) -> bool:
    """True for what `effectiveFrom` and `effectiveUntil` may be."""
    is_time = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_MS
    return value is None or is_time


def problem_of_name(name: object) -> str | None:
    """What was expected of a rule's name, where it is not that. Stored names may be older than this check."""
    return display_text.problem_of(name, MAX_NAME)
