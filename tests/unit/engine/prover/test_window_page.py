"""Pages of contributors: those of a condition's value, and those of the measure that its limit was made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.builders.drafts import chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.prover.support.proofs import judged
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_engine.prover.errors import NothingThere
from tripline_engine.prover.window_page import PageAsked, page_of

RELATIVE = chained(replace(draft("SUM", seconds=2), behind=draft("AVG", seconds=60), times="1.5", plus="0"))


def test_of_a_value_and_of_its_limit() -> None:
    registry = Registry()
    rules = [
        registry.publish(n, drafted, 0, START)
        for n, drafted in enumerate((RELATIVE, draft("SUM", ">", "9")), 1)
    ]
    records = [payment(n, START + 1000 * n, str(n)) for n in range(1, 9)]
    run = judged([batch(events=rules, ticks=[START]), batch(records=records)])
    relative, plain = (
        next(one for one in reversed(run.alerts) if one["ruleId"] == number) for number in (1, 2)
    )
    (condition,) = relative["conditions"]
    derivation = run.verify(relative).derivation
    value = page_of(derivation, PageAsked(0, "value", 0, 100), TRANSACTION)
    limit = page_of(derivation, PageAsked(0, "limit", 0, 100), TRANSACTION)
    assert (value["count"], limit["count"]) == (3, 8)
    for page, told in ((value, condition), (limit, condition["limitMeasure"])):
        names = ("transactionId", "eventTime", "value")
        listed = [{name: item[name] for name in names} for item in page["items"]]
        assert listed == told["contributors"]["transactions"]
        assert all(item["transaction"]["paymentAmount"] == item["value"] for item in page["items"])
    with pytest.raises(NothingThere, match="the limit of condition 0 is a number"):
        page_of(run.verify(plain).derivation, PageAsked(0, "limit", 0, 1), TRANSACTION)
