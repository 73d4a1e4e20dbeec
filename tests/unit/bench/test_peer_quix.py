"""What the peer is asked, what counts as taken, and which of its alerts agree: without the peer."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

from bench.peers import quix_peer, quix_process
from bench.peers.quix_process import Sample
from bench.workload.rules import FIVE, Version
from bench.workload.workload import Workload

COUNT, AVG = FIVE[1], FIVE[2]


def test_a_run_is_read_as_it_was_written() -> None:
    rule = quix_process.Rule(1, "SUM", ("beneficiaryId", "payeeId"), 60_000, 500)
    run = quix_process.Run(
        "name", "kafka", "alerts", "folder", 10, (rule,), ((rule.grouping,),), True, 5.0, 9.0
    )
    assert quix_process.read(run.text()) == run
    assert run.groupings == (rule.grouping,)


def test_the_quarter_is_one_of_all_evaluations_and_the_end_that_of_the_last_rule() -> None:
    # two rules on the first grouping and one on the second, which is behind
    samples = [Sample(0.0, (0, 0)), Sample(1.0, (30, 0)), Sample(2.0, (60, 0)), Sample(6.0, (100, 100))]
    rate, whole, seconds = quix_process.rates(samples, [2, 1], 100)
    assert seconds == 4.0  # from 40 of 100: the first sample with 25 or more
    assert rate == pytest.approx(60 / 4)
    assert whole == pytest.approx(80 / 5)


def test_of_two_payments_in_one_millisecond_the_later_one_counts() -> None:
    same = np.zeros(3, np.int64)
    load = Workload(
        rate=1, preloaded=1, payee=same + 7, beneficiary=same + 9, payment_type=same,
        cents=np.array([500, 100, 900]), partition=same, offset=np.arange(3),
    )  # fmt: skip
    versions = [Version(COUNT, 1, 0, Decimal(1), 0), Version(AVG, 1, 1, Decimal(2), 0)]
    time = np.array([1_000, 2_000, 2_000])
    expected = quix_peer.expected_alerts(load, time, versions)
    assert expected == {(COUNT.rule_id, "7", 2_000): "3", (AVG.rule_id, "9", 2_000): "5"}


def test_alerts_are_read_in_cents_from_a_time_on() -> None:
    versions = [Version(COUNT, 1, 0, Decimal(1), 0), Version(AVG, 1, 1, Decimal(2), 0)]
    values = ((COUNT.rule_id, 1_000, 2), (COUNT.rule_id, 2_000, 3), (AVG.rule_id, 2_000, 1_000 / 3))
    records = [
        (b'"7"', json.dumps({"ruleId": rule, "eventTime": event_time, "value": value}).encode())
        for rule, event_time, value in values
    ]
    assert quix_peer.told(records, versions, 2_000) == [
        ((COUNT.rule_id, "7", 2_000), "3"),
        ((AVG.rule_id, "7", 2_000), "3.333333"),
    ]


def test_the_last_value_of_an_alert_is_compared() -> None:
    one, two, three = ((1, "7", event_time) for event_time in (1, 2, 3))
    rows = quix_peer.compared({one: "1", two: "2"}, [(one, "0"), (one, "1"), (three, "3")])
    assert [result.value for result in rows] == [1, 0, 1, 1, 1]
    assert quix_peer.compared({one: "1"}, [(one, "1"), (one, "0")])[1].value == 1
