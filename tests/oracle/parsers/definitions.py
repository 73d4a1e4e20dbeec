"""Definitions of rules (semantics 2), as far as this oracle knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.oracle.parsers.conditions import (
    OPERATORS,
    Condition,
    Tree,
    conditions_of,
    measures_of,
    read_condition,
    read_tree,
    shared_grouping,
)
from tests.oracle.parsers.filters import Filter, fields_of, read_filter
from tests.oracle.parsers.grouping_keys import Key
from tests.oracle.parsers.measures import (
    DEVIATION,
    DISTINCT,
    FUNCTIONS,
    MEMBERS,
    OF_ORDER,
    Measure,
    read_duration,
)
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.errors import OracleError, OutOfScope, Unreadable
from tests.oracle.values.event_types import SIDE, current_type
from tests.oracle.values.model import Json
from tests.oracle.values.strict_json import Numeral, Value, read_integer

__all__ = ["DISTINCT", "FUNCTIONS", "OPERATORS", "REEVALUATE", "Definition", "hash_of", "read_definition"]

REEVALUATE = "reevaluate"
_KNOWN = {
    *MEMBERS,
    "conditions",
    "filter",
    "firing",
    "lateEvents",
    "resetOnAlert",
    "cooldownSeconds",
    "precision",
}
_BUCKETED = re.compile(r"bucketed\(([0-9]+)\)")
_MOST_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition: the conditions, the transactions they are for, and when they alert; `cooldown` in ms.

    `bucket` is the length, in ms, of the buckets of a bucketed one.
    `grouping`, in name order, and `window`, in ms, are those of the whole: the union of the groupings of all that is
    measured, and how far back it reaches. `shared` are the fields by which all of it groups.
    """

    tree: Tree
    chained: bool
    conditions: tuple[Condition, ...]
    grouping: tuple[Key, ...]
    shared: tuple[Key, ...]
    window: int
    uses: frozenset[str]
    only: Filter | None
    firing: str
    late_events: str
    reset_on_alert: bool
    cooldown: int | None
    bucket: int | None


def hash_of(document: Value) -> str:
    """definitionHash of a definition as read, or Unreadable if it has no canonical form here."""
    try:
        return definition_hash(_plain_json(document))
    except OracleError as error:
        raise Unreadable(str(error)) from error


def _plain_json(value: Value) -> Json:
    if isinstance(value, Numeral):
        return read_integer(value, "number")
    if isinstance(value, list):
        return [_plain_json(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain_json(item) for name, item in value.items()}
    return value


def read_definition(document: Value) -> Definition:
    """The definition in a rule event; Unreadable if invalid, OutOfScope if beyond this oracle."""
    if not isinstance(document, dict):
        raise Unreadable("definition is not an object")
    _refuse_unknown(document)
    tree, chained = _tree(document)
    conditions, measures = conditions_of(tree), measures_of(tree)
    only = None if document.get("filter") is None else read_filter(document["filter"])
    definition = Definition(
        tree,
        chained,
        conditions,
        grouping=tuple(sorted({key for measure in measures for key in measure.grouping})),
        shared=shared_grouping(measures),
        window=max(measure.reach for measure in measures),
        uses=_uses(only, measures),
        only=only,
        firing=_choice(document, "firing", ("every", "crossing")),
        late_events=_choice(document, "lateEvents", ("evaluate", REEVALUATE, "store")),
        reset_on_alert=_flag(document, "resetOnAlert"),
        cooldown=_cooldown(document),
        bucket=_bucket(document),
    )
    _refuse_unclear(definition)
    return definition


def _tree(document: dict[str, Value]) -> tuple[Tree, bool]:
    """The tree of conditions, and whether it stands under `conditions`."""
    if document.get("conditions") is None:
        return read_condition(document), False
    if any(document.get(name) is not None for name in MEMBERS):
        raise Unreadable("conditions beside what they replace")
    return read_tree(document["conditions"]), True


def _refuse_unclear(definition: Definition) -> None:
    """Refuse re-evaluation beside firing state: later judgements have gone by that state.

    Neither a reset nor re-evaluation goes with conditions whose groups several groups of the rule share.
    """
    has_state = (
        definition.firing == "crossing" or definition.reset_on_alert or definition.cooldown is not None
    )
    if definition.late_events == REEVALUATE and has_state:
        raise Unreadable("reevaluate does not go with firing state")
    if definition.chained and (definition.late_events == REEVALUATE or definition.reset_on_alert):
        raise Unreadable("chained conditions do not go with this")
    once = any(condition.function in (DEVIATION, *OF_ORDER) for condition in definition.conditions)
    if once and (definition.late_events == REEVALUATE or definition.reset_on_alert):
        raise Unreadable("deviations and what depends on the order do not go with this")
    _refuse_unfit_parties(definition)
    if definition.bucket is not None:
        _refuse_unbucketable(definition, definition.bucket)


def _uses(only: Filter | None, measures: tuple[Measure, ...]) -> frozenset[str]:
    """The fields that the rule names, the time, and of one of entries their side."""
    named = fields_of(only).union(*(measure.uses() for measure in measures))
    entries = named & current_type().parties.keys()
    return named | {current_type().time} | ({SIDE} if entries else set())


def _refuse_unfit_parties(definition: Definition) -> None:
    """One party in all groupings, or neither a party nor a side anywhere; and nothing is judged twice."""
    parties = current_type().parties.keys()
    named = parties & {key.field for key in definition.grouping}
    if not named and SIDE in definition.uses:
        raise Unreadable("a side of no party")
    if named and (len(named) > 1 or not named <= {key.field for key in definition.shared}):
        raise Unreadable("not one party throughout")
    if named and (definition.late_events == REEVALUATE or definition.reset_on_alert):
        raise Unreadable("a party does not go with this")


def _refuse_unbucketable(definition: Definition, bucket: int) -> None:
    if definition.late_events == REEVALUATE or definition.reset_on_alert:
        raise Unreadable("bucketed does not go with this")
    for condition in definition.conditions:
        if condition.function in (DISTINCT, DEVIATION, *OF_ORDER):
            raise Unreadable("a bucket tells neither different values nor deviations nor an order")
        if len(condition.measures) > 1 or condition.offset or condition.least or not condition.current:
            raise Unreadable("a bucket does not go with this")
        if not bucket <= condition.window <= _MOST_BUCKETS * bucket:
            raise Unreadable("no bucket for such a window")


def _choice(document: dict[str, Value], name: str, known: tuple[str, ...]) -> str:
    """One of the known words, the first of them where nothing is said."""
    value = document.get(name)
    if value is None:
        return known[0]
    if not isinstance(value, str) or value not in known:
        raise Unreadable(f"unknown {name}")
    return value


def _flag(document: dict[str, Value], name: str) -> bool:
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        raise Unreadable(f"{name} is neither true nor false")
    return value is True


def _refuse_unknown(document: dict[str, Value]) -> None:
    for name in document.keys() - _KNOWN:
        if document[name] is not None:
            raise OutOfScope(f"definition has {name}")


def _cooldown(document: dict[str, Value]) -> int | None:
    if document.get("cooldownSeconds") is None:
        return None
    return read_duration(read_integer(document["cooldownSeconds"], "cooldownSeconds"), "cooldown")


def _bucket(document: dict[str, Value]) -> int | None:
    """The length of a bucket in ms, None where all is exact."""
    precision = document.get("precision")
    if precision in (None, "exact"):
        return None
    match = _BUCKETED.fullmatch(precision) if isinstance(precision, str) else None
    if match is None:
        raise OutOfScope(f"precision {precision}")
    # Longer than any window, however many digits.
    return 1000 * int(match[1][:20])
