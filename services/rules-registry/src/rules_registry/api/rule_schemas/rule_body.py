"""The body of POST and PUT of a rule: a definition as specification section 2 has it, a name, and since and
until when.

The grammar is the contracts'; this module adds what is the registry's own: `name`, `effectiveFrom`, `effectiveUntil`,
and what becomes of `ruleId` and `ruleState`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rules_registry.domain.strict_spelling import loose_spellings
from rules_registry.service.rule_file_lines import (
    EFFECTIVE_TIMES,
    TIME_EXPECTED,
    is_time_or_absent,
    problem_of_name,
)
from tripline_contracts import event_type_loader, spelling
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.rule_definition import InvalidDefinition, RuleDefinition, parse
from tripline_http.errors import FieldError, invalid_input

_OWN = ("name", *EFFECTIVE_TIMES, "ruleId")
_STATE_HINT = (
    "expected ACTIVE: to pause or resume a rule POST to /v1/rules/{id}/pause or …/resume, "
    "to delete it send DELETE"
)


@dataclass(frozen=True, slots=True)
class RuleBody:
    """A body that was understood; times are in ms."""

    name: str | None
    effective_from: int | None
    definition: RuleDefinition
    effective_until: int | None = None


def read_rule_body(body: Mapping[str, Any], declared: EventType | None = None) -> RuleBody:
    """Reads the body of a rule of the default event type or another one.

    Raises the 422 problem that names every wrong field.
    """
    errors = list(_own_errors(body))
    definition: RuleDefinition | None = None
    try:
        definition = parse(
            {name: value for name, value in body.items() if name not in _OWN},
            declared or event_type_loader.load(),
        )
    except InvalidDefinition as invalid:
        errors += [_explained(problem.field, problem.message) for problem in invalid.problems]
    errors += [FieldError(problem.field, problem.message) for problem in loose_spellings(body)]
    if errors or definition is None:
        raise invalid_input(errors, "This is not a rule that can be published.")
    return RuleBody(body.get("name"), body.get("effectiveFrom"), definition, body.get("effectiveUntil"))


def _own_errors(body: Mapping[str, Any]) -> Iterator[FieldError]:
    name, rule_id = body.get("name"), body.get("ruleId")
    if name is not None and (message := problem_of_name(name)):
        yield FieldError("name", message)
    for member in EFFECTIVE_TIMES:
        if not is_time_or_absent(body.get(member)):
            yield FieldError(member, TIME_EXPECTED)
    if rule_id is not None and spelling.whole_number(rule_id) is None:
        yield FieldError("ruleId", "expected an integer, or nothing: the registry gives ids")


def _explained(field: str, message: str) -> FieldError:
    return FieldError(field, _STATE_HINT if field == "ruleState" else message)
