"""STDDEV, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.oracle import Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.engine.shard.test_against_oracle import canonical
from tests.unit.engine.support.shard_harness import Engine
from tests.unit.oracle.support.agreement import judge
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING

T = 1_700_000_000_000
LARGEST = "999999999999999999.999999"


def pay(offset: int, seconds: float, amount: str, accepted: float | None = None) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(offset, T + round(1000 * seconds), amount, record_time=T + round(1000 * later))


def deviation(operator: str = ">=", limit: str = "0") -> Draft:
    """Of a payee's amounts within a minute."""
    return draft("STDDEV", operator, limit, by=("payeeId",), seconds=60)


def values(what: Draft, *records: Record, cut: int = 0) -> dict[Json, Json]:
    """The value of each alert by the id of its payment."""
    told: dict[Json, Json] = {}
    event = Registry().publish(1, what, 0, 0)
    for alert in judge([batch(events=[event], records=records[:cut]), batch(records=records[cut:])]).alerts:
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        told[transaction["transactionId"]] = alert["value"]
    return told


def test_of_the_sample() -> None:
    # of 2, 4, 4, 4, 5, 5, 7, 9 the squares of the differences to 5 add up to 32: by 7, not by 8
    amounts = ["2", "4", "4", "4", "5", "5", "7", "9"]
    records = [pay(offset, offset, amount) for offset, amount in enumerate(amounts)]
    told = values(deviation(), *records)
    assert told["t7"] == "2.13809"  # √(32/7) = 2.1380899…
    assert told["t1"] == "1.414214"
    assert told["t3"] == "1"


def test_below_two_there_is_no_value() -> None:
    assert values(deviation("!=", "5"), pay(1, 0, "7"), pay(2, 61, "9")) == {}
    assert values(deviation("=", "0"), pay(1, 0, "7"), pay(2, 1, "7")) == {"t2": "0"}


def test_what_leaves_the_window_counts_no_more() -> None:
    records = [pay(1, 0, "100"), pay(2, 30, "5"), pay(3, 60, "5"), pay(4, 60.001, "5"), pay(5, 70, "8")]
    # at 60.001 the hundred has gone: of three fives there is no deviation
    assert values(deviation(), *records) == {"t2": "67.175144", "t3": "54.848276", "t4": "0", "t5": "1.5"}


def test_late_ones_count_in_their_own_window_and_in_later_ones() -> None:
    records = [pay(1, 10, "1"), pay(2, 20, "3"), pay(3, 15, "5", 21), pay(4, 30, "3")]
    for cut in range(5):
        told = values(deviation(), *records, cut=cut)
        assert told == {"t2": "1.414214", "t3": "2.828427", "t4": "1.632993"}


@pytest.mark.parametrize(
    ("operator", "limit", "held"),
    [
        ("<", "1.414213", False),
        (">", "1.414213", True),
        (">=", "1.414214", False),
        ("<", "1.414214", True),
        ("=", "1.414214", False),
        ("!=", "1.414214", True),
        (">", "-1", True),
        ("=", "-1.414214", False),
    ],
)
def test_compared_is_the_root_itself_and_not_what_is_reported(
    operator: str, limit: str, *, held: bool
) -> None:
    # the deviation of 0 and 2 is √2 = 1.41421356…
    assert bool(values(deviation(operator, limit), pay(1, 0, "0"), pay(2, 1, "2"))) == held


def test_the_largest_amounts() -> None:
    records = [pay(1, 0, LARGEST), pay(2, 1, f"-{LARGEST}"), pay(3, 2, LARGEST), pay(4, 3, LARGEST)]
    assert values(deviation("<", LARGEST), *records) == {}
    assert values(deviation("=", LARGEST), *records) == {"t4": LARGEST}
    alike = [pay(offset, offset, LARGEST) for offset in range(3)]
    assert values(deviation("=", "0"), *alike) == {"t1": "0", "t2": "0"}


@pytest.mark.parametrize(
    "members",
    [
        {"resetOnAlert": True},
        {"lateEvents": "reevaluate"},
        {"precision": "bucketed(6)"},
        {"aggregateFieldName": "payeeId"},
        {"aggregateFieldName": None},
    ],
)
def test_what_is_refused_is_skipped(members: dict[str, Json]) -> None:
    event = json.loads(Registry().publish(1, deviation(), 0, 0))
    event["definition"].update(members)
    outcome = judge([batch(events=[json.dumps(event).encode()], records=[pay(1, 0, "1"), pay(2, 1, "2")])])
    assert (outcome.alerts, outcome.skipped_rule_events) == ([], 1)


def test_windows_that_move_along_as_those_that_are_walked() -> None:
    """The largest amounts enter and leave a window with a state, in order and late."""
    amounts = [LARGEST, f"-{LARGEST}", LARGEST, "0.000001", LARGEST, "5", f"-{LARGEST}", "5", LARGEST]
    records = [pay(offset, 10 * offset, amount) for offset, amount in enumerate(amounts)]
    records += [pay(20, 85, LARGEST), pay(21, 15, f"-{LARGEST}", 86), pay(22, 61, "7", 87), pay(23, 88, "1")]
    event = Registry().publish(1, deviation(), 0, 0)
    for cut in (0, 4, 10, 12):
        batches = [batch(events=[event], records=records[:cut]), batch(records=records[cut:])]
        told = judge(batches).alerts
        assert len(told) == 12
        engine = Engine(
            tuning=replace(DEFAULT_TUNING, anchor=replace(DEFAULT_TUNING.anchor, small_group_rows=0))
        )
        engine.run(batches)
        assert canonical(engine.alerts()) == canonical(told)
