"""A backfill reopens history: what it brings is seen as far back as the rules' windows reach."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from tests.oracle import Outcome
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json, MicroBatch
from tests.unit.oracle.support import agreement

T = 1_700_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
SLACK = 15 * MINUTE  # lateness and disorder
AGES = (1, 5, 14, 20, 30, 40, 120, 7 * 24 * 60 - 1, 20 * 24 * 60, 29 * 24 * 60)
"""Minutes."""
MONTH = 30 * 86_400
NOW = T + 20 * MINUTE
judge = partial(agreement.judge, kept=())


def summing(seconds: int = MONTH, bucket: int | None = None) -> Draft:
    return draft("SUM", ">=", "0", by=("payeeId",), seconds=seconds, bucket=bucket)


class Line:
    """An engine that has run for a while under a rule with a narrow window."""

    def __init__(self, narrow: Draft) -> None:
        self.registry = Registry()
        self.history: list[MicroBatch] = [
            batch(events=[self.registry.publish(1, narrow, 0, 0)], ticks=[T]),
        ]
        self.sent = 0

    def live(self, minute: int, amount: str) -> None:
        self.sent += 1
        now = T + minute * MINUTE
        self.history.append(batch(ticks=[now], records=[payment(self.sent, now, amount)]))

    def command(self, name: str, **more: Json) -> str:
        raw = self.registry.control(name, NOW, dict(more))
        self.history.append(batch(events=[raw]))
        return str(json.loads(raw)["commandId"])

    def publish(self, rule_id: int, wide: Draft, effective_from: int = NOW) -> None:
        self.history.append(batch(events=[self.registry.publish(rule_id, wide, effective_from, NOW)]))

    def fill(self, backfill: str, ages: tuple[int, ...] = AGES) -> None:
        records = []
        for number, age in enumerate(ages):
            self.sent += 1
            amount = str(2**number)
            sent = payment(self.sent, NOW - age * MINUTE, amount, record_time=NOW, backfill=backfill)
            records.append(sent)
        self.history.append(batch(records=records))

    def judged(self) -> Outcome:
        return judge(self.history)


def last_value(outcome: Outcome, rule_id: int) -> object:
    return [alert["value"] for alert in outcome.alerts if alert["ruleId"] == rule_id][-1]


@pytest.mark.parametrize("order", ["publish first", "open first"])
def test_a_new_wide_rule_sees_all_that_is_filled(order: str) -> None:
    line = Line(summing(60))
    for minute in range(20):
        line.live(minute, "0")
    if order == "publish first":
        line.publish(2, summing())
    backfill = line.command("START_BACKFILL")
    if order == "open first":
        line.publish(2, summing())
    line.fill(backfill)
    line.command("END_BACKFILL", backfillId=backfill, completeFrom=NOW - 40 * DAY)
    line.live(20, "0.5")
    assert last_value(line.judged(), 2) == "1023.5"


def test_what_had_been_let_go_stays_so_and_what_was_visible_counts() -> None:
    line = Line(summing(60))
    line.live(0, "4000")  # 20 minutes old: below the floor, which is the clock less the slack and a minute
    line.live(10, "8000")
    line.live(20, "0")
    line.publish(2, summing())
    backfill = line.command("START_BACKFILL")
    line.fill(backfill)
    line.live(20, "0.5")
    outcome = line.judged()
    assert last_value(outcome, 2) == "9023.5"
    contributors: Any = [alert for alert in outcome.alerts if alert["ruleId"] == 2][-1]["contributors"]
    assert "t1" not in {listed["transactionId"] for listed in contributors["transactions"]}


def test_a_rule_that_keeps_rows_for_other_fields_brings_none_back() -> None:
    line = Line(draft("COUNT", ">=", "1", by=("payeeId",), seconds=MONTH))
    line.live(0, "4000")
    line.live(20, "0")
    line.publish(2, summing())
    backfill = line.command("START_BACKFILL")
    line.fill(backfill, (30,))
    line.live(20, "0.5")
    outcome = line.judged()
    assert last_value(outcome, 2) == "1.5"
    assert last_value(outcome, 1) == "4"


def test_without_a_word_that_it_is_complete_it_is_no_warmer() -> None:
    line = Line(summing(60))
    line.live(20, "0")
    line.publish(2, summing(3600))
    backfill = line.command("START_BACKFILL")
    line.history.append(batch(events=[line.registry.move("RulePaused", "PAUSED", 2, 0)]))
    line.command("END_BACKFILL", backfillId=backfill, completeFrom=NOW - 40 * DAY)
    line.history.append(batch(events=[line.registry.move("RuleResumed", "ACTIVE", 2, 0)]))
    published, opened, completed = [
        status["warmFrom"] for status in line.judged().statuses if status["ruleId"] == 2
    ]
    # the floor: the clock less the slack and the narrow window; then as far as the wide one is kept
    assert published == opened == max(T, NOW - SLACK - MINUTE) + HOUR
    assert completed == NOW - SLACK - HOUR + HOUR


def test_a_rule_taken_after_the_end_sees_what_the_floors_still_show() -> None:
    line = Line(summing(60))
    line.live(20, "0")
    line.publish(2, summing())
    backfill = line.command("START_BACKFILL")
    line.fill(backfill, (30,))
    line.command("END_BACKFILL", backfillId=backfill)
    line.publish(3, summing(HOUR // 1000))
    line.publish(4, draft("SUM", ">=", "0", by=("payeeId", "paymentType"), seconds=3600))
    line.live(20, "0.5")
    outcome = line.judged()
    assert last_value(outcome, 3) == "1.5"
    # no rule used the type for that long
    assert last_value(outcome, 4) == "0.5"


def test_a_second_backfill_reopens_again() -> None:
    line = Line(summing(60))
    line.live(20, "0")
    for rule_id, age in ((2, 30), (3, 60)):
        line.publish(rule_id, summing(40 * 60 * (rule_id - 1)))
        backfill = line.command("START_BACKFILL")
        line.fill(backfill, (age,))
        line.command("END_BACKFILL", backfillId=backfill)
    line.live(20, "0.5")
    outcome = line.judged()
    assert last_value(outcome, 2) == "1.5"
    assert last_value(outcome, 3) == "2.5"


def test_it_is_caught_up_over_what_is_seen_alone() -> None:
    line = Line(draft("COUNT", ">=", "1", by=("payeeId",), seconds=MONTH))
    line.live(0, "4000")
    line.live(20, "7")
    backfill = line.command("START_BACKFILL")
    line.publish(2, summing(), effective_from=0)
    outcome = line.judged()
    assert [alert["value"] for alert in outcome.alerts if alert["ruleId"] == 2] == ["7"]
    assert backfill


def test_a_bucketed_rule_begins_where_history_is_kept_for_it() -> None:
    line = Line(summing(60))
    line.live(20, "0")
    line.publish(2, summing(3600, bucket=60))
    backfill = line.command("START_BACKFILL")
    line.fill(backfill, (10, 30))
    line.live(20, "0.5")
    assert last_value(line.judged(), 2) == "1.5"


@pytest.mark.parametrize("rows_stay", [False, True])
def test_a_bucketed_rule_is_caught_up_over_rows_that_were_visible_until_then(rows_stay: bool) -> None:
    line = Line(summing(3600, bucket=60))
    if rows_stay:  # without their amounts
        line.publish(9, draft("COUNT", ">=", "99", by=("payeeId",), seconds=MONTH))
    line.live(0, "4000")  # in a bucket of rule 1, and below the floor of rows
    line.live(20, "7")
    line.command("START_BACKFILL")
    line.publish(2, summing())
    line.publish(3, summing(7200, bucket=60), effective_from=0)
    caught_up: list[Any] = [alert for alert in line.judged().alerts if alert["ruleId"] == 3]
    assert [(alert["value"], alert["contributors"]["count"]) for alert in caught_up] == [("7", 1)]
