"""A definition as one sentence, generic over the event type: fields are called what they are declared as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from rules_registry.domain.wording.filter_words import as_json, constant, filter_words
from rules_registry.domain.wording.spans import span

DEFAULTS: Final[Mapping[str, object]] = {
    "firing": "every",
    "lateEvents": "evaluate",
    "precision": "exact",
    "resetOnAlert": False,
    "cooldownSeconds": None,
}
"""What holds where a definition says nothing."""
LATE: Final[Mapping[object, str]] = {
    "evaluate": "late ones are judged",
    "reevaluate": "late ones are judged, and what they came before again",
    "store": "late ones only count",
}
FIRING: Final[Mapping[object, str]] = {"every": "alerts every time", "crossing": "alerts on crossing"}


def describe(definition: Mapping[str, object]) -> str:
    """The definition, in its normal form, in one sentence."""
    conditions = definition.get("conditions")
    measured = condition_words(definition) if conditions is None else conditions_words(conditions)
    where = definition.get("filter")
    filtered = "" if where is None else f", where {filter_words(where)}"
    options = [
        option_words(name, definition[name])
        for name, default in DEFAULTS.items()
        if name in definition and definition[name] != default
    ]
    return "; ".join([measured + filtered, *options])


def conditions_words(tree: object, *, inside: bool = False) -> str:
    """Conditions with `and`, `or`, `not` and weights; `inside` others in brackets."""
    if not isinstance(tree, Mapping):
        return as_json(tree)
    for key, word in (("all", " and "), ("any", " or ")):
        operands = tree.get(key)
        if isinstance(operands, Sequence) and operands:
            if len(operands) == 1:
                return conditions_words(operands[0], inside=inside)
            text = word.join(conditions_words(operand, inside=True) for operand in operands)
            return f"({text})" if inside else text
    if "weighted" in tree:
        return f"({weighted_words(tree)})" if inside else weighted_words(tree)
    if "not" in tree:
        return f"not {conditions_words(tree['not'], inside=True)}"
    where = tree.get("filter")
    filtered = "" if where is None else f", where {filter_words(where)}"
    text = condition_words(tree) + filtered
    return f"({text})" if inside else text


def weighted_words(tree: Mapping[str, object]) -> str:
    """As in: weights of at least 60: 30 for (…), 40 for (…)."""
    weighted = tree["weighted"]
    operands = weighted if isinstance(weighted, Sequence) and not isinstance(weighted, str) else []
    parts = [
        f"{number_words(operand.get('weight'))} for {conditions_words(operand.get('of'), inside=True)}"
        if isinstance(operand, Mapping)
        else as_json(operand)
        for operand in operands
    ]
    return f"weights of at least {number_words(tree.get('atLeast'))}: {', '.join(parts)}"


def number_words(value: object) -> str:
    """A number, or the parameter that gives it."""
    return str(value) if isinstance(value, int) else constant(value)


def condition_words(measured: Mapping[str, object]) -> str:
    """What is measured, over which window, of whom, and the limit."""
    return f"{measure_words(measured)} {limit_words(measured)}"


def measure_words(measured: Mapping[str, object]) -> str:
    """What is held against a limit, or behind one: of which window, which part of it, and of whom."""
    part = excerpt_words(measured)
    return (
        f"{aggregate_words(measured)} over {window_words(measured)}{f' {part}' if part else ''}"
        f" {grouping_words(measured)}"
    )


def excerpt_words(measured: Mapping[str, object]) -> str:
    """Which part of its window counts, and from how many on; nothing of a whole one."""
    offset, least = measured.get("offsetSeconds"), measured.get("minimumCount")
    said = [
        f"before the last {span(offset)}" if isinstance(offset, int) and offset else "",
        "without the event itself" if measured.get("includeCurrent") is False else "",
        f"with at least {least}" if least else "",
    ]
    return " ".join(filter(None, said))


def aggregate_words(measured: Mapping[str, object]) -> str:
    """COUNT, or a function of a field."""
    function, field = measured.get("aggregatorFunctionType"), measured.get("aggregateFieldName")
    return str(function) if field is None else f"{function} of {field}"


def grouping_words(measured: Mapping[str, object]) -> str:
    """The fields that a group has in common."""
    names = measured.get("groupingKeyNames")
    if not isinstance(names, Sequence) or isinstance(names, str):
        return f"per {as_json(names)}"
    return f"per {' and '.join(map(_key_words, names))}" if names else "over all"


def _key_words(key: object) -> str:
    if isinstance(key, Mapping) and set(key) == {"field", "step"}:
        return f"{key['field']} in steps of {number_words(key['step'])}"
    return str(key)


def window_words(measured: Mapping[str, object]) -> str:
    """How far back."""
    seconds = measured.get("windowSeconds")
    return span(seconds) if isinstance(seconds, int) else as_json(seconds)


def limit_words(measured: Mapping[str, object]) -> str:
    """The operator with the limit."""
    limit = measured.get("limit")
    relative = isinstance(limit, Mapping) and isinstance(limit.get("measure"), Mapping)
    said = relative_words(cast("Mapping[str, object]", limit)) if relative else number_words(limit)
    return f"{measured.get('limitOperatorType')} {said}"


def relative_words(limit: Mapping[str, object]) -> str:
    """As in: 3 × (AVG of amount over 30 days before the last 1 day per account) + 100."""
    measure = cast("Mapping[str, object]", limit["measure"])
    where = measure.get("filter")
    filtered = "" if where is None else f", where {filter_words(where)}"
    times, plus = (limit.get(name, default) for name, default in (("times", "1"), ("plus", "0")))
    factor = "" if times == "1" else f"{number_words(times)} × "
    more = "" if plus == "0" else f" + {number_words(plus)}"
    rest = {name: value for name, value in limit.items() if name not in ("measure", "times", "plus")}
    return f"{factor}({measure_words(measure)}{filtered}){more}{f' and {as_json(rest)}' if rest else ''}"


def option_words(name: str, value: object) -> str:
    """One of `DEFAULTS` as part of a sentence."""
    match name, value:
        case "firing", str() if value in FIRING:
            return FIRING[value]
        case "lateEvents", str() if value in LATE:
            return LATE[value]
        case "precision", str():
            return _precision(value)
        case "resetOnAlert", bool():
            return "starts afresh after an alert" if value else "goes on after an alert"
        case "cooldownSeconds", int():
            return f"silent for {span(value)} after an alert"
        case "cooldownSeconds", None:
            return "never silent"
    return f"{name} {as_json(value)}"


def _precision(text: str) -> str:
    seconds = text.removeprefix("bucketed(").removesuffix(")")
    return f"windows in buckets of {span(int(seconds))}" if seconds.isdecimal() else f"windows {text}"
