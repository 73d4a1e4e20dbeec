"""Proofs of a rollout: groups on trial are answered for by the version on trial, all others by the active one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Record
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.prover.support.proofs import JUDGED, Run, budget, judged
from tripline_contracts.rules.rollout import bucket_of
from tripline_engine.prover.judgement import Asked, judgement_of
from tripline_engine.topic_names import SHADOW_ALERTS

PERCENT = 40
OTHER = {"beneficiaryId": "12"}
BUCKETS = {payee: bucket_of(1, {"payeeId": str(payee), "beneficiaryId": "12"}) for payee in range(20, 60)}
TRIED = next(payee for payee, bucket in BUCKETS.items() if bucket < PERCENT)
ACTIVE = next(payee for payee, bucket in BUCKETS.items() if bucket >= PERCENT)
CASES: dict[str, tuple[Draft, str, str, str]] = {
    "a lower limit": (draft("SUM", ">", "2", seconds=600), "alerted", "3", "2"),
    "a higher limit": (draft("SUM", ">", "20", seconds=600), "limit", "9", "20"),
    "a crossing": (draft("SUM", ">", "2", seconds=600, firing="crossing"), "held_before", "9", "2"),
    "a cooldown": (draft("SUM", ">", "2", seconds=600, cooldown=300), "cooldown", "9", "2"),
}


def paid(number: int, payee: int, amount: str, **more: Any) -> Record:
    return payment(number, START + 1000 * number, amount, more={"payeeId": payee, **OTHER, **more})


def run_of(tried: Draft, records: list[Record], active: Draft | None = None) -> Run:
    """The active version needs more than 8; before its first two payments are judged the other is rolled out."""
    registry = Registry()
    rule = registry.publish(1, active or draft("SUM", ">", "8", seconds=600), START, START)
    shadow = registry.start_shadow(1, tried, START, START)
    out = registry.roll_out_shadow(1, PERCENT, START)
    return judged(
        [
            batch(events=[rule, shadow], ticks=[START]),
            batch(records=[paid(1, TRIED, "3"), paid(2, ACTIVE, "3")]),
            batch(events=[out]),
            *(batch(records=[record]) for record in records),
        ]
    )


def said_of(run: Run, number: int) -> dict[str, Any]:
    rule: dict[str, Any]
    (rule,) = judgement_of(Asked(f"t{number}", None), run.recording.journals, JUDGED, budget())["rules"]
    return rule


@pytest.mark.parametrize("name", CASES)
def test_why_not_is_told_of_the_version_on_trial(name: str) -> None:
    tried, reason, value, limit = CASES[name]
    more = [] if name == "a lower limit" else [paid(3, TRIED, "6")]
    run = run_of(tried, [*more, paid(4, TRIED, "0"), paid(5, ACTIVE, "1")])
    told = said_of(run, 4)
    assert told["onTrial"] == {"percent": PERCENT, "bucket": BUCKETS[TRIED], "activeVersion": 1}
    assert (told["version"], told["reason"], told["value"], told["limit"]) == (2, reason, value, limit)
    alerts = {alert["transaction"]["transactionId"]: alert["alertId"] for alert in run.alerts}
    assert told["alertId"] == alerts.get("t4")
    assert (told["alertId"] is None) == (reason != "alerted")
    other = said_of(run, 5)
    assert (other["version"], other["reason"], other["value"], other["onTrial"]) == (1, "limit", "4", None)


def test_before_it_is_rolled_out_the_active_version_answers() -> None:
    run = run_of(CASES["a lower limit"][0], [])
    told = said_of(run, 1)
    assert (told["version"], told["reason"], told["alertId"], told["onTrial"]) == (1, "limit", None, None)


def test_what_it_leaves_out_is_told_by_its_own_filter() -> None:
    by_card = draft(
        "COUNT", ">=", "1", seconds=600, only={"field": "paymentType", "operator": "=", "value": "CRD"}
    )
    run = run_of(by_card, [paid(3, TRIED, "9", paymentType="CSH"), paid(4, ACTIVE, "9", paymentType="CSH")])
    assert [(said_of(run, n)["version"], said_of(run, n)["reason"]) for n in (3, 4)] == [
        (2, "filtered"),
        (1, "alerted"),
    ]


def test_each_side_is_told_by_the_version_of_its_own_group() -> None:
    accounts = {account: bucket_of(1, {"account": str(account)}) for account in range(20, 60)}
    tried = next(account for account, bucket in accounts.items() if bucket < PERCENT)
    active = next(account for account, bucket in accounts.items() if bucket >= PERCENT)
    low, high = (draft("SUM", ">", limit, by=("account",), seconds=600) for limit in ("2", "8"))
    sent = payment(3, START + 3000, "5", more={"payeeId": tried, "beneficiaryId": active})
    run = run_of(low, [sent], high)
    rules = judgement_of(Asked("t3", None), run.recording.journals, JUDGED, budget())["rules"]
    assert [(rule["side"], rule["version"], rule["reason"]) for rule in rules] == [
        ("payer", 2, "alerted"),
        ("payee", 1, "limit"),
    ]
    (alert,) = [one for one in run.alerts if one["transaction"]["transactionId"] == "t3"]
    assert [rule["alertId"] for rule in rules] == [alert["alertId"], None]


def test_alerts_of_both_arms_are_verified_and_no_other() -> None:
    run = run_of(CASES["a lower limit"][0], [paid(3, TRIED, "6"), paid(4, ACTIVE, "6")])
    assert [(one["ruleVersion"], one["transaction"]["transactionId"]) for one in run.alerts] == [
        (2, "t3"),
        (1, "t4"),
    ]
    for alert in run.alerts:
        assert run.verify(alert).matches
    shadows = [json.loads(record.value) for record in run.said if record.topic == SHADOW_ALERTS]
    told_apart = [alert for alert in shadows if alert["transaction"]["transactionId"] in ("t3", "t4")]
    assert {one["ruleVersion"] for one in told_apart} == {1, 2}
    for alert in told_apart:
        (difference,) = run.verify({**alert, "mode": "live"}).differences
        assert difference.kind == "not_derived"
