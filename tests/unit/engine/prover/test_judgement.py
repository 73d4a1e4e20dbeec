"""Why a rule did not alert: each reason, over a history by hand; and random histories in which it is known who did."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.generators.profile import EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.oracle.values.model import Json
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.prover.support.proofs import JUDGED, Run, budget, judged
from tripline_engine.prover.errors import HistoryMissing, NothingThere
from tripline_engine.prover.judgement import Asked, judgement_of
from tripline_engine.topic_names import TRANSACTIONS

HOUR = 3_600_000


def said_of(run: Run, transaction_id: str, event_time: int | None = None) -> dict[str, Any]:
    return judgement_of(Asked(transaction_id, event_time), run.recording.journals, JUDGED, budget())


def reasons(run: Run, transaction_id: str) -> dict[str, str]:
    """By the rule's number in RULES."""
    rules = said_of(run, transaction_id)["rules"]
    return {NAMES[rule["ruleId"] - 1]: rule["reason"] for rule in rules}


RULES = {
    "plain": draft("SUM", ">", "5", seconds=600),
    "cooldown": draft("SUM", ">", "5", seconds=600, cooldown=300),
    "crossing": draft("SUM", ">", "5", seconds=600, firing="crossing"),
    "stores": draft("SUM", ">", "5", seconds=600, late_events="store"),
    "filtered": draft(
        "COUNT", ">=", "1", seconds=600, only={"field": "paymentType", "operator": "=", "value": "CRD"}
    ),
    "by beneficiary": draft("COUNT", ">=", "99", by=("beneficiaryId",), seconds=600),
    "paused": draft("COUNT", ">=", "1", seconds=600),
    "later": draft("COUNT", ">=", "1", seconds=600),
    "all": draft("COUNT", ">=", "3", by=(), seconds=600),
}
NAMES = list(RULES)


@pytest.fixture(scope="module")
def run() -> Run:
    registry = Registry()
    events = [
        registry.publish(
            number, RULES[name], START + HOUR if name == "later" else START, START, paused=name == "paused"
        )
        for number, name in enumerate(NAMES, start=1)
    ]
    void = registry.void("t2", START + 2000)
    return judged(
        [
            batch(events=events, ticks=[START]),
            batch(records=[payment(1, START + 1000, "3"), payment(2, START + 2000, "3")]),
            batch(
                records=[
                    payment(3, START + 3000, "4"),
                    payment(4, START + 4000, "1", more={"beneficiaryId": None}),
                ]
            ),
            batch(
                records=[
                    payment(5, START + 2500, "1"),
                    payment(6, START + 2000, "3", more={"transactionId": "t2"}),
                ]
            ),
            batch(ticks=[START + 5000], records=[payment(7, START - HOUR, "1", record_time=START + 5000)]),
            batch(events=[void], records=[payment(8, START + 6000, "2", more={"beneficiaryId": 13})]),
        ]
    )


def test_below_the_limit_with_value_and_group(run: Run) -> None:
    said = said_of(run, "t1")
    assert reasons(run, "t1") == {
        "plain": "limit", "cooldown": "limit", "crossing": "limit", "stores": "limit", "filtered": "filtered",
        "by beneficiary": "limit", "paused": "paused", "later": "not_in_force", "all": "limit",
    }  # fmt: skip
    plain = said["rules"][0]
    assert (plain["value"], plain["operator"], plain["limit"], plain["count"]) == ("3", ">", "5", 1)
    assert plain["group"] == {"payeeId": "25", "beneficiaryId": "12"}
    assert (plain["windowStart"], plain["windowEnd"]) == (START + 1000 - 600_000, START + 1000)
    assert (plain["warm"], plain["late"], plain["alertId"]) == (False, False, None)
    assert said["transaction"]["paymentAmount"] == "3"
    assert (said["partition"], said["offset"], said["rejected"], said["voidedAt"]) == (0, 1, None, None)


def test_alerted_with_the_alert(run: Run) -> None:
    plain, cooldown, crossing, *_ = said_of(run, "t2")["rules"]
    assert [rule["reason"] for rule in (plain, cooldown, crossing)] == ["alerted"] * 3
    mine = [alert for alert in run.alerts if alert["transaction"]["transactionId"] == "t2"]
    assert {plain["alertId"], cooldown["alertId"], crossing["alertId"]} <= {
        alert["alertId"] for alert in mine
    }


def test_silent_though_it_holds(run: Run) -> None:
    said = reasons(run, "t3")
    assert (said["plain"], said["cooldown"], said["crossing"]) == ("alerted", "cooldown", "held_before")


def test_late_by_the_rule_s_own_policy(run: Run) -> None:
    said = reasons(run, "t5")
    assert (said["plain"], said["stores"], said["crossing"]) == ("alerted", "late", "late")


def test_a_null_in_the_grouping(run: Run) -> None:
    said = reasons(run, "t4")
    assert (said["plain"], said["by beneficiary"], said["all"]) == ("null_field", "null_field", "alerted")


def test_rejected_with_the_engine_s_sentence(run: Run) -> None:
    said = said_of(run, "t7")
    assert said["rejected"]["reason"] == "too_late"
    assert "event time" in said["rejected"]["detail"]
    assert {rule["reason"] for rule in said["rules"]} == {"rejected"}


def test_a_repeated_id_by_its_event_time(run: Run) -> None:
    kept = run.recording.topics[TRANSACTIONS].kept[0]
    again = next(n for n, record in enumerate(kept) if record.offset == 6)
    other = run.fresh()
    values = json.loads(kept[again].value or b"")
    other.recording.topics[TRANSACTIONS].kept[0][again] = replace(
        kept[again], value=json.dumps({**values, "eventTime": START + 2001}).encode()
    )
    said = said_of(other, "t2", START + 2001)
    assert {rule["reason"] for rule in said["rules"][:4]} == {"duplicate"}
    assert said["offset"] == 6


def test_a_void_that_came_after_it_is_told(run: Run) -> None:
    assert said_of(run, "t2")["voidedAt"] == len(NAMES) + 1


def test_one_that_nobody_judged(run: Run) -> None:
    with pytest.raises(NothingThere, match="no transaction with id t99"):
        said_of(run, "t99")
    with pytest.raises(NothingThere, match=f"with event time {START}"):
        said_of(run, "t1", START)


def test_history_that_is_gone(run: Run) -> None:
    other = run.fresh()
    other.recording.topics[TRANSACTIONS].low[0] = 3
    with pytest.raises(HistoryMissing):
        said_of(other, "t1")


def test_random_histories(record_property: Callable[[str, object], None]) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()

    def alike(seed: int) -> None:
        run, rng = (
            judged(random_history(seed, (EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE)[seed % 2])),
            Random(seed),
        )
        alerts = [alert for alert in run.alerts if not alert["partial"]]
        for alert in rng.sample(alerts, min(4, len(alerts))):
            transaction = alert["transaction"]
            said = said_of(run, transaction["transactionId"], transaction["eventTime"])
            if said["transaction"] != transaction:
                continue  # another one with the same id and time
            expected = {one["alertId"] for one in alerts if one["transaction"] == transaction}
            assert {rule["alertId"] for rule in said["rules"]} - {None} == expected
            assert {rule["ruleId"] for rule in said["rules"] if rule["reason"] == "alerted"} == {
                one["ruleId"] for one in alerts if one["transaction"] == transaction
            }
            seen.update(rule["reason"] for rule in said["rules"])
            answers = {(rule["ruleId"], rule["side"]): rule for rule in said["rules"]}
            judged_by = answers[alert["ruleId"], alert.get("side")]
            assert (judged_by["value"], judged_by["limit"]) == (alert["value"], alert["limit"])
            assert judged_by["warm"] == alert["warm"]

    for seed, _ in seeds(range(4)):
        alike(seed)
    record_property("reasons", f"{dict(seen)}")
    assert {"alerted", "limit", "filtered"} <= seen.keys()


def test_entries_of_a_party_are_judged_one_by_one() -> None:
    paid = draft("SUM", ">", "5", by=("account",), seconds=600, only={"side": "payee"})
    both = draft("SUM", ">", "5", by=("account",), seconds=600)
    registry = Registry()
    events = [registry.publish(number, one, START, START) for number, one in enumerate((paid, both), 1)]
    run = judged(
        [
            batch(events=events, ticks=[START]),
            batch(records=[payment(1, START + 1000, "4", more={"payeeId": 12, "beneficiaryId": 7})]),
            batch(
                records=[
                    payment(2, START + 2000, "3"),
                    payment(3, START + 3000, more={"beneficiaryId": None}),
                ]
            ),
        ]
    )
    told = [
        (rule["ruleId"], rule["side"], rule["group"]["account"], rule["reason"], rule["value"])
        for rule in said_of(run, "t2")["rules"]
    ]
    assert told == [
        (1, "payer", "25", "filtered", None),
        (1, "payee", "12", "limit", "3"),
        (2, "payer", "25", "limit", "3"),
        (2, "payee", "12", "alerted", "7"),
    ]
    alone = [(rule["ruleId"], rule["side"]) for rule in said_of(run, "t3")["rules"]]
    assert alone == [(1, "payer"), (2, "payer")]


@pytest.mark.parametrize("resets", [False, True])
def test_a_crossing_within_a_cooldown_is_told_from_one_that_is_none(resets: bool) -> None:
    rule = draft("SUM", ">", "5", seconds=3, firing="crossing", cooldown=300, reset=resets)
    amounts = {1: "3", 2: "3", 10: "1", 11: "6", 12: "1"}
    records = [payment(second, START + 1000 * second, amount) for second, amount in amounts.items()]
    run = judged([batch(events=[Registry().publish(1, rule, START, START)]), batch(records=records)])
    said = [said_of(run, f"t{second}")["rules"][0]["reason"] for second in amounts]
    assert said == ["limit", "alerted", "limit", "cooldown", "held_before"]


def test_each_side_has_a_reason_of_its_own() -> None:
    stores = draft("SUM", ">", "5", by=("account",), seconds=600, late_events="store")
    by_payer = replace(stores, condition={"side": "payer"})
    twin: dict[str, Json] = {"transactionId": "t1", "beneficiaryId": 14}
    registry = Registry()
    rules = [
        registry.publish(number, rule, START, START) for number, rule in enumerate((stores, by_payer), 1)
    ]
    run = judged(
        [
            batch(events=rules),
            batch(records=[payment(1, START + 3000, "1")]),
            batch(records=[payment(2, START + 2000, "1", more={"beneficiaryId": 13})]),
            batch(records=[payment(3, START + 4000, "1", more=twin)]),
        ]
    )
    sides = [(1, "payer"), (1, "payee"), (2, "payer"), (2, "payee")]
    for said, expected in (
        (said_of(run, "t2"), ["late", "limit", "late", "filtered"]),
        (said_of(run, "t1", START + 4000), ["duplicate", "limit", "duplicate", "filtered"]),
    ):
        assert [(rule["ruleId"], rule["side"]) for rule in said["rules"]] == sides
        assert [rule["reason"] for rule in said["rules"]] == expected


def test_backfilled_ones_trigger_nothing() -> None:
    registry = Registry()
    rule = registry.publish(1, draft("COUNT", ">=", "1", seconds=600), START, START)
    opened, backfill = registry.start_backfill()
    sent = payment(1, START + 1000, record_time=START + 9000, backfill=backfill)
    run = judged([batch(events=[rule, opened], ticks=[START + 9000]), batch(records=[sent])])
    assert run.alerts == []
    assert [rule["reason"] for rule in said_of(run, "t1")["rules"]] == ["backfilled"]
