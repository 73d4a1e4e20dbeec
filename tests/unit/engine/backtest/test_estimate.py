"""A sample of groups: whole windows, counts that agree with a backtest of everything, few joined micro-batches."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.backtest.test_backtest import COUNT, recorded, tried, tried_on
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_engine.backtest.cluster_tally import ClusterTally
from tripline_engine.backtest.coarse_batches import JOINED_MS, MOST_JOINED, coarse, joined_ms
from tripline_engine.backtest.estimate import MOST_PARTS, SLICES, Sampling, estimate, sampling_of
from tripline_engine.backtest.recent import DAY_MS, recent_history
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.errors import OrderBroken, RecordsMissing
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.inputs import ReplayBatch
from tripline_engine.rebuild.recorded_order import RecordedBatch
from tripline_engine.topic_names import TRANSACTIONS

JUDGED = Judged(TRANSACTION, "data")
GROUPS, TIMES = 60, 5
RULE = tried({**COUNT, "limit": 3, "windowSeconds": 3_600})


def of_many_payees() -> list[MicroBatch]:
    """Five payments to each of sixty payees, two a second; a micro-batch a second."""
    batches = [batch(ticks=[START])]
    for second in range(GROUPS * TIMES // 2):
        now = START + second * 1_000
        numbers = (2 * second, 2 * second + 1)
        records = [payment(n, now + n % 2, more={"payeeId": 100 + n % GROUPS}) for n in numbers]
        batches.append(batch(ticks=[now], records=records))
    return batches


def sampled(recording: Recording, rule: TriedRule, parts: int, days: int = 7) -> dict[str, Any]:
    span, history = recent_history(rule, days, recording.journals, TRANSACTION)
    sampling = replace(sampling_of(rule, JUDGED, 1, 1), parts=parts)
    return estimate(rule, span, history, recording.journals, JUDGED, sampling)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recorded(of_many_payees())


def test_all_groups_give_what_a_backtest_gives(recording: Recording) -> None:
    result = sampled(recording, RULE, parts=1)
    alerts = tried_on(recording, [RULE], Span(0, 1 << 50))
    assert len(alerts) == GROUPS * (TIMES - 2)
    assert result["alerts"] == {
        "clusters": GROUPS,
        "sum": len(alerts),
        "squares": GROUPS * (TIMES - 2) ** 2,
        "daySquares": GROUPS * (TIMES - 2) ** 2,
    }
    assert result["groups"] == {"clusters": GROUPS, "sum": GROUPS, "squares": GROUPS, "daySquares": GROUPS}
    assert sum(one["evaluations"] for one in result["slices"]) == GROUPS * TIMES == result["transactions"]
    assert len(result["slices"]) == SLICES
    assert all(one["bytes"] >= result["bareBytes"] > 0 for one in result["slices"])
    assert (result["from"], result["until"]) == (START, START + 149_001 + 1)


def test_a_group_is_in_the_sample_whole_or_not_at_all(recording: Recording) -> None:
    seen: Counter[int] = Counter()
    for _ in range(4):
        result = sampled(recording, RULE, parts=4)
        clusters = result["alerts"]["clusters"]
        assert result["alerts"]["sum"] == clusters * (TIMES - 2)
        assert result["alerts"]["squares"] == clusters * (TIMES - 2) ** 2
        assert sum(one["evaluations"] for one in result["slices"]) == clusters * TIMES
        assert result["transactions"] == GROUPS * TIMES, "all are read"
        seen[clusters] += 1
    assert 0 < sum(clusters * times for clusters, times in seen.items()) < 4 * GROUPS


def test_the_newest_days_count_with_the_windows_before_them(recording: Recording) -> None:
    """A span of the last payment: its window has the four before it, hours or days ago."""
    batches = [batch(ticks=[START])]
    for day in range(4):
        now = START + day * DAY_MS
        batches.append(batch(ticks=[now], records=[payment(day, now, more={"payeeId": 7})]))
    rule = tried({**COUNT, "limit": 1, "windowSeconds": 10 * 86_400})
    result = sampled(recorded(batches), rule, parts=1, days=1)
    assert result["alerts"]["sum"] == 1
    assert (
        sampled(recorded(batches), tried({**COUNT, "limit": 4, "windowSeconds": 10 * 86_400}), 1, 1)[
            "alerts"
        ]["sum"]
        == 1
    )
    assert sampled(recorded(batches), rule, parts=1, days=3)["groups"] == {
        "clusters": 1,
        "sum": 3,
        "squares": 9,
        "daySquares": 3,
    }


def test_where_old_windows_are_gone_the_span_begins_later_or_there_is_none(recording: Recording) -> None:
    batches = [batch(ticks=[START])]
    for hour in range(48):
        now = START + hour * 3_600_000
        batches.append(batch(ticks=[now], records=[payment(hour, now, more={"payeeId": 7})]))
    cut = recorded(batches)
    del cut.topics[TRANSACTIONS].kept[0][:10]
    cut.topics[TRANSACTIONS].low[0] = 10
    short, _ = recent_history(
        tried({**COUNT, "limit": 1, "windowSeconds": 3_600}), 7, cut.journals, TRANSACTION
    )
    assert short.first > START + 10 * 3_600_000
    with pytest.raises(RecordsMissing):
        recent_history(
            tried({**COUNT, "limit": 1, "windowSeconds": 30 * 86_400}), 7, cut.journals, TRANSACTION
        )
    with pytest.raises(OrderBroken, match="has judged no transaction yet"):
        recent_history(RULE, 7, recorded([batch(ticks=[START])]).journals, TRANSACTION)


def test_how_large_the_sample_is() -> None:
    ungrouped = tried({**COUNT, "groupingKeyNames": [], "limit": 1, "windowSeconds": 60})
    assert sampling_of(RULE, JUDGED, 1_000, 1_000) == Sampling("payeeId", 1, SLICES)
    assert sampling_of(RULE, JUDGED, 1_001, 1_000).parts == 2
    assert sampling_of(RULE, JUDGED, 10**9, 1_000).parts == MOST_PARTS
    alone = sampling_of(ungrouped, JUDGED, 10**9, 1_000)
    assert (alone.parts, alone.slices, alone.grouped) == (1, 1, False)


def test_a_rule_without_groups_is_counted_by_hours(recording: Recording) -> None:
    rule = tried({**COUNT, "groupingKeyNames": [], "limit": 1, "windowSeconds": 60})
    result = sampled(recording, rule, parts=1)
    assert result["alerts"] == {
        "clusters": 1,
        "sum": GROUPS * TIMES,
        "squares": (GROUPS * TIMES) ** 2,
        "daySquares": (GROUPS * TIMES) ** 2,
    }
    assert result["groups"]["sum"] == 1
    assert [one["evaluations"] for one in result["slices"]] == [GROUPS * TIMES]


def test_clusters_are_counted_by_day() -> None:
    tally = ClusterTally(0, grouped=True)
    for hour, payee in ((1, "a"), (2, "a"), (30, "a"), (31, "b")):
        alert = {"group": {"payeeId": payee}}
        tally.take(SpanAlert(f"{hour}", hour * 3_600_000, b"", alert))
    assert tally.to_json() == {
        "alerts": {"clusters": 2, "sum": 4, "squares": 10, "daySquares": 6},
        "groups": {"clusters": 2, "sum": 3, "squares": 5, "daySquares": 3},
    }


def test_micro_batches_are_joined_but_for_rule_events_and_ticks_do_not_run_ahead() -> None:
    def replayed(second: int, *rules: int) -> ReplayBatch:
        transaction = Record(0, second, START + second * 1_000, None, b"", ())
        events = [Record(0, number, -1, None, b"", ()) for number in rules]
        order = RecordedBatch("e", second, "transaction", (), 1, None, None, ())
        return ReplayBatch(order, events, [Record(0, second, 0, None, b"", ())], [transaction], ())

    batches = [*map(replayed, range(3)), replayed(3, 99), *map(replayed, range(4, 70))]
    first, second, third = (
        ([event.offset for event in one.rules], [tick.offset for tick in one.ticks], len(one.transactions))
        for one in coarse(batches)
    )
    assert first == ([], [0], 3)
    assert second == ([99], [1, 2, 3], 60), "what came with later ones comes with the next"
    assert third == ([], [*range(4, 64)], 7)


def test_a_long_history_is_joined_into_some_thousand() -> None:
    assert joined_ms(3_600_000) == JOINED_MS
    assert joined_ms(20 * DAY_MS) == 20 * DAY_MS // MOST_JOINED > JOINED_MS


def test_the_result_is_json(recording: Recording) -> None:
    result = sampled(recording, RULE, parts=2)
    assert json.loads(json.dumps(result)) == result
