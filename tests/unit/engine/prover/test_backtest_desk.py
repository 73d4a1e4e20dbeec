"""Backtests that the registry has run: one at a time, as processes that end when they are told to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.engine.prover.support.fake_backtest import ALERTS, fake_job, made_up_sample
from tripline_engine.domain.proof.claim import UnreadableClaim
from tripline_engine.prover.backtest_body import read_backtest, read_estimate
from tripline_engine.prover.backtest_desk import BacktestDesk
from tripline_engine.prover.backtest_job import BacktestAsked
from tripline_engine.prover.errors import Busy, NothingThere

HOUR = 3_600_000


def asked(name: str = "sums", most: int = 10_000) -> BacktestAsked:
    return BacktestAsked([{"name": name, "ruleId": 5}], HOUR, 2 * HOUR, {5: 17}, {"t1": True}, most)


@pytest.fixture
def desk() -> Iterator[BacktestDesk]:
    desk = BacktestDesk(fake_job)
    yield desk
    desk.close()


def until(desk: BacktestDesk, key: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    end = time.monotonic() + 120
    while not is_so(status := desk.status(key)):
        assert time.monotonic() < end, status
    return status


def ended(status: dict[str, Any]) -> bool:
    return bool(status["state"] != "running")


def test_a_backtest_from_start_to_alerts(desk: BacktestDesk) -> None:
    desk.start("one", asked())
    status = until(desk, "one", ended)
    assert status["state"] == "done"
    assert status["progress"].items() >= {"share": 0.25, "transactions": 500, "alerts": 7}.items()
    (rule,) = status["result"]["rules"]
    assert rule["beside"] == {"ruleId": 17, "both": 1_000, "onlyTried": 203, "onlyLive": 12}
    assert rule["labelled"]["fraud"] == 1
    pages = [desk.alerts("one", after, 1_000)["items"] for after in (0, 1_000, 2_000)]
    assert [len(page) for page in pages] == [1_000, ALERTS - 1_000, 0]
    assert pages[1][0] == {"alertId": "a1000", "ruleId": 5}
    assert desk.end("one") == {"ended": True}
    assert desk.end("one") == {"ended": False}
    with pytest.raises(NothingThere):
        desk.status("one")


def test_one_at_a_time_and_the_same_again_is_the_same(desk: BacktestDesk) -> None:
    desk.start("one", asked("never"))
    until(desk, "one", lambda status: status["progress"]["share"] == 0.25)
    assert desk.start("one", asked("never"))["state"] == "running"
    with pytest.raises(Busy):
        desk.start("two", asked())
    assert desk.alerts("one", 0, 10) == {"items": []}
    desk.end("one")  # which never ends of itself
    assert desk.start("two", asked())["state"] in ("running", "done")


def test_an_estimate_is_a_job_like_a_backtest_with_a_time_of_its_own(desk: BacktestDesk) -> None:
    body = {"rule": {"name": "sums", "ruleId": 5}, "days": 7, "transactions": 1_000, "seconds": 60}
    desk.start("one", read_estimate(body))
    status = until(desk, "one", ended)
    assert (status["state"], status["result"]) == ("done", made_up_sample())
    job = fake_job(read_estimate({**body, "rule": {"name": "never", "ruleId": 5}}), seconds=0)
    assert job.state() == "failed"
    assert "TRIPLINE_ESTIMATE_SECONDS" in job.failure()
    job.close()
    wrongs: list[dict[str, Any]] = [{"rule": []}, {"days": 0}, {"transactions": 1}, {"seconds": "1"}]
    for wrong in wrongs:
        with pytest.raises(UnreadableClaim, match=next(iter(wrong))):
            read_estimate({**body, **wrong})


def test_what_nobody_fetches_makes_room(desk: BacktestDesk) -> None:
    for number in range(5):
        desk.start(str(number), asked("fails"))
        until(desk, str(number), ended)
    with pytest.raises(NothingThere):
        desk.status("0")
    assert desk.status("4")["failure"] == "there is no history"


@pytest.mark.parametrize(
    ("name", "failure"), [("fails", "there is no history"), ("dies", "ended with status -6: it said nothing")]
)
def test_a_failure_says_why(desk: BacktestDesk, name: str, failure: str) -> None:
    desk.start("one", asked(name))
    status = until(desk, "one", ended)
    assert status["state"] == "failed"
    assert failure in status["failure"]


def test_a_backtest_that_takes_too_long_is_ended() -> None:
    job = fake_job(asked("never"), seconds=0)
    assert job.state() == "failed"
    assert "TRIPLINE_BACKTEST_SECONDS" in job.failure()
    job.close()


GOOD: dict[str, Any] = {
    "rules": [{"name": "sums"}], "from": 1, "until": 2, "beside": [[1, 17]], "labels": [["t", True]],
    "mostAlerts": 3,
}  # fmt: skip


def test_what_the_registry_sends() -> None:
    asked = BacktestAsked([{"name": "sums"}], 1, 2, {1: 17}, {"t": True}, 3)
    # a registry of before there was a choice does not say it
    assert read_backtest(GOOD) == asked
    assert read_backtest({**GOOD, "knowledge": "today"}) == replace(asked, knowledge="today")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rules": []}, "rules: expected objects"),
        ({"rules": ["x"]}, "rules: expected objects"),
        ({"from": "1"}, "from: expected an integer"),
        ({"beside": [[1]]}, "beside: expected pairs"),
        ({"beside": [[1, 0]]}, "beside: expected an integer from 1"),
        ({"labels": {}}, "labels: expected pairs"),
        ({"knowledge": ["today"]}, "knowledge: expected as-it-was or today"),
        ({"mostAlerts": True}, "mostAlerts: expected an integer"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableClaim, match=message):
        read_backtest({**GOOD, **wrong})
