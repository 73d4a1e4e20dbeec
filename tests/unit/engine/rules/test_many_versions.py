"""A rule that changes each second has hundreds of versions that wait for late payments, at no cost until then."""

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
from tripline_engine.domain.judging.evaluation import BatchEvaluation
from tripline_engine.domain.rules.rule_version import RuleVersion

T = 1_700_000_000_000
VERSIONS = 40


def changing(**more: Any) -> list[MicroBatch]:
    """A rule that alerts at each payment, and has another version each second, from then on."""
    registry = Registry()
    batches = []
    for second in range(VERSIONS):
        clock = T + 1_000 * second
        event = registry.publish(1, draft("COUNT", ">", "0", by=("payeeId",), **more), clock, clock)
        batches.append(
            batch(
                events=[event],
                ticks=[clock],
                records=[payment(second, clock + 1, more={"payeeId": second % 3})],
            )
        )
    return batches


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Evaluations of micro-batches by version."""
    seen: Counter[int] = Counter()
    fire = BatchEvaluation.fire

    def counted(self: BatchEvaluation, version: RuleVersion, *rest: Any) -> Any:
        seen[version.version] += 1
        return fire(self, version, *rest)

    monkeypatch.setattr(BatchEvaluation, "fire", counted)
    return seen


def test_only_versions_that_judge_a_payment_are_evaluated(evaluated: Counter[int]) -> None:
    engine = Engine(1)
    first, *others = changing()
    # the first version catches up with earlier payments too
    engine.take(first)
    evaluated.clear()
    for other in others:
        engine.take(other)
    assert evaluated == dict.fromkeys(range(2, VERSIONS + 1), 1)
    # two seconds late, and in time: these two versions, and what lies between them
    late, in_time = payment(100, T + 36_500), payment(101, T + 39_500)
    evaluated.clear()
    engine.take(batch(records=[late, in_time]))
    assert evaluated == {37: 1, 38: 1, 39: 1, 40: 1}


def test_a_shard_without_payments_of_an_anchor_evaluates_only_the_newest_version(
    evaluated: Counter[int],
) -> None:
    engine = Engine(2)
    for changed in changing():
        engine.take(changed)
    evaluated.clear()
    engine.take(batch(records=[payment(100, T + 40_500)]))
    # the shard of its beneficiary has nothing of the payee's anchor to judge
    assert set(evaluated) == {VERSIONS}


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
    for taken in batches:
        engine.take(taken)
    assert len({alert["ruleVersion"] for alert in expected.alerts}) == VERSIONS
    assert_equal(engine, expected)
