"""Chained definitions, histories and alerts for the cases of chained rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Branch, Draft, DraftTree, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.timeline import play

MINUTE = 60_000
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}
CARD: Json = {"field": "paymentType", "operator": "=", "value": "CRD"}
LARGE: Json = {"field": "paymentAmount", "operator": ">=", "value": "100"}
PAYEE, BOTH = ("payeeId",), ("beneficiaryId", "payeeId")


def count(limit: int = 1, operator: str = ">=", by: tuple[str, ...] = PAYEE, **more: Any) -> Draft:
    """A condition: so many in the last minute."""
    return draft("COUNT", operator, str(limit), by=by, **{"seconds": 60, **more})


def total(limit: str, operator: str = ">", by: tuple[str, ...] = PAYEE, **more: Any) -> Draft:
    return draft("SUM", operator, limit, by=by, **{"seconds": 60, **more})


def all_of(*parts: DraftTree, **options: Any) -> Draft:
    return replace(chained(Branch("all", parts)), **options)


def any_of(*parts: DraftTree, **options: Any) -> Draft:
    return replace(chained(Branch("any", parts)), **options)


def negate(part: DraftTree) -> Branch:
    return Branch("not", (part,))


def outcome_of(what: Draft, *records: Record | int) -> Outcome:
    return play(Registry().publish(1, what, 0, 0), *records)


def ids(outcome: Outcome) -> list[str]:
    """The transaction of each alert."""
    return [str(json_object(alert["transaction"])["transactionId"]) for alert in outcome.alerts]


def values(alert: dict[str, Json], name: str = "value") -> list[Json]:
    """Of each condition, in the alert's order."""
    conditions = alert["conditions"]
    assert isinstance(conditions, list)
    return [json_object(condition)[name] for condition in conditions]


def all_values(outcome: Outcome, name: str = "value") -> list[list[Json]]:
    return [values(alert, name) for alert in outcome.alerts]


def json_object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value
