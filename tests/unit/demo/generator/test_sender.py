from __future__ import annotations

import json
import threading

import pytest

from tests.unit.demo.generator.fakes import FakeOutlet, FakeTime
from tripline_demo.generator.errors import Unsendable
from tripline_demo.generator.output.outlet import Failures
from tripline_demo.generator.output.pacer import Meter, Pace
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.output.sender import FAILING_SECONDS, Clocks, Sender, pause
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.traffic import Traffic


class Rig:
    """A sender on fakes; runs are named a, b, c …"""

    def __init__(self, traffic: Traffic, outlet: FakeOutlet | None = None) -> None:
        self.time, self.outlet = FakeTime(), outlet or FakeOutlet()
        runs = iter("abc")
        self.sender = Sender(
            PAYMENTS,
            traffic,
            self.outlet,
            Clocks(self.time.steady, self.time.wall),
            lambda: Renderer(next(runs), PAYMENTS),
        )

    def seconds(self, count: float) -> None:
        for _ in range(round(count * 100)):
            self.time.now_ms += 10
            self.sender.run_once()

    def ids(self) -> list[str]:
        return [json.loads(record.value)["transactionId"] for record in self.outlet.records]


def test_it_sends_what_is_due() -> None:
    rig = Rig(Traffic(rate=200))
    rig.seconds(3)
    assert rig.sender.counters().sent == 600
    assert rig.ids() == [f"a-{n}" for n in range(600)]
    assert rig.sender.counters().achieved_rate == pytest.approx(200, rel=0.05)


def test_a_new_rate_holds_from_then_on_and_the_stream_goes_on() -> None:
    rig = Rig(Traffic(rate=100))
    rig.seconds(1)
    rig.sender.change(Traffic(rate=1_000))
    rig.seconds(1)
    assert rig.sender.counters().sent == 1_100
    assert rig.ids() == [f"a-{n}" for n in range(1_100)]
    assert rig.sender.counters().achieved_rate == pytest.approx(1_000, rel=0.05)


def test_rate_zero_sends_nothing() -> None:
    rig = Rig(Traffic(rate=0))
    rig.seconds(2)
    assert rig.sender.counters().sent == 0


@pytest.mark.parametrize("room", [1_000_000, 1], ids=["a free queue", "a full queue"])
def test_it_is_not_ready_while_deliveries_fail_and_a_minute_after(room: int) -> None:
    rig = Rig(Traffic(rate=100), FakeOutlet(room=room))
    rig.seconds(1)
    rig.sender.check()
    for count in (1, 2):
        rig.outlet.refused = Failures(count, "Local: Message timed out")
        rig.seconds(0.1)
        with pytest.raises(Unsendable, match="Message timed out"):
            rig.sender.check()
        rig.seconds(FAILING_SECONDS - 1)
        with pytest.raises(Unsendable):
            rig.sender.check()
    rig.seconds(1)
    rig.sender.check()


def test_a_named_seed_begins_the_stream_anew_under_new_ids() -> None:
    rig = Rig(Traffic(rate=100))
    rig.seconds(1)
    rig.sender.change(Traffic(rate=100), restart=True)
    rig.seconds(1)
    assert rig.ids()[100:] == [f"b-{n}" for n in range(100)]
    contents = [
        (value["payeeId"], value["paymentAmount"])
        for value in (json.loads(record.value) for record in rig.outlet.records)
    ]
    assert contents[:100] == contents[100:]


def test_a_full_queue_loses_nothing() -> None:
    rig = Rig(Traffic(rate=500), FakeOutlet(room=3))
    rig.seconds(2)
    assert rig.ids() == [f"a-{n}" for n in range(1_000)]


def test_it_stops_although_the_queue_is_full() -> None:
    rig = Rig(Traffic(rate=500), FakeOutlet(room=0))
    thread = threading.Thread(target=lambda: rig.seconds(0.1))
    thread.start()
    rig.sender.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert rig.sender.counters().sent == 0


def test_mischief_is_counted() -> None:
    rig = Rig(Traffic(rate=1_000, late_share=0.3, duplicate_share=0.3, broken_share=0.3))
    rig.seconds(2)
    counters = rig.sender.counters()
    assert min(counters.late, counters.duplicate, counters.broken) > 400
    assert counters.broken == sum(record.key is None for record in rig.outlet.records)


def test_a_stall_is_not_followed_by_a_flood() -> None:
    pace = Pace(100, 0.0)
    assert pace.take(1.0, 1_000) == 100
    assert pace.take(61.0, 10_000) == 100
    assert pace.take(61.5, 10_000) == 50
    assert pace.take(61.5, 10_000) == 0


def test_a_burst_is_bounded_and_the_rest_stays_due() -> None:
    pace = Pace(1_000, 0.0)
    assert [pace.take(0.5, 200) for _ in range(4)] == [200, 200, 100, 0]


def test_the_meter_forgets_what_is_long_ago() -> None:
    meter = Meter(span=5.0)
    for tenth in range(200):
        meter.mark(tenth / 10, tenth * 10 if tenth < 100 else 1_000)
    assert meter.rate(19.9, 1_000) == 0.0
    assert Meter().rate(1.0, 5) == 0.0


@pytest.mark.parametrize(
    ("rate", "seconds"), [(0, 0.05), (1, 0.05), (200, 0.05), (500, 0.02), (2_000, 0.005), (50_000, 0.005)]
)
def test_a_turn_has_about_ten_records_and_comes_soon(rate: int, seconds: float) -> None:
    assert pause(rate) == pytest.approx(seconds)
