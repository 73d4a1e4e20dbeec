"""The case of the payer who tripped a rule."""

from __future__ import annotations

from typing import Any

from tests.browser.traffic import Tripped
from tests.stack import RunningStack


def case_of(stack: RunningStack, tripped: Tripped) -> dict[str, Any]:
    """The one case of the payer who tripped the rule."""
    payee = tripped.alerts[0]["group"]["payeeId"]
    with stack.alerts() as alerts:
        [case] = alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).json()["items"]
    made: dict[str, Any] = case
    return made
