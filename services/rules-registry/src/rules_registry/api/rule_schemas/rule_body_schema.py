"""The body of POST and PUT of a rule in JSON Schema for OpenAPI: as a program should send it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rules_registry.api.rule_schemas.aggregate_members import (
    changed,
    count,
    deviation,
    different_values,
    of_a_field,
    old_count,
    speed,
    times_since,
)
from rules_registry.api.rule_schemas.filter_schema import FILTER_REF, PARAMETER
from rules_registry.api.rule_schemas.grouping_schemas import GROUPING_REF, MAX_WHOLE
from rules_registry.api.rule_schemas.number_patterns import digits_up_to
from rules_registry.api.rule_schemas.party_schema import by_a_party, fields_alone, without_a_party
from rules_registry.domain.rule import MAX_NAME
from tripline_contracts import display_text, event_type_loader, spelling
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import condition_parser
from tripline_contracts.rules.aggregate import COUNT_FIELDS
from tripline_contracts.rules.precision import MAX_BUCKETS
from tripline_contracts.rules.rule_definition import MAX_WINDOW_SECONDS
from tripline_http.fields import DECIMAL_PATTERN, MAX_MS

BODY_SCHEMA = "RuleBody"
CONDITIONS_SCHEMA = "RuleConditions"
CONDITIONS_REF = {"$ref": f"#/components/schemas/{CONDITIONS_SCHEMA}"}
BUCKETED_CONDITIONS_SCHEMA = "RuleConditionsInBuckets"
BUCKETED_CONDITIONS_REF = {"$ref": f"#/components/schemas/{BUCKETED_CONDITIONS_SCHEMA}"}
_BUCKETED = rf"bucketed\(({digits_up_to(MAX_WINDOW_SECONDS)})\)"
PRECISION_PATTERN = f"^(exact|{_BUCKETED})$"
_ITS_OWN = ("name", "effectiveFrom", "effectiveUntil", "ruleId", "ruleState", "controlType")
Json = dict[str, Any]

_OLD_COUNT = "a count, as rules in the wild have it"
_NO_RESET: Json = {"enum": [False, None]}
_FILTER: Json = {"anyOf": [FILTER_REF, {"type": "null"}]}


BEYOND: Final = (
    f"buckets longer than the shortest window, or more than {MAX_BUCKETS} of them in the longest",
    "an offset that with its window is longer than 400 days",
    f"more than {condition_parser.MAX_CONDITIONS} conditions with the measures behind their limits",
    f"more than {condition_parser.MAX_DEPTH} levels of conditions",
    "conditions and measures whose groupings share no field, or have one in two ways",
    "a party in some groupings of a rule and not in all",
    "a filter by side where no grouping names its party",
    "filters of a rule with more levels, comparisons or constants together than one may have",
    "a time zone or an address that is none",
)
"""Rules that the schema takes and the parser refuses: sums and comparisons of members, counts over a tree, what one
part of a tree says of another, and words of a list that is not ours. `tests/contract/test_rule_bodies.py` has each."""


def rule_body_schema(event: EventType | None = None) -> Json:
    """The body in JSON Schema: one closed object for each way to say the aggregate and the window.

    It takes whatever the parser takes in our own spelling, and nothing that the parser refuses but what JSON Schema has
    no words for: BEYOND. The options are described with those of our own way only: older systems don't know them. They
    are read with the others as well.
    """
    declared = event or event_type_loader.load()
    return {
        "description": "A rule's definition with a name. Names of operators and quoted numbers are read too; filter, "
        "firing, resetOnAlert, lateEvents and cooldownSeconds beside windowMinutes and the articles' counts; different "
        "values beside windowMinutes, as COUNT_DISTINCT(field), and as a count with unique. bucketed(b) takes any "
        f"whole seconds up to the shortest window, where the longest has no more than {MAX_BUCKETS} of them, beside "
        "conditions too, but not with COUNT_DISTINCT, resetOnAlert, reevaluate, SECONDS_SINCE_…, CHANGED, STDDEV or "
        "SPEED_KMH; none of the last four goes with resetOnAlert or reevaluate, nor does a party, and CHANGED(field) "
        "is read too. A chained rule has conditions in place of what one condition says. No schema says, and the "
        f"registry refuses: {'; '.join(BEYOND)}.",
        "anyOf": list(_variants(declared)),
    }


def _variants(event: EventType) -> Iterator[Json]:
    field = [("an aggregate of a field", of_a_field(event))] if event.measures else []
    counting = [*field, ("a count", count())]
    different = ("a count of different values", different_values(event))
    begins_anew = without_a_party(event, "resetOnAlert", value=True)
    for title, members in counting:
        yield {**_variant(title, {**members, **_options()}, "windowSeconds"), **begins_anew}
        yield _variant(title, members, "windowMinutes")
    yield {**_variant(different[0], {**different[1], **_options()}, "windowSeconds"), **begins_anew}
    judged_once = [("a time since", times_since()), ("a change of a field", changed(event))]
    if event.measures:
        judged_once.append(("a deviation", deviation(event)))
    if event.positions:
        judged_once.append(("a speed", speed(event)))
    for title, members in judged_once:
        yield _variant(title, {**members, **_options(), "resetOnAlert": _NO_RESET}, "windowSeconds")
    for title, members in (*counting, different):
        again = _variant(
            f"{title}, judged again after a late one", {**members, **_judging_again()}, "windowSeconds"
        )
        again["properties"]["groupingKeyNames"] = {**GROUPING_REF, **fields_alone(event)}
        yield again
    for title, members in counting:
        yield _in_buckets(_variant(f"{title}, in buckets", {**members, **_options()}, "windowSeconds"))
    if event.parties:
        _, first = counting[0]
        by_party = {**first, **_options(), **by_a_party(event)}
        yield _variant("entries of a party", by_party, "windowSeconds")
    begins_anew = without_a_party(event, "aggregateFieldName", COUNT_FIELDS[1])
    for window in ("windowSeconds", "windowMinutes"):
        yield {**_variant(_OLD_COUNT, old_count(), window), **begins_anew}
    yield _chained()
    whole = _chained()
    properties = {**whole["properties"], "conditions": BUCKETED_CONDITIONS_REF}
    in_buckets = {**whole, "title": "several conditions, in buckets", "properties": properties}
    yield _in_buckets(in_buckets)


def _variant(title: str, members: Json, window: str) -> Json:
    back = duration(MAX_WINDOW_SECONDS if window == "windowSeconds" else MAX_WINDOW_SECONDS // 60)
    back["description"] = "Back from each transaction; at most 400 days"
    required = ["groupingKeyNames", "limitOperatorType", "limit", window]
    # What may be null may be left out.
    required += [name for name, schema in members.items() if schema.get("type") == "string"]
    return {
        "title": f"{title}, {window}",
        "type": "object",
        "properties": {**common(), **members, window: back},
        "required": sorted(required),
        "additionalProperties": False,
    }


def _in_buckets(variant: Json) -> Json:
    variant["properties"]["resetOnAlert"] = _NO_RESET
    variant["properties"]["precision"] = {
        "type": "string",
        "pattern": f"^{_BUCKETED}$",
        "description": "Memory by bucket of so many seconds instead of by transaction; alerts bound the exact value",
    }
    return {**variant, "required": sorted([*variant["required"], "precision"])}


def _chained() -> Json:
    """The options that it takes are those that have a meaning for several groups at once."""
    properties = {name: schema for name, schema in common().items() if name in _ITS_OWN}
    options = {**_options(), "resetOnAlert": _NO_RESET}
    return {
        "title": "several conditions",
        "type": "object",
        "properties": {**properties, "conditions": CONDITIONS_REF, **options},
        "required": ["conditions"],
        "additionalProperties": False,
    }


def duration(maximum: int, *others: str) -> Json:
    """Whole units, quoted or not; `others` are the types that it may have besides."""
    return {
        "type": ["integer", "string", *others],
        "minimum": 1,
        "maximum": maximum,
        "pattern": f"^({digits_up_to(maximum)})$",
    }


def common() -> Json:
    """The members of every rule that is not chained."""
    return {
        "name": {
            "type": ["string", "null"],
            "minLength": 1,
            "maxLength": MAX_NAME,
            "pattern": display_text.NAME_PATTERN,
            "description": f"A text {display_text.EXPECTED}; joiners are taken where a script or an emoji needs them",
        },
        "effectiveFrom": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_MS,
            "description": "Event time in ms from which the definition holds; now if left out",
        },
        "effectiveUntil": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_MS,
            "description": "Event time in ms from which the definition judges nothing any more; without it there is "
            "no end. After effectiveFrom",
        },
        "ruleId": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_WHOLE,
            "description": "Read and ignored: the registry gives ids",
        },
        "ruleState": {
            "enum": ["ACTIVE", None],
            "description": "Nothing but ACTIVE; pause and delete are requests",
        },
        "controlType": {"type": "null"},
        "unique": {"type": ["array", "string", "null"], "maxItems": 0, "maxLength": 0},
        "groupingKeyNames": GROUPING_REF,
        "limitOperatorType": {
            "type": "string",
            "enum": [*spelling.OPERATORS.values(), *spelling.OPERATORS],
        },
        "limit": {
            "anyOf": [
                {
                    "type": ["string", "integer"],
                    "pattern": DECIMAL_PATTERN,
                    "minimum": -MAX_WHOLE,
                    "maximum": MAX_WHOLE,
                    "description": "decimal(24,6) as text, or a whole number",
                },
                PARAMETER,
            ]
        },
    }


def _options() -> Json:
    """The options of a rule beyond the articles' rules."""
    return {
        "filter": _FILTER,
        "firing": {
            "enum": ["every", "crossing", None],
            "description": "Each transaction for which the rule holds, or only where it begins to hold",
        },
        "resetOnAlert": {
            "type": ["boolean", "null"],
            "description": "After an alert only later transactions count for the rule and group",
        },
        "lateEvents": {
            "enum": ["evaluate", "store", None],
            "description": "Whether a late transaction is judged, or only counts for later ones",
        },
        "cooldownSeconds": {
            **duration(MAX_WINDOW_SECONDS, "null"),
            "description": "For how long after an alert, in event time, the group has no other; at most 400 days",
        },
        "precision": {"enum": ["exact", None]},
    }


def _judging_again() -> Json:
    """The options that have a clear meaning beside `reevaluate`."""
    return {
        "filter": _FILTER,
        "firing": {"enum": ["every", None]},
        "resetOnAlert": _NO_RESET,
        "lateEvents": {
            "type": "string",
            "enum": ["reevaluate"],
            "description": "A late transaction is judged, and those again in whose windows it has come",
        },
        "cooldownSeconds": {"type": "null"},
        "precision": {"enum": ["exact", None]},
    }
