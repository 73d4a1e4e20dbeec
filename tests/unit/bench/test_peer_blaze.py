"""What BlazeRules is asked, what counts as taken, and which of its alerts agree: without BlazeRules."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

from bench.figures.rates import rate_of
from bench.peers import blaze_peer, blaze_process
from bench.workload.rules import FIVE, Version
from bench.workload.workload import Workload

SUM, COUNT = FIVE[0], FIVE[1]


def test_a_run_is_read_as_it_was_written() -> None:
    rule = blaze_process.Rule(1, "SUM", ("beneficiaryId", "payeeId"), 60, 5.5)
    run = blaze_process.Run("name", "kafka", "alerts", 10, (rule,), 2_000, 9.0)
    assert blaze_process.read(run.text()) == run


def test_rules_of_one_grouping_share_an_entity_and_only_a_count_has_no_amount() -> None:
    rules = (
        blaze_process.Rule(1, "SUM", ("beneficiaryId", "payeeId"), 60, 5.5),
        blaze_process.Rule(2, "COUNT", ("payeeId",), 30, 3.0),
        blaze_process.Rule(4, "MAX", ("payeeId",), 90, 7.0),
    )
    told = json.loads(blaze_process.ruleset(rules))
    assert sorted(told["fields"]) == ["amount", "beneficiaryId_payeeId", "payeeId"]
    windows = [rule["conditions"]["window"] for rule in told["ruleset"]["rules"]]
    assert [window["entity_field"] for window in windows] == ["beneficiaryId_payeeId", "payeeId", "payeeId"]
    assert [window.get("sum_field") for window in windows] == ["amount", None, None]
    assert [window.get("value_field") for window in windows] == [None, None, "amount"]
    assert [(window["op"], window["value"]) for window in windows] == [("gt", 5.5), ("gt", 3.0), ("gt", 7.0)]


def test_the_first_quarter_is_not_timed() -> None:
    samples = [(0.0, 10), (1.0, 40), (2.0, 60), (6.0, 100)]
    assert rate_of(samples) == pytest.approx(60 / 5)
    assert rate_of(samples, without=0) == pytest.approx(90 / 6)


def test_the_count_is_of_the_last_third_and_its_alerts_are_named_by_payment() -> None:
    same = np.zeros(3, np.int64)
    load = Workload(
        rate=1, preloaded=1, payee=same + 7, beneficiary=same + 9, payment_type=same,
        cents=np.array([500, 100, 900]), partition=same, offset=np.arange(3),
    )  # fmt: skip
    versions = [Version(SUM, 1, 0, Decimal(6), 0), Version(COUNT, 1, 1, Decimal(1), 0)]
    expected = blaze_peer.expected_alerts(load, np.array([1_000, 2_000, 3_000]), versions)
    assert expected == {(SUM.rule_id, 2), (COUNT.rule_id, 1), (COUNT.rule_id, 2)}


def test_alerts_are_read_from_a_payment_on_and_compared_both_ways() -> None:
    records = [
        (b"", json.dumps({"ruleId": 1, "transactionId": f"b-{number}"}).encode()) for number in (1, 2, 3)
    ]
    assert blaze_peer.told(records, 2) == {(1, 2), (1, 3)}
    rows = blaze_peer.compared({(1, 2), (2, 2)}, {(1, 2), (1, 3), (1, 4)})
    assert [result.value for result in rows] == [1, 1, 2]
