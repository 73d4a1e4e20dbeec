"""An alert in one sentence for people who have never seen the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

_FUNCTIONS: Final = {
    "SUM": "the sum of {field}",
    "AVG": "the average of {field}",
    "MIN": "the least {field}",
    "MAX": "the greatest {field}",
    "COUNT": "the number of transactions",
    "COUNT_DISTINCT": "the number of different values of {field}",
}
_COMPARED: Final = {
    ">": "over",
    ">=": "at least",
    "<": "under",
    "<=": "at most",
    "=": "equal to",
    "!=": "not equal to",
}


def sentence(alert: Mapping[str, Any], definition: Mapping[str, Any] | None, transaction_id: str) -> str:
    """What the rule saw; `definition` is that of its version, None where it is not known."""
    measured = alert.get("conditions") or [{**alert, **_aggregate(definition)}]
    parts = [_condition(one) for one in measured if one.get("holds", True)]
    said = "; ".join(parts) if parts else "none of its conditions held, and the rule asks for that"
    return (
        f"Rule “{alert['ruleName']}” (version {alert['ruleVersion']}) raised this alert at transaction"
        f" {transaction_id} of {moment(alert['eventTime'])}: for {_group(alert['group'])} {said}.{_caveats(alert)}"
    )


def _aggregate(definition: Mapping[str, Any] | None) -> dict[str, Any]:
    known = definition or {}
    return {name: known.get(name) for name in ("aggregatorFunctionType", "aggregateFieldName")}


def _condition(measured: Mapping[str, Any]) -> str:
    function = _FUNCTIONS.get(measured.get("aggregatorFunctionType") or "", "the value")
    name = function.format(field=measured.get("aggregateFieldName") or "its field")
    compared = _COMPARED.get(measured["operator"], measured["operator"])
    count = measured["contributors"]["count"]
    transactions = "1 transaction" if count == 1 else f"{count} transactions"
    return (
        f"{name} was {measured['value'] if measured['value'] is not None else 'nothing'}, {compared} the limit"
        f" {measured['limit']}, over {transactions} from {moment(measured['windowStart'])} to"
        f" {moment(measured['windowEnd'])}"
    )


def _group(group: Mapping[str, Any]) -> str:
    named = [f"{name} {value}" for name, value in group.items()]
    return _listed(named) if named else "all transactions together"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _caveats(alert: Mapping[str, Any]) -> str:
    said = ""
    late = alert.get("late")
    if late and "transactionId" in late:
        said += f" It was judged again when {late['transactionId']} came in late."
    elif late:
        said += " The transaction came late: newer ones of the group were there before it."
    elif alert.get("partial"):
        said += " It was judged after the fact, when the version was applied."
    if not alert.get("warm", True):
        said += " The window was not full yet: there may have been transactions that the engine had not seen."
    if any("precision" in one for one in [alert, *(alert.get("conditions") or [])]):
        said += (
            " The window is made of whole buckets, so it may reach back a little further than the rule says."
        )
    return said


def moment(milliseconds: int) -> str:
    """In UTC, to the second, or to the millisecond where there are any."""
    timespec = "milliseconds" if milliseconds % 1000 else "seconds"
    instant = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(
        microsecond=milliseconds % 1000 * 1000
    )
    return instant.isoformat(sep=" ", timespec=timespec).replace("+00:00", " UTC")
