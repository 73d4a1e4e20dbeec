"""A rule's definition (semantics 2), as far as this oracle knows it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.canonical import definition_hash
from tests.oracle.decimals import read_decimal
from tests.oracle.errors import OracleError, OutOfScope, Unreadable
from tests.oracle.filters import Filter, fields_of, read_filter
from tests.oracle.model import Json
from tests.oracle.schema import AMOUNT, EVENT_TIME, GROUPABLE
from tests.oracle.strict_json import Numeral, Value, read_integer, read_text

FUNCTIONS = ("SUM", "AVG", "MIN", "MAX", "COUNT")
DISTINCT = "COUNT_DISTINCT"
REEVALUATE = "reevaluate"
OPERATORS = {
    "EQUAL": "=",
    "NOT_EQUAL": "!=",
    "GREATER_EQUAL": ">=",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "LESS": "<",
}
_WIDEST_SECONDS = 400 * 24 * 3600
_KNOWN = {
    "groupingKeyNames",
    "aggregatorFunctionType",
    "aggregateFieldName",
    "limitOperatorType",
    "limit",
    "windowSeconds",
    "windowMinutes",
    "filter",
    "firing",
    "lateEvents",
    "resetOnAlert",
    "cooldownSeconds",
}
_DEFAULTS: dict[str, tuple[Json, ...]] = {
    "precision": (None, "exact"),
    "unique": (None, []),
}


@dataclass(frozen=True, slots=True)
class Definition:
    """Grouping in name order, limit in millionths, window and cooldown in ms; `field` is None for COUNT alone."""

    grouping: tuple[str, ...]
    function: str
    field: str | None
    operator: str
    limit: int
    window: int
    condition: Filter | None = None
    firing: str = "every"
    late_events: str = "evaluate"
    reset_on_alert: bool = False
    cooldown: int | None = None

    def uses(self) -> frozenset[str]:
        """The fields whose history this definition needs."""
        fields = {EVENT_TIME, *self.grouping, *fields_of(self.condition)}
        return frozenset(fields if self.field is None else fields | {self.field})


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
    function, field = _aggregate(document)
    limit = read_decimal(document.get("limit"), "limit")
    definition = Definition(
        _grouping(document),
        function,
        field,
        _operator(document),
        limit,
        _window(document),
        condition=None if document.get("filter") is None else read_filter(document["filter"]),
        firing=_choice(document, "firing", ("every", "crossing")),
        late_events=_choice(document, "lateEvents", ("evaluate", REEVALUATE, "store")),
        reset_on_alert=_flag(document, "resetOnAlert"),
        cooldown=_cooldown(document),
    )
    _refuse_unclear(definition)
    return definition


def _refuse_unclear(definition: Definition) -> None:
    """What an alert after the fact would do to state that later judgements have gone by has no clear meaning."""
    has_state = (
        definition.firing == "crossing" or definition.reset_on_alert or definition.cooldown is not None
    )
    if definition.late_events == REEVALUATE and has_state:
        raise Unreadable("reevaluate does not go with firing state")


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
        if _plain_json(document[name]) not in _DEFAULTS.get(name, (None,)):
            raise OutOfScope(f"definition has {name}")


def _grouping(document: dict[str, Value]) -> tuple[str, ...]:
    names = document.get("groupingKeyNames")
    if not isinstance(names, list):
        raise Unreadable("groupingKeyNames is not a list")
    fields = [_groupable(name) for name in names]
    if len(set(fields)) != len(fields):
        raise Unreadable("repeated grouping key")
    return tuple(sorted(fields))


def _groupable(name: Value | None) -> str:
    field = "payeeId" if name == "payerId" else read_text(name, "field")
    if field not in GROUPABLE:
        raise Unreadable(f"{field} is no key")
    return field


def _aggregate(document: dict[str, Value]) -> tuple[str, str | None]:
    function, field = document.get("aggregatorFunctionType"), document.get("aggregateFieldName")
    if function == DISTINCT:
        return function, _groupable(field)
    if not isinstance(function, str) or function not in FUNCTIONS:
        raise Unreadable("unknown aggregate function")
    if function == "COUNT":
        return function, None
    if field != AMOUNT:
        raise Unreadable("aggregate field is not a measure")
    return function, AMOUNT


def _operator(document: dict[str, Value]) -> str:
    name = read_text(document.get("limitOperatorType"), "operator")
    symbol = OPERATORS.get(name, name)
    if symbol not in OPERATORS.values():
        raise Unreadable("unknown operator")
    return symbol


def _window(document: dict[str, Value]) -> int:
    if "windowSeconds" in document:
        seconds = read_integer(document["windowSeconds"], "windowSeconds")
    else:
        seconds = 60 * read_integer(document.get("windowMinutes"), "windowMinutes")
    return _milliseconds(seconds, "window")


def _cooldown(document: dict[str, Value]) -> int | None:
    if document.get("cooldownSeconds") is None:
        return None
    return _milliseconds(read_integer(document["cooldownSeconds"], "cooldownSeconds"), "cooldown")


def _milliseconds(seconds: int, what: str) -> int:
    if not 1 <= seconds <= _WIDEST_SECONDS:
        raise Unreadable(f"{what} out of range")
    return 1000 * seconds
