"""An anchor's history begins with the first rule that needs it, and ends with the last one."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.oracle import Outcome
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support import agreement

T = 1_700_000_000_000
MINUTE = 60_000
SLACK = 15 * MINUTE  # lateness and disorder
SKEW = 5 * MINUTE
ANCHORS: list[tuple[str, ...]] = [("payeeId",), ("beneficiaryId",), ("paymentType",), ()]
judge = partial(agreement.judge, kept=())


def counting(*by: str, seconds: int = 3600, limit: str = "1") -> Draft:
    return draft("COUNT", ">=", limit, by=by, seconds=seconds)


def values(outcome: Outcome, rule_id: int = 1) -> list[object]:
    return [alert["value"] for alert in outcome.alerts if alert["ruleId"] == rule_id]


@pytest.mark.parametrize("by", ANCHORS)
def test_what_came_before_the_first_rule_is_not_there(by: tuple[str, ...]) -> None:
    rule = Registry().publish(1, counting(*by), 0, 0)
    history = [batch(records=[payment(1, T)]), batch(events=[rule], records=[payment(2, T + 1)])]
    assert values(judge(history)) == ["1"]
    assert values(agreement.judge(history)) == ["1", "2"]


@pytest.mark.parametrize(("other", "value"), [(("payeeId",), "2"), (("beneficiaryId",), "1"), ((), "1")])
def test_another_rule_keeps_its_own_anchor_only(other: tuple[str, ...], value: str) -> None:
    registry = Registry()
    first = registry.publish(1, counting(*other, limit="99"), 0, 0)
    second = registry.publish(2, counting("payeeId"), T + 1, 0)
    history = [
        batch(events=[first], records=[payment(1, T)]),
        batch(events=[second], records=[payment(2, T + 1)]),
    ]
    assert values(judge(history), 2) == [value]


@pytest.mark.parametrize(
    ("kind", "state", "value"), [("RulePaused", "PAUSED", "2"), ("RuleDeleted", "DELETED", "1")]
)
def test_a_paused_rule_keeps_it_and_a_deleted_one_does_not(kind: str, state: str, value: str) -> None:
    registry = Registry()
    first = registry.publish(1, counting("payeeId"), 0, 0)
    gone = registry.move(kind, state, 1, 0)
    second = registry.publish(2, counting("payeeId"), T + 1, 0)
    history = [
        batch(events=[first], records=[payment(1, T)]),
        batch(events=[gone, second], records=[payment(2, T + 1)]),
    ]
    assert values(judge(history), 2) == [value]


@pytest.mark.parametrize(("past", "value"), [(0, "3"), (1, "1")])
def test_a_superseded_version_keeps_it_for_a_while(past: int, value: str) -> None:
    registry = Registry()
    first = registry.publish(1, counting("payeeId"), 0, 0)
    elsewhere = registry.publish(1, counting("beneficiaryId"), T, 0)
    again = registry.publish(2, counting("payeeId"), 0, 0)
    now = T + SLACK + past
    history = [
        batch(events=[first, elsewhere], ticks=[T], records=[payment(1, T)]),
        batch(ticks=[now], records=[payment(2, now)]),
        batch(events=[again], records=[payment(3, now + 1)]),
    ]
    assert values(judge(history), 2)[-1:] == [value]


def test_its_ids_are_forgotten_with_it() -> None:
    registry, same = Registry(), {"transactionId": "same"}
    first = registry.publish(1, counting("payeeId"), 0, 0)
    gone = registry.move("RuleDeleted", "DELETED", 1, 0)
    second = registry.publish(2, counting("payeeId"), 0, 0)
    history = [
        batch(events=[first], records=[payment(1, T, more=same), payment(2, T, more=same)]),
        batch(events=[gone]),
        batch(records=[payment(3, T, more=same)]),
        batch(events=[second], records=[payment(4, T, more=same), payment(5, T, more=same)]),
    ]
    outcome = judge(history)
    assert (values(outcome, 1), values(outcome, 2)) == (["1"], ["1"])
    assert outcome.duplicates == 2


def test_a_duplicate_is_one_on_needed_anchors_alone() -> None:
    rules, same = Registry(), {"transactionId": "same"}
    events = [rules.publish(1, counting("payeeId"), 0, 0), rules.publish(2, counting(), 0, 0)]
    history = [batch(events=events, records=[payment(1, T, more=same), payment(2, T, more=same)])]
    assert judge(history).duplicates == 2


def warm_from(*batches_before: int, ticks_after: int | None = None) -> list[object]:
    registry = Registry()
    history = [batch(ticks=[tick]) for tick in batches_before]
    history.append(batch(events=[registry.publish(1, counting("payeeId", seconds=60), 0, 0)]))
    if ticks_after is not None:
        history.append(batch(ticks=[ticks_after]))
    history.append(batch(events=[registry.move("RulePaused", "PAUSED", 1, 0)]))
    return [status["warmFrom"] for status in judge(history).statuses]


def test_warm_one_window_after_the_beginning_and_the_skew() -> None:
    assert warm_from(T, T + MINUTE) == [T + MINUTE + SKEW + MINUTE] * 2


def test_a_need_from_before_the_first_tick_is_warm_by_that() -> None:
    assert warm_from(ticks_after=T) == [None, T + MINUTE]


def test_another_beginning_counts_anew() -> None:
    registry = Registry()
    history = [
        batch(events=[registry.publish(1, counting("payeeId", seconds=60), 0, 0)], ticks=[T]),
        batch(events=[registry.move("RuleDeleted", "DELETED", 1, 0)]),
        batch(events=[registry.publish(2, counting("payeeId", seconds=60), 0, 0)]),
    ]
    assert judge(history).statuses[-1]["warmFrom"] == T + SKEW + MINUTE


def test_a_backfill_completes_it() -> None:
    registry = Registry()
    rule = registry.publish(1, counting("payeeId", seconds=60), 0, 0)
    opened = registry.control("START_BACKFILL", T)
    name = json.loads(opened)["commandId"]
    more: dict[str, Json] = {"backfillId": name, "completeFrom": T - SLACK}
    ended = registry.control("END_BACKFILL", T, more)
    again = registry.move("RulePaused", "PAUSED", 1, 0)
    old = payment(1, T - MINUTE, record_time=T + 1, backfill=name)
    history = [batch(ticks=[T]), batch(events=[rule, opened], records=[old]), batch(events=[ended, again])]
    outcome = judge(history)
    # the oldest visible time is the clock's of the first tick less lateness and disorder
    assert [status["warmFrom"] for status in outcome.statuses] == [T + SKEW + MINUTE, T - SLACK + MINUTE]
    assert outcome.backfilled == 1


def test_rejects_and_null_groups_are_counted_whatever_is_needed() -> None:
    late, nobody = payment(1, T, record_time=T + SLACK), payment(2, T, more={"payeeId": None})
    assert [reject.reason for reject in judge([batch(records=[late, nobody])]).rejects] == ["too_late"]
    rule = Registry().publish(1, counting("payeeId"), 0, 0)
    outcome = judge([batch(events=[rule], records=[late, nobody])])
    assert [reject.reason for reject in outcome.rejects] == ["too_late"]
    assert outcome.null_groups == 1
