"""The projector's loop with fakes: what is stored before what is committed, and what survives what."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from alert_api.errors import RecordNotStorable, Stopped, StoreUnavailable
from alert_api.processes import reader
from alert_api.service.projector import Projector, RetryPolicy
from alert_api.service.records import ReceivedAlert, Record, Unreadable
from alert_api.service.void_commands import VoidCommand
from tests.unit.alert_api.support.samples import (
    alert,
    alert_id,
    command_id,
    commanded,
    record,
    rules_record,
    void,
)
from tripline_contracts import event_type_loader

RULES = "rules.v1"
READ = reader(RULES, event_type_loader.load())


class FakeTopic:
    """A topic of one partition; `done` is what a restarted projector would begin at."""

    def __init__(self, *values: object) -> None:
        self.records = [
            value if isinstance(value, Record) else record(value, offset)
            for offset, value in enumerate(values)
        ]
        self.position = self.done = self.kept_place = 0
        self.journal: list[str] = []

    def take(self) -> Sequence[Record]:
        taken = self.records[self.position :]
        self.position = len(self.records)
        return taken

    def keep_membership(self) -> None:
        self.kept_place += 1

    def commit(self, records: Sequence[Record]) -> None:
        self.journal.append("commit")
        self.done = records[-1].offset + 1


class FakeIntake:
    """Alerts and commands by id, first one stored; `refuses` is asked before anything is stored."""

    def __init__(self, journal: list[str], refuses: Callable[[Sequence[ReceivedAlert]], None]) -> None:
        self.alerts: dict[str, ReceivedAlert] = {}
        self.voids: dict[str, VoidCommand] = {}
        self.dead_letters: list[Unreadable] = []
        self._journal = journal
        self._refuses = refuses

    def store(
        self,
        alerts: Sequence[ReceivedAlert],
        dead_letters: Sequence[Unreadable],
        voids: Sequence[VoidCommand] = (),
    ) -> int:
        self._refuses(alerts)
        if any(void.transaction_id == "refused" for void in voids):
            raise RecordNotStorable("too much for an index")
        self._journal.append("store")
        before = len(self.alerts)
        for raised in alerts:
            self.alerts.setdefault(raised.alert_id, raised)
        for each_void in voids:
            self.voids.setdefault(each_void.command_id, each_void)
        self.dead_letters.extend(dead_letters)
        return len(self.alerts) - before


class Counts:
    def __init__(self) -> None:
        self.new = self.again = self.waits = 0
        self.reasons: list[str] = []

    def stored(self, count: int) -> None:
        self.new += count

    def duplicates(self, count: int) -> None:
        self.again += count

    def unreadable(self, reason: str) -> None:
        self.reasons.append(reason)

    def waiting_for_database(self) -> None:
        self.waits += 1


class Bench:
    """A projector with its fakes."""

    def __init__(
        self, topic: FakeTopic, refuses: Callable[[Sequence[ReceivedAlert]], None] = lambda _: None
    ) -> None:
        self.topic, self.counts, self.stop = topic, Counts(), threading.Event()
        self.intake = FakeIntake(topic.journal, refuses)
        retries = RetryPolicy(first=0.0, longest=0.0)
        self.projector = Projector(topic, self.intake, READ, self.counts, self.stop, retries)


def test_alerts_are_stored_before_offsets_are_committed() -> None:
    bench = Bench(FakeTopic(alert(1), alert(2)))
    assert bench.projector.step() == 2
    assert bench.topic.journal == ["store", "commit"]
    assert set(bench.intake.alerts) == {alert_id(1), alert_id(2)}


def test_nothing_to_take_is_nothing_to_do() -> None:
    bench = Bench(FakeTopic())
    assert bench.projector.step() == 0
    assert bench.topic.journal == []


def test_a_repeated_alert_counts_as_duplicate() -> None:
    bench = Bench(FakeTopic(alert(1), alert(1, detectedAt=5)))
    bench.projector.step()
    assert (bench.counts.new, bench.counts.again) == (1, 1)


def test_a_broken_record_is_kept_and_the_line_goes_on() -> None:
    bench = Bench(FakeTopic(alert(1), b"garbage", alert(2)))
    bench.projector.step()
    assert set(bench.intake.alerts) == {alert_id(1), alert_id(2)}
    assert [(kept.reason, kept.record.offset) for kept in bench.intake.dead_letters] == [("not_json", 1)]
    assert bench.counts.reasons == ["not_json"]
    assert bench.topic.done == 3


def test_commands_that_void_are_stored_and_other_events_pass_by() -> None:
    other = {**void(1, 9), "command": "CLEAR_STATE_ALL", "transactionId": 5}
    events = [void(2, 1), other, {"type": "RulePublished"}, [], b"garbage", {**void(3, 2), "eventTime": "x"}]
    records = [rules_record(event, offset) for offset, event in enumerate(events)]
    bench = Bench(FakeTopic(*records[:3], alert(1), *records[3:]))
    assert bench.projector.step() == 7
    assert bench.intake.voids == {command_id(1): commanded(void(2, 1))}
    assert list(bench.intake.alerts) == [alert_id(1)]
    assert [(kept.record.topic, kept.reason) for kept in bench.intake.dead_letters] == [
        (RULES, "not_json"),
        (RULES, "invalid"),
    ]
    assert bench.topic.done == 6


def test_a_command_that_the_database_refuses_does_not_hold_up_its_neighbours() -> None:
    events = [rules_record(void(1, 1, transactionId="refused")), rules_record(void(1, 2), 1)]
    bench = Bench(FakeTopic(*events, alert(1)))
    bench.projector.step()
    assert (set(bench.intake.voids), set(bench.intake.alerts)) == ({command_id(2)}, {alert_id(1)})
    assert [(kept.reason, kept.record.offset) for kept in bench.intake.dead_letters] == [("not_storable", 0)]


def test_an_outage_is_waited_for_without_losing_the_place() -> None:
    outages = iter([StoreUnavailable("away")] * 4)

    def refuse(_alerts: Sequence[ReceivedAlert]) -> None:
        for outage in outages:
            raise outage

    bench = Bench(FakeTopic(alert(1)), refuse)
    bench.projector.step()
    assert (bench.counts.waits, bench.topic.kept_place) == (4, 4)
    assert list(bench.intake.alerts) == [alert_id(1)]
    assert bench.topic.done == 1


def test_one_record_that_the_database_refuses_does_not_hold_up_its_neighbours() -> None:
    def refuse(alerts: Sequence[ReceivedAlert]) -> None:
        if any(alert.alert_id == alert_id(2) for alert in alerts):
            raise RecordNotStorable("too much for an index")

    bench = Bench(FakeTopic(alert(1), b"garbage", alert(2), alert(3)), refuse)
    bench.projector.step()
    assert set(bench.intake.alerts) == {alert_id(1), alert_id(3)}
    assert [kept.reason for kept in bench.intake.dead_letters] == ["not_json", "not_storable"]
    assert bench.topic.done == 4


def test_stopped_during_an_outage_nothing_is_committed() -> None:
    bench = Bench(FakeTopic(alert(1)))

    def refuse(_alerts: Sequence[ReceivedAlert]) -> None:
        bench.stop.set()
        raise StoreUnavailable("away")

    bench.intake._refuses = refuse
    with pytest.raises(Stopped):
        bench.projector.step()
    assert (bench.topic.done, bench.topic.journal) == (0, [])


def test_run_ends_when_it_is_told_to() -> None:
    bench = Bench(FakeTopic(alert(1)))

    def stop_then_refuse(_alerts: Sequence[ReceivedAlert]) -> None:
        bench.stop.set()
        raise StoreUnavailable("away")

    bench.intake._refuses = stop_then_refuse
    bench.projector.run()
    assert bench.topic.done == 0
