"""Definitions, histories and alerts for the cases of bucketed windows."""

from __future__ import annotations

from typing import Any

from tests.oracle import Outcome
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json
from tests.unit.oracle.support.hour_timeline import SMALL

CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def by_buckets(
    function: str = "COUNT", limit: str = "1", seconds: int = 60, bucket: int = 10, **more: Any
) -> Draft:
    """By payee, alerting for whatever is at least the limit."""
    return draft(function, ">=", limit, by=("payeeId",), seconds=seconds, bucket=bucket, **more)


def narrow_settings(registry: Registry) -> bytes:
    return registry.change_settings(SMALL, 0)


def newest(outcome: Outcome) -> tuple[object, object]:
    """Version and value of the last alert."""
    return outcome.alerts[-1]["ruleVersion"], outcome.alerts[-1]["value"]
