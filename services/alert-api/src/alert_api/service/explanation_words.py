"""An alert in one sentence for people who have never seen the rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tripline_contracts.event_type import EventType

_FUNCTIONS: Final = {
    "SUM": "the sum of {several}",
    "AVG": "the average of {several}",
    "MIN": "the least {one}",
    "MAX": "the greatest {one}",
    "COUNT": "the number of {events}",
    "COUNT_DISTINCT": "the number of different {several}",
    "SECONDS_SINCE_PREVIOUS": "the time in seconds since the {event} before",
    "SECONDS_SINCE_FIRST": "the time in seconds since the first {event} of the window",
    "STDDEV": "the standard deviation of {several}",
    "CHANGED": "the change of {one} since the {event} before (1 if changed, else 0)",
    "SPEED_KMH": "the speed in km/h from the last {one}",
}
_COMPARED: Final = {
    ">": "over",
    ">=": "at least",
    "<": "under",
    "<=": "at most",
    "=": "equal to",
    "!=": "not equal to",
}


class ExplanationWords:
    """Says it in the words of an event type: what people call its fields, and one and several events."""

    def __init__(self, event_type: EventType) -> None:
        self._type = event_type

    def sentence(self, alert: Mapping[str, Any], definition: Mapping[str, Any] | None) -> str:
        """What the rule saw; `definition` is that of its version, None where it is not known."""
        measured = alert.get("conditions") or [{**alert, **_aggregate(definition)}]
        parts = [self._condition(one) for one in measured if one.get("holds", True)]
        said = "; ".join(parts) if parts else "none of its conditions held, and the rule asks for that"
        said += "".join(f"; {_weighed(one)}" for one in alert.get("weighted", ()))
        identity = alert["transaction"][self._type.id_field.name]
        return (
            f"Rule “{alert['ruleName']}” (version {alert['ruleVersion']}) raised this alert at {self._type.noun}"
            f" {identity} of {moment(alert['eventTime'])}: for {self._group(alert)} {said}."
            f"{self._caveats(alert)}"
        )

    def _condition(self, measured: Mapping[str, Any]) -> str:
        name = self._measure(measured)
        compared = _COMPARED.get(measured["operator"], measured["operator"])
        count = measured["contributors"]["count"]
        events = f"1 {self._type.noun}" if count == 1 else f"{count} {self._type.plural}"
        return (
            f"{name} was {measured['value'] if measured['value'] is not None else 'nothing'}, {compared} the limit"
            f" {measured['limit']}, over {events} from {moment(measured['windowStart'])} to"
            f" {moment(measured['windowEnd'])}{self._behind(measured.get('limitMeasure'))}"
        )

    def _measure(self, measured: Mapping[str, Any]) -> str:
        function = _FUNCTIONS.get(measured.get("aggregatorFunctionType") or "", "the value")
        field = measured.get("aggregateFieldName")
        return function.format(
            one=self._name(field) if field else "value",
            several=self._names(field) if field else "values",
            event=self._type.noun,
            events=self._type.plural,
        )

    def _behind(self, measure: Mapping[str, Any] | None) -> str:
        """What a relative limit was made of."""
        if measure is None:
            return ""
        count = measure["contributors"]["count"]
        events = f"1 {self._type.noun}" if count == 1 else f"{count} {self._type.plural}"
        plus = "" if measure["plus"] == "0" else f" plus {measure['plus']}"
        deviations, deviation = measure.get("plusDeviations"), measure.get("deviation")
        if deviations is not None and deviation is not None:
            plus += f" plus {deviations} standard deviations of {deviation}"
        return (
            f" (the limit is {measure['times']} times {self._measure(measure)}, {measure['value']}, over {events} from"
            f" {moment(measure['windowStart'])} to {moment(measure['windowEnd'])}{plus})"
        )

    def _group(self, alert: Mapping[str, Any]) -> str:
        steps = dict(_steps(alert))
        named = [
            f"{self._name(name)} {value}{f' in steps of {steps[name]}' if name in steps else ''}"
            for name, value in alert["group"].items()
        ]
        side = f" as {alert['side']}" if "side" in alert else ""
        return _listed(named) + side if named else f"all {self._type.plural} together"

    def _caveats(self, alert: Mapping[str, Any]) -> str:
        one, several = self._type.noun, self._type.plural
        said = ""
        late = alert.get("late")
        if late and "transactionId" in late:
            said += f" It was judged again when {late['transactionId']} came in late."
        elif late:
            said += f" The {one} came late: newer ones of the group were there before it."
        elif alert.get("partial"):
            said += " It was judged after the fact, when the version was applied."
        if not alert.get("warm", True):
            said += (
                f" The window was not full yet: there may have been {several} that the engine had not seen."
            )
        if any("precision" in one for one in [alert, *(alert.get("conditions") or [])]):
            said += " The window is made of whole buckets, so it may reach back a little further than the rule says."
        return said

    def _name(self, field: str) -> str:
        """What people call it; its own name where the type does not know it any more."""
        known = [declared.label for declared in self._type.fields if declared.name == field]
        return known[0] if known and known[0] else field

    def _names(self, field: str) -> str:
        known = [declared.plural for declared in self._type.fields if declared.name == field]
        return known[0] if known and known[0] else field


def _steps(alert: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields that it groups by in steps, with those."""
    for measured in (alert, *(alert.get("conditions") or [])):
        for key in measured.get("groupingKeyNames", ()):
            if isinstance(key, Mapping):
                yield key["field"], key["step"]


def _weighed(weighing: Mapping[str, Any]) -> str:
    """What the weights of one weighting came to, where all of them have a value."""
    total, least, weights = weighing["sum"], weighing["atLeast"], weighing["weights"]
    if total is None or least is None:
        return "weights could not be added up: a parameter had no value yet"
    held = [
        f"{one['weight']} for condition{'s' if len(one['conditions']) > 1 else ''}"
        f" {_listed([str(number) for number in one['conditions']])}"
        for one in weights
        if one["holds"]
    ]
    told = f" ({_listed(held)})" if held else ""
    compared = "at least" if weighing["holds"] else "less than"
    return f"the weights of what held add up to {total}{told}, {compared} {least}"


def _aggregate(definition: Mapping[str, Any] | None) -> dict[str, Any]:
    known = definition or {}
    return {name: known.get(name) for name in ("aggregatorFunctionType", "aggregateFieldName")}


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def moment(milliseconds: int) -> str:
    """In UTC, to the second, or to the millisecond where there are any."""
    timespec = "milliseconds" if milliseconds % 1000 else "seconds"
    instant = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(
        microsecond=milliseconds % 1000 * 1000
    )
    return instant.isoformat(sep=" ", timespec=timespec).replace("+00:00", " UTC")
