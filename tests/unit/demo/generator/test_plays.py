"""Frauds being played: paced, counted, bounded, stopped."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable

import pytest

from tests.unit.demo.generator.fakes import FakeOutlet
from tripline_demo.generator.errors import FraudNotFound, TooManyPlays
from tripline_demo.generator.output.outlet import Failures, Outlet
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.output.sender import Clocks
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.plays import MAX_AT_ONCE, Plays, Report

NOW = 1_763_690_000_000


class Hurrying:
    """A steady clock that is a minute further each time: everything is due at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 60.0
        return self.now


def plays(outlet: Callable[[], Outlet], steady: Callable[[], float]) -> Plays:
    numbers = iter(range(1_000))
    return Plays(
        PAYMENTS,
        1,
        outlet,
        Clocks(steady, lambda: NOW),
        lambda: Renderer("play", PAYMENTS),
        lambda: f"p{next(numbers)}",
    )


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def ended(played: Plays) -> Report:
    eventually(lambda: played.reports()[0].state != "running")
    return played.reports()[0]


def test_a_play_sends_all_its_payments() -> None:
    outlet = FakeOutlet(room=5)
    played = plays(lambda: outlet, Hurrying())
    started = played.start("card-testing")
    done = ended(played)
    assert (done.play_id, done.state, done.sent) == (started.play_id, "finished", 28)
    values = [json.loads(record.value) for record in outlet.records]
    assert {str(value["payeeId"]) for value in values} == {started.cast["payeeId"]}
    assert {value["eventTime"] for value in values} == {NOW}


def test_payments_wait_for_their_moment() -> None:
    outlet = FakeOutlet()
    played = plays(lambda: outlet, lambda: 0.0)
    played.start("many-payers")
    eventually(lambda: bool(outlet.records))
    assert played.reports()[0].state == "running"
    assert len(outlet.records) == 1
    played.stop_all()
    assert ended(played).state == "stopped"


def test_what_kafka_refuses_is_said() -> None:
    played = plays(lambda: FakeOutlet(refused=Failures(1, "gone")), Hurrying())
    played.start("many-payers")
    assert ended(played).state == "failed"


def test_only_so_many_play_at_a_time() -> None:
    played = plays(FakeOutlet, lambda: 0.0)
    for _ in range(MAX_AT_ONCE):
        played.start("slow-drip")
    with pytest.raises(TooManyPlays):
        played.start("slow-drip")
    played.stop_all()
    assert {report.state for report in played.reports()} == {"stopped"}


def test_an_unknown_fraud_is_refused() -> None:
    with pytest.raises(FraudNotFound):
        plays(FakeOutlet, Hurrying()).start("tax-evasion")
