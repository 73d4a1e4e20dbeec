"""A proof by hand: what is needed is read and no more, and evidence that was tampered with is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.prover.support.proofs import Run, judged
from tripline_engine.domain.proof.claim import UnreadableClaim
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.errors import HistoryMissing, NothingThere, TooMuch
from tripline_engine.topic_names import ORDER, TICKS, TRANSACTIONS

MINUTE = 60_000
MINUTES = 8 * 60
OTHERS = {"payeeId": 99, "beneficiaryId": 98}
PAID_BESIDE_GOT = replace(
    draft("SUM", ">=", "0", by=("account",), seconds=1800, only={"side": "payer"}),
    behind=draft("SUM", ">", "0", by=("account",), seconds=1800, only={"side": "payee"}),
    times="0.95",
    plus="0",
)


def some_hours(rules: Sequence[bytes]) -> list[MicroBatch]:
    """A micro-batch a minute with a tick; two payments, one of them of the group in each fifth."""
    batches = [batch(events=rules, ticks=[START])]
    for minute in range(MINUTES):
        now = START + minute * MINUTE
        group = None if minute % 5 == 0 else {"payeeId": 77}
        records = [
            payment(2 * minute, now, "1", more=OTHERS),
            payment(2 * minute + 1, now + 1, str(1 + minute % 7), more=group),
        ]
        batches.append(batch(ticks=[now], records=records))
    return batches


def rule_of(drafted: Draft) -> bytes:
    return Registry().publish(1, drafted, 0, START)


RULES: dict[str, Draft] = {
    "sum": draft("SUM", ">", "15", seconds=1800),
    "average": draft("AVG", ">", "3", seconds=1800),
    "extreme": draft("MIN", "<=", "2", seconds=1200),
    "count": draft("COUNT", ">=", "4", seconds=1800),
    "different values": draft("COUNT_DISTINCT", ">", "3", seconds=1800, field="paymentAmount"),
    "crossing": draft("SUM", ">", "16", seconds=1200, firing="crossing"),
    "cooldown": draft("SUM", ">", "5", seconds=1800, cooldown=1500),
    "reset": draft("COUNT", ">=", "4", seconds=1800, reset=True),
    "judged again": draft("SUM", ">", "15", seconds=1800, late_events="reevaluate"),
    "buckets": draft("SUM", ">", "5", seconds=1800, bucket=600),
    "one anchor": draft("COUNT", ">=", "3", by=("beneficiaryId",), seconds=1200),
    "conditions": chained(
        Branch("all", (draft("COUNT", ">=", "3", seconds=1800), draft("SUM", ">", "5", seconds=1200)))
    ),
    "relative": chained(
        replace(draft("SUM", seconds=1200), behind=draft("AVG", seconds=1800), times="1.5", plus="0")
    ),
    "party": draft("SUM", ">", "15", by=("account",), seconds=1800, only={"side": "payee"}),
    "sides": chained(PAID_BESIDE_GOT),
    "no grouping": draft("COUNT", ">", "50", by=(), seconds=1800),
}
NAMES = list(RULES)


@pytest.fixture(scope="module")
def run() -> Run:
    registry = Registry()
    return judged(
        some_hours([registry.publish(n, RULES[name], 0, START) for n, name in enumerate(NAMES, start=1)])
    )


def alerts_of(run: Run, name: str) -> list[dict[str, Any]]:
    alerts = [alert for alert in run.alerts if alert["ruleId"] == NAMES.index(name) + 1]
    return [alert for alert in alerts if alert["group"].get("payeeId", "25") == "25"]


@pytest.fixture
def alert(run: Run) -> dict[str, Any]:
    return alerts_of(run, "sum")[-1]


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_of_rule_is_proven_by_a_part_of_all(run: Run, name: str) -> None:
    alerts = alerts_of(run, name)
    assert len(alerts) > 5
    verification = run.verify(alerts[-1])
    assert verification.matches, [one.to_json() for one in verification.differences]
    # a cooldown and a reset go by all alerts since the version began
    assert (verification.budget.read < 2 * MINUTES / 2) != (name in ("cooldown", "reset"))
    assert (verification.budget.selected < verification.budget.read) != (name == "no grouping")


def test_a_late_one_and_what_was_judged_again_for_it() -> None:
    rule = rule_of(draft("SUM", ">", "4", seconds=600, late_events="reevaluate"))
    batches = [
        batch(events=[rule], ticks=[START]),
        batch(records=[payment(1, START + 10, "2"), payment(2, START + 90_000, "2")]),
        batch(ticks=[START + 90_000]),
        batch(records=[payment(3, START + 20, "1", record_time=START + 91_000)]),
    ]
    run = judged(batches)
    (again,) = run.alerts
    assert again["partial"]
    assert again["late"] == {"transactionId": "t3", "eventTime": START + 20}
    assert run.verify(again).matches


def test_a_void_counts_from_its_place_on() -> None:
    registry = Registry()
    rule = registry.publish(1, draft("SUM", ">", "4", seconds=600), 0, START)
    void = registry.void("t1", START + 1)
    batches = [
        batch(events=[rule], ticks=[START]),
        batch(records=[payment(1, START + 1, "3"), payment(2, START + 20, "2")]),
        batch(events=[void]),
        batch(records=[payment(3, START + 40, "3")]),
    ]
    run = judged(batches)
    assert [alert["value"] for alert in run.alerts] == ["5", "5"]
    assert [alert["contributors"]["count"] for alert in run.alerts] == [2, 2]
    assert all(run.verify(alert).matches for alert in run.alerts)


def test_it_knows_the_version_that_judged() -> None:
    registry = Registry()
    first = registry.publish(1, draft("SUM", ">", "1", seconds=600), 0, START)
    second = registry.publish(1, draft("SUM", ">", "100", seconds=600), START + 1000, START)
    batches = [
        batch(events=[first], ticks=[START]),
        batch(records=[payment(1, START + 500, "3")]),
        batch(events=[second]),
        batch(records=[payment(2, START + 1001, "3")]),
    ]
    run = judged(batches)
    (alert,) = run.alerts
    assert run.verify(alert).matches
    later = {**alert, "ruleVersion": 2}
    assert kinds(run, later) == ["not_derived"]
    with pytest.raises(NothingThere, match="no version 3 of rule 1"):
        run.verify({**alert, "ruleVersion": 3})


def test_more_contributors_than_are_listed() -> None:
    records = [payment(n, START + n, "1") for n in range(250)]
    rule = rule_of(draft("SUM", ">", "249", seconds=3600))
    crowd = judged(
        [batch(events=[rule], ticks=[START]), batch(records=records[:120]), batch(records=records[120:])]
    )
    (alert,) = crowd.alerts
    verification = crowd.verify(alert)
    assert verification.matches
    assert verification.derivation.alert is not None
    assert len(verification.derivation.alert["contributors"]["transactions"]) == 250
    assert len(alert["contributors"]["transactions"]) == 100
    # one beyond the hundred: value and count tell it
    with tampered(crowd, lambda kept: [*kept[:3], altered(kept[3], "2"), *kept[4:]]):
        verification = crowd.verify(alert)
    assert [(one.member, one.stored, one.derived) for one in verification.differences] == [
        ("value", "250", "251")
    ]
    with tampered(crowd, lambda kept: kept[:3] + kept[4:]):
        verification = crowd.verify(alert)
    # 249 is not over the limit: no such alert comes of it
    assert [one.kind for one in verification.differences] == ["not_derived"]


class TestTampering:
    def test_an_omitted_one(self, run: Run, alert: dict[str, Any]) -> None:
        lost = alert["contributors"]["transactions"][2]
        with tampered(run, lambda kept: [one for one in kept if id_of(one) != lost["transactionId"]]):
            verification = run.verify(alert)
        assert ("added", lost) in [(one.kind, one.stored) for one in verification.differences]
        members = {one.member for one in verification.differences}
        assert {"value", "contributors.count", "contributors.transactions"} <= members

    def test_an_added_one(self, run: Run, alert: dict[str, Any]) -> None:
        other = alert["contributors"]["transactions"][1]
        number = int(other["transactionId"].removeprefix("t"))
        strange = payment(number - 1, other["eventTime"] - 1, "1.5").value
        with tampered(
            run,
            lambda kept: [
                replace(one, value=strange) if id_of(one) == f"t{number - 1}" else one for one in kept
            ],
        ):
            verification = run.verify(alert)
        missing = [one.derived for one in verification.differences if one.kind == "missing"]
        assert missing == [
            {"transactionId": f"t{number - 1}", "eventTime": other["eventTime"] - 1, "value": "1.5"}
        ]

    def test_an_altered_one(self, run: Run, alert: dict[str, Any]) -> None:
        changed = alert["contributors"]["transactions"][1]
        with tampered(
            run,
            lambda kept: [
                altered(one, "6.5") if id_of(one) == changed["transactionId"] else one for one in kept
            ],
        ):
            verification = run.verify(alert)
        (difference,) = [one for one in verification.differences if one.kind == "altered"]
        assert (difference.stored, difference.derived) == (changed, {**changed, "value": "6.5"})

    def test_a_tampered_alert(self, run: Run, alert: dict[str, Any]) -> None:
        listed = alert["contributors"]["transactions"]
        without = {**alert["contributors"], "transactions": listed[:1] + listed[2:]}
        assert kinds(run, {**alert, "contributors": without}) == ["missing"]
        assert kinds(run, {**alert, "limit": "4"}) == ["member"]
        assert kinds(run, {**alert, "alertId": alerts_of(run, "sum")[0]["alertId"]}) == ["member"]
        assert kinds(run, {**alert, "contributors": {**without, "transactions": listed[::-1]}}) == ["member"]

    def test_one_that_never_was(self, run: Run, alert: dict[str, Any]) -> None:
        other = {**alert, "transaction": {**alert["transaction"], "transactionId": "t-never"}}
        (difference,) = run.verify(other).differences
        assert difference.kind == "not_derived"
        assert "t-never" in difference.derived

    def test_another_record_time(self, run: Run, alert: dict[str, Any]) -> None:
        with tampered(run, lambda kept: [replace(one, timestamp=one.timestamp + 1) for one in kept]):
            verification = run.verify(alert)
        assert verification.differences[0].kind == "history"
        assert "not the transactions that were judged" in verification.differences[0].derived

    def test_an_unreadable_alert(self, run: Run, alert: dict[str, Any]) -> None:
        with pytest.raises(UnreadableClaim, match="ruleId: expected int, found str"):
            run.verify({**alert, "ruleId": "1"})


class TestWhatIsLeft:
    def test_topic_and_archive_are_one(self, run: Run, alert: dict[str, Any], tmp_path: Path) -> None:
        archived = run.fresh(tmp_path)
        for name in (TRANSACTIONS, TICKS, ORDER):
            archived.recording.archive(name, 0, [MINUTES // 2, MINUTES - 5])
        assert archived.verify(alert).matches
        assert archived.verify(alerts_of(run, "sum")[0]).matches

    def test_what_no_window_needs_may_be_gone(self, run: Run, alert: dict[str, Any]) -> None:
        fresh = run.fresh()
        fresh.recording.topics[TRANSACTIONS].low[0] = MINUTES
        assert fresh.verify(alert).matches

    def test_what_is_needed_and_gone_is_named_with_its_times(self, run: Run, alert: dict[str, Any]) -> None:
        fresh = run.fresh()
        fresh.recording.topics[TRANSACTIONS].low[0] = 2 * MINUTES - 20
        with pytest.raises(
            HistoryMissing, match=r"history is not there from 2025-.* to 2025-.*no archive is set"
        ):
            fresh.verify(alert)

    def test_an_order_that_is_not_whole(self, run: Run, alert: dict[str, Any]) -> None:
        fresh = run.fresh()
        fresh.recording.topics[ORDER].low[0] = 5
        with pytest.raises(HistoryMissing, match="follows micro-batch 0"):
            fresh.verify(alert)

    def test_too_much_is_refused(self, run: Run, alert: dict[str, Any]) -> None:
        with pytest.raises(TooMuch, match="TRIPLINE_PROVER_TRANSACTIONS"):
            run.verify(alert, transactions=100)


class tampered:  # noqa: N801  # read as a word of the test
    """A change of transactions.v1 for the length of a block."""

    def __init__(self, run: Run, change: Callable[[list[Record]], list[Record]]) -> None:
        self._kept, self._change = run.recording.topics[TRANSACTIONS].kept, change

    def __enter__(self) -> None:
        self._before = self._kept[0]
        self._kept[0] = self._change(list(self._before))

    def __exit__(self, *_: object) -> None:
        self._kept[0] = self._before


def id_of(record: Record) -> str:
    return str(json.loads(record.value or b"")["transactionId"])


def altered(record: Record, amount: str) -> Record:
    fields = {**json.loads(record.value or b""), "paymentAmount": amount}
    return replace(record, value=json.dumps(fields).encode())


def kinds(run: Run, alert: dict[str, Any]) -> list[str]:
    return [difference.kind for difference in run.verify(alert).differences]
