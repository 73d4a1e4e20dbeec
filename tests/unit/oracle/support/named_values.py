"""Definitions, histories and alerts for the cases of named lists and parameters."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json

WATCHED: Json = {"field": "payeeId", "in": {"list": "watched"}}
LARGE: Json = {"field": "paymentAmount", "operator": ">=", "value": {"parameter": "large"}}


def count(limit: int = 1, **more: Any) -> Draft:
    """So many of a payee in the last minute."""
    return draft("COUNT", ">=", str(limit), by=("payeeId",), seconds=60, **more)


def total(operator: str = ">", **more: Any) -> Draft:
    """The sum of a payee's last minute against the parameter `most`."""
    return draft("SUM", operator, "0", by=("payeeId",), seconds=60, parameter="most", **more)


def ids(outcome: Outcome) -> list[str]:
    """The transaction of each alert."""
    return [str(json_object(alert["transaction"])["transactionId"]) for alert in outcome.alerts]


def rows(outcome: Outcome, *names: str) -> list[tuple[Json, ...]]:
    """Of each alert its transaction's id, and what it has under the names."""
    return [
        (name, *(alert[key] for key in names))
        for name, alert in zip(ids(outcome), outcome.alerts, strict=True)
    ]


def json_object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


class Script(Registry):
    """A registry whose events are made at no time in particular."""

    def rule(self, what: Draft, rule_id: int = 1, since: int = 0) -> bytes:
        return self.publish(rule_id, what, since, 0)

    def watch(self, *values: Json) -> bytes:
        return self.change_list("watched", values, 0)

    def most(self, value: Json, name: str = "most") -> bytes:
        return self.change_parameter(name, value, 0)
