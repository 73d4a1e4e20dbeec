"""Rules by a party: entries, their sides and their order; the same by engine and oracle."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.domain.transactions.sharding import REPORTS, anchor_masks

T = 1_700_000_000_000
DAY = 86_400
BY_ACCOUNT = ("account",)


def sent(number: int, payer: Json, payee: Json, amount: str = "1", **more: Any) -> Record:
    fields = {"payeeId": payer, "beneficiaryId": payee}
    return payment(number, T + 1000 * number, amount, more=fields, **more)


def published(*drafts: Draft) -> list[bytes]:
    registry = Registry()
    return [registry.publish(number, one, 0, T) for number, one in enumerate(drafts, start=1)]


def judged(batches: list[MicroBatch], shards: int = 1) -> list[dict[str, Any]]:
    """The alerts, of which engine and oracle say the same."""
    engine = Engine(shards)
    for one in batches:
        engine.take(one)
    assert_equal(engine, judge(batches))
    return engine.alerts()


def raised(alerts: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Transaction, group, side and value of each, in order."""
    said = [(one["eventTime"], one["side"], one) for one in alerts]
    return [
        (one["transaction"]["transactionId"], one["group"]["account"], side, one["value"])
        for _, side, one in sorted(said, key=lambda item: (item[0], item[1] == "payee"))
    ]


@pytest.mark.parametrize("shards", [1, 3])
def test_one_account_is_one_group_on_either_side(shards: int) -> None:
    rule = draft("COUNT", ">=", "2", by=BY_ACCOUNT, seconds=DAY)
    records = [sent(1, 25, 12), sent(2, 7, 25), sent(3, 12, 8)]
    assert raised(judged([batch(events=published(rule), ticks=[T]), batch(records=records)], shards)) == [
        ("t2", "25", "payee", "2"),
        ("t3", "12", "payer", "2"),
    ]


def test_equal_values_on_both_sides_are_two_entries_in_order() -> None:
    rule = draft("SUM", ">", "0", by=BY_ACCOUNT, seconds=DAY)
    alerts = judged([batch(events=published(rule), ticks=[T]), batch(records=[sent(1, 25, 25, "5")])])
    # the second sees the first
    assert raised(alerts) == [("t1", "25", "payer", "5"), ("t1", "25", "payee", "10")]
    assert len({alert["alertId"] for alert in alerts}) == 2
    counted = max(alerts, key=lambda alert: alert["contributors"]["count"])
    assert [one["transactionId"] for one in counted["contributors"]["transactions"]] == ["t1", "t1"]


def test_a_side_without_a_value_is_no_entry() -> None:
    rule = draft("COUNT", ">=", "1", by=BY_ACCOUNT, seconds=DAY)
    records = [sent(1, 25, None), sent(2, None, 12), sent(3, None, None)]
    batches = [batch(events=published(rule), ticks=[T]), batch(records=records)]
    assert raised(judged(batches)) == [("t1", "25", "payer", "1"), ("t2", "12", "payee", "1")]
    assert judge(batches).null_groups == 0


def test_the_rule_s_filter_says_which_entries_trigger_and_count() -> None:
    paid = draft("SUM", ">", "0", by=BY_ACCOUNT, seconds=DAY, only={"side": "payee"})
    records = [sent(1, 25, 12, "5"), sent(2, 12, 25, "3")]
    alerts = judged([batch(events=published(paid), ticks=[T]), batch(records=records)])
    assert raised(alerts) == [("t1", "12", "payee", "5"), ("t2", "25", "payee", "3")]


def test_what_came_in_went_out_again() -> None:
    """Out is at least 0.95 of in, by account over a day, when the account pays."""
    into = draft("SUM", ">", "0", by=BY_ACCOUNT, seconds=DAY, only={"side": "payee"})
    out = replace(
        draft("SUM", ">=", "0", by=BY_ACCOUNT, seconds=DAY, only={"side": "payer"}),
        behind=into,
        times="0.95",
        plus="0",
    )
    rule = replace(chained(Branch("all", (out, into))), condition=None)
    records = [
        sent(1, 7, 25, "100"),
        sent(2, 25, 8, "94"),
        sent(3, 25, 9, "1"),  # 95 of 100 went out
        sent(4, 7, 25, "0.01"),
    ]
    definition = json.loads(published(rule)[0])["definition"]
    assert definition["conditions"]["all"][0]["limit"]["times"] == "0.95"
    alerts = judged([batch(events=published(rule), ticks=[T]), batch(records=records)])
    assert [(one["transaction"]["transactionId"], one["side"], one["group"]) for one in alerts] == [
        ("t3", "payer", {"account": "25"})
    ]


def test_fields_beside_the_party_may_be_null() -> None:
    rule = draft("COUNT", ">=", "1", by=("account", "beneficiaryId"), seconds=DAY)
    batches = [batch(events=published(rule), ticks=[T]), batch(records=[sent(1, 25, None), sent(2, 25, 12)])]
    assert raised(judged(batches)) == [("t2", "25", "payer", "1"), ("t2", "12", "payee", "1")]
    assert judge(batches).null_groups == 1


def test_duplicates_go_by_id_value_and_side() -> None:
    rule = draft("COUNT", ">=", "1", by=BY_ACCOUNT, seconds=DAY)
    first, again = sent(1, 25, 12), sent(2, 12, 25, record_time=T + 2000)
    # the same id with the sides changed about: of either account it is another entry
    turned = replace(again, value=(again.value or b"").replace(b'"t2"', b'"t1"'))
    batches = [
        batch(events=published(rule), ticks=[T]),
        batch(records=[first, turned, replace(first, offset=3)]),
    ]
    outcome = judge(batches)
    assert outcome.duplicates == 2
    assert len(judged(batches)) == 4


def test_ids_are_known_with_their_sides_from_the_log_too() -> None:
    """Of what came late the side is in no window any more, while its id counts for duplicates still."""
    rule = draft("COUNT", ">=", "1", by=BY_ACCOUNT, seconds=1)
    late = replace(
        sent(1, 25, 12, record_time=T), value=(sent(-590, 25, 12).value or b"").replace(b"t-590", b"t1")
    )
    again = sent(415, 25, 12, record_time=T + 420_000)
    again = replace(again, value=(again.value or b"").replace(b"t415", b"t1"))
    batches = [
        batch(events=published(rule), ticks=[T]),
        batch(records=[late]),
        batch(ticks=[T + 420_000]),
        batch(records=[again]),
    ]
    engine = Engine(1)
    for one in batches[:-1]:
        engine.take(one)
    assert engine.counters["pruned_columns"] > 0
    engine.forget()
    engine.take(batches[-1])
    outcome = judge(batches)
    assert outcome.duplicates == 2
    assert_equal(engine, outcome)


def test_a_group_is_cleared_with_its_entries_of_both_sides() -> None:
    registry = Registry()
    count = draft("COUNT", ">=", "2", by=BY_ACCOUNT, seconds=DAY)
    rules = [registry.publish(number, count, 0, T) for number in (1, 2)]
    clear = registry.clear_group(1, {"account": "25"}, T)
    before, after = [sent(1, 25, 12), sent(2, 7, 25)], [sent(3, 12, 25), sent(4, 25, 8)]
    alerts = judged(
        [batch(events=rules, ticks=[T]), batch(records=before), batch(events=[clear], records=after)]
    )
    told = [(rule, *raised([one for one in alerts if one["ruleId"] == rule])) for rule in (1, 2)]
    # 25 begins anew where it paid and where it was paid; 12 does not
    assert told == [
        (1, ("t2", "25", "payee", "2"), ("t3", "12", "payer", "2"), ("t4", "25", "payer", "2")),
        (
            2,
            *[("t2", "25", "payee", "2"), ("t3", "12", "payer", "2")],
            *[("t3", "25", "payee", "3"), ("t4", "25", "payer", "4")],
        ),
    ]


def test_a_void_takes_away_both_entries() -> None:
    registry = Registry()
    rule = registry.publish(1, draft("COUNT", ">=", "1", by=BY_ACCOUNT, seconds=DAY), 0, T)
    void = registry.void("t1", T + 1000)
    batches = [
        batch(events=[rule], ticks=[T]),
        batch(records=[sent(1, 25, 12)]),
        batch(events=[void]),
        batch(records=[sent(2, 25, 12)]),
    ]
    assert [value for *_, value in raised(judged(batches))] == ["1"] * 4


def test_a_rule_that_looks_back_judges_entries_from_history() -> None:
    registry = Registry()
    first = registry.publish(1, draft("SUM", ">", "1000", by=BY_ACCOUNT, seconds=DAY), 0, T)
    later = registry.publish(
        2, draft("SUM", ">", "1", by=BY_ACCOUNT, seconds=DAY, only={"side": "payee"}), 0, T + 9
    )
    batches = [
        batch(events=[first], ticks=[T]),
        batch(records=[sent(1, 25, 12, "2")]),
        batch(events=[later]),
    ]
    (alert,) = judged(batches)
    assert alert["partial"]
    assert alert["side"] == "payee"
    assert alert["transaction"] == {"transactionId": "t1", "eventTime": T + 1000, "paymentAmount": "2"}


def test_no_copy_is_sent_where_no_rule_groups_by_the_party() -> None:
    columns = {"payeeId": pa.array(["25", "7"]), "beneficiaryId": pa.array(["12", None])}
    wanted = dict.fromkeys(TRANSACTION.all_anchors, False) | {"payeeId": True}
    masks = anchor_masks(columns, wanted, 4, (1, 2), TRANSACTION.parties)
    assert np.bitwise_or.reduce(masks).tolist() == [1 | REPORTS, 1 | REPORTS]
    assert np.count_nonzero(masks) == 2
    wanted["account"] = True
    masks = anchor_masks(columns, wanted, 4, (1, 2), TRANSACTION.parties)
    # a bit for each side, behind those of the declared anchors; none of a null
    assert np.bitwise_or.reduce(masks).tolist() == [0b11001 | REPORTS, 0b01001 | REPORTS]


def test_a_state_of_before_the_party_was_declared_goes_on() -> None:
    before = replace(TRANSACTION, parties=())
    by_payer = draft("COUNT", ">=", "2", by=("payeeId",), seconds=DAY)
    registry = Registry()
    old = registry.publish(1, by_payer, 0, T)
    cleared = registry.clear_rule(1, T)
    listed = registry.publish(2, draft("COUNT", ">=", "2", by=BY_ACCOUNT, seconds=DAY), T + 2000, T)
    engine = Engine(1, event_type=before)
    engine.take(batch(events=[old, cleared], ticks=[T]))
    engine.take(batch(records=[sent(1, 25, 12)], ticks=[T + 1000]))
    upgraded = Engine(1, logs=engine.logs)
    upgraded.logs, upgraded.out = engine.logs, engine.out
    upgraded.take(batch(events=[listed]))
    upgraded.take(batch(records=[sent(3, 25, 12), sent(4, 12, 25)]))
    alerts = [(one["ruleId"], one["transaction"]["transactionId"]) for one in upgraded.alerts()]
    # of the party there is nothing from before its first rule
    assert sorted(alerts) == [(1, "t3"), (2, "t4"), (2, "t4")]
