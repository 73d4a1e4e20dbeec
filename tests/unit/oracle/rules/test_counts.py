"""What is counted of each rule."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def test_each_kind() -> None:
    registry = Registry()
    events = [
        registry.publish(1, draft("COUNT", ">", "99", by=("payeeId",), seconds=60, only=CASH), T, 0),
        registry.publish(
            2, draft("COUNT", ">", "99", by=("payeeId",), seconds=60, late_events="store"), T, 0
        ),
        registry.publish(3, draft("COUNT", ">", "99", by=(), seconds=60), T + 10**9, 0),
    ]
    card: dict[str, Json] = {"paymentType": "CRD"}
    records = [
        payment(2, T + 5),
        payment(3, T + 4, record_time=T + 5),
        payment(4, T + 5),
        payment(4, T + 5, record_time=T + 6),
        payment(5, T + 6, more={"payeeId": None}),
        payment(6, T + 6, more=card),
        payment(7, T + 6, more={**card, "payeeId": None}),
    ]
    first = batch(records=[payment(1, T)])
    assert judge([first, batch(events=events, records=records)], catch_up=True).counts == {
        1: Counts(evaluations=4, equal_times=1, late_evaluated=1, null_groups=1, duplicates=1),
        2: Counts(evaluations=4, equal_times=1, late_stored=1, null_groups=2, duplicates=1),
    }
