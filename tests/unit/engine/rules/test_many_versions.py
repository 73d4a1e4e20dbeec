"""A rule that changes each second has hundreds of versions that wait for what comes late, at no cost till then."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.judging import anchor as anchors

T = 1_700_000_000_000
VERSIONS = 40


def changing(**more: Any) -> list[MicroBatch]:
    """A rule that alerts at each payment, and has another version each second, from then on."""
    registry = Registry()
    found = []
    for second in range(VERSIONS):
        at = T + 1_000 * second
        event = registry.publish(1, draft("COUNT", ">", "0", by=("payeeId",), **more), at, at)
        found.append(
            batch(events=[event], ticks=[at], records=[payment(second, at + 1, more={"payeeId": second % 3})])
        )
    return found


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each version has been held against payments."""
    seen: Counter[int] = Counter()
    hold = anchors._hold

    def counted(version: Any, *rest: Any) -> Any:
        seen[version.key[1]] += 1
        return hold(version, *rest)

    monkeypatch.setattr(anchors, "_hold", counted)
    return seen


def test_only_what_judges_something_is_held_against_it(held: Counter[int]) -> None:
    engine = Engine(1)
    first, *others = changing()
    # the first version is held against what there was before it as well
    engine.take(first)
    held.clear()
    for each in others:
        engine.take(each)
    assert held == dict.fromkeys(range(2, VERSIONS + 1), 1)
    # two seconds late, and in time: these two versions, and what lies between them
    late, in_time = payment(100, T + 36_500), payment(101, T + 39_500)
    held.clear()
    engine.take(batch(records=[late, in_time]))
    assert held == {37: 1, 38: 1, 39: 1, 40: 1}


def test_a_shard_that_has_no_payment_of_an_anchor_holds_the_newest_version_alone(held: Counter[int]) -> None:
    engine = Engine(2)
    for each in changing():
        engine.take(each)
    held.clear()
    engine.take(batch(records=[payment(100, T + 40_500)]))
    # the shard of its beneficiary has nothing of the payee's anchor to judge
    assert set(held) == {VERSIONS}


@pytest.mark.parametrize(
    ("late_events", "reset"),
    [("evaluate", False), ("store", False), ("reevaluate", False), ("evaluate", True), ("store", True)],
)
def test_late_payments_are_judged_by_the_version_of_their_time(late_events: str, reset: bool) -> None:
    batches = changing(late_events=late_events, reset=reset)
    some = range(0, VERSIONS, 7)
    # each alone, and all together with one that is in time
    batches += [batch(records=[payment(100 + n, T + 1_000 * n + 500)]) for n in some]
    together = [payment(200 + n, T + 1_000 * n + 600) for n in some]
    batches.append(batch(records=[*together, payment(300, T + 50_000)]))
    # what is counted apart, by the version of its time too: duplicates, and payments without the group's field
    nobodys = [payment(400 + n, T + 1_000 * n + 700, more={"payeeId": None}) for n in some]
    batches.append(batch(records=[*batches[3].records, *nobodys, payment(500, T + 51_000)]))
    expected, engine = judge(batches), Engine(1)
    for each in batches:
        engine.take(each)
    assert len({alert["ruleVersion"] for alert in expected.alerts}) == VERSIONS
    assert_equal(engine, expected)
